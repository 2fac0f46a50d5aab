module;
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simd.hpp"
module iap.attention;
import iap.core;
import :internal;
import :projector;

namespace iap {
namespace {

// phi(u) = max(u, 0) + epsilon: sum the weighted features of all queries, then score every key against that sum.
class ReluScorer final : public Scorer {
 public:
  ReluScorer(const PatchGrid& grid, int d, float epsilon)
      : epsilon_(epsilon), projector_(grid, d), lane_sums_(static_cast<std::size_t>(d) * simd::lanes), sums_(d) {}

  std::string_view kernel() const override { return "relu"; }

  void bind(const HeadWeights& weights) override {
    check_weights(weights, projector_.grid(), projector_.d());
    projector_.bind(weights, 1);
    query_weights_.bind(weights.query_weights, projector_.grid().count());
  }

  void score(const ImageView& image, float pixel_offset, std::span<float> scores) override {
    check_frame(projector_.grid(), projector_.bound(), image, scores);
    projector_.begin(image, pixel_offset);
    std::ranges::fill(lane_sums_, 0.0F);
    for (int chunk = 0; chunk < projector_.chunks(); ++chunk) {
      projector_.project(chunk);
      simd::add_relu_sums(projector_.queries(), projector_.pitch(), projector_.d(), projector_.count(chunk),
                          query_weights_.from(projector_.first(chunk)), lane_sums_.data());
    }
    const double count = projector_.grid().count(), epsilon = epsilon_ * query_weights_.total();
    float total = 0;
    for (int o = 0; o < projector_.d(); ++o) {
      double sum = 0;
      for (int lane = 0; lane < simd::lanes; ++lane) sum += lane_sums_[o * simd::lanes + lane];
      sums_[o] = static_cast<float>((sum + epsilon) / count);
      total += sums_[o];
    }
    for (int chunk = 0; chunk < projector_.chunks(); ++chunk)
      simd::relu_scores(projector_.keys(chunk), projector_.pitch(), projector_.d(), projector_.count(chunk), sums_.data(),
                        scores.data() + projector_.first(chunk));
    if (epsilon_ == 0) return;
    for (float& score : scores) score += epsilon_ * total;
  }

 private:
  float epsilon_;
  PatchProjector projector_;
  QueryWeights query_weights_;
  std::vector<float> lane_sums_, sums_;
};

}  // namespace

std::unique_ptr<Scorer> make_relu(Options& options, const PatchGrid& grid, int d) {
  const auto epsilon = static_cast<float>(options.number_in("epsilon", 0, 1, 0));
  if (options.boolean("brute_force", false)) return make_exact_scorer("relu", ExactKernel::relu, {}, grid, d, epsilon);
  return std::make_unique<ReluScorer>(grid, d, epsilon);
}

}  // namespace iap
