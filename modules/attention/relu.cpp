module;
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.attention;
import iap.core;
import :internal;

namespace iap {
namespace {

// phi(u) = max(u, 0): sum the features of all queries, then score every key against that sum.
class ReluScorer final : public Scorer {
 public:
  ReluScorer(const PatchGrid& grid, int d)
      : grid_(grid), d_(d), patch_(grid.values()), features_(d), keys_(static_cast<std::size_t>(grid.count()) * d), sum_(d) {}

  std::string_view kernel() const override { return "relu"; }

  void bind(const HeadWeights& weights) override {
    check_weights(weights, grid_.values(), d_);
    weights_ = weights;
    bound_ = true;
  }

  void score(const ImageView& image, float pixel_offset, std::span<float> scores) override {
    check_frame(grid_, bound_, image, scores);
    std::ranges::fill(sum_, 0.0);
    for (int i = 0; i < grid_.count(); ++i) {
      grid_.copy(image, i, pixel_offset, patch_);
      project(weights_.query, weights_.query_bias, features_);
      for (int o = 0; o < d_; ++o) sum_[o] += features_[o];
      project(weights_.key, weights_.key_bias, {keys_.data() + static_cast<std::size_t>(i) * d_, static_cast<std::size_t>(d_)});
    }
    for (int i = 0; i < grid_.count(); ++i) {
      double score = 0;
      for (int o = 0; o < d_; ++o) score += sum_[o] * keys_[static_cast<std::size_t>(i) * d_ + o];
      scores[i] = static_cast<float>(score / grid_.count());
    }
  }

 private:
  void project(std::span<const float> weights, std::span<const float> bias, std::span<float> out) const {
    for (int o = 0; o < d_; ++o) out[o] = bias.empty() ? 0.0F : bias[o];
    for (int v = 0; v < grid_.values(); ++v)
      for (int o = 0; o < d_; ++o) out[o] += patch_[v] * weights[v * d_ + o];
    for (float& u : out) u = std::max(u, 0.0F);
  }

  PatchGrid grid_;
  int d_;
  HeadWeights weights_;
  bool bound_ = false;
  std::vector<float> patch_, features_, keys_;
  std::vector<double> sum_;
};

}  // namespace

std::unique_ptr<Scorer> make_relu(Options& options, const PatchGrid& grid, int d) {
  if (options.boolean("brute_force", false)) return make_exact_scorer("relu", ExactKernel::relu, {}, grid, d);
  return std::make_unique<ReluScorer>(grid, d);
}

}  // namespace iap
