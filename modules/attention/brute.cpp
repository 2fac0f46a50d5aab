module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
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

class ExactScorer final : public Scorer {
 public:
  ExactScorer(const char* name, ExactKernel kernel, InputForm form, const PatchGrid& grid, int d)
      : name_(name),
        kernel_(kernel),
        form_(form),
        grid_(grid),
        d_(d),
        patch_(grid.values()),
        row_(grid.count()),
        query_(static_cast<std::size_t>(grid.count()) * d),
        key_(query_.size()),
        sums_(grid.count()) {}

  std::string_view kernel() const override { return name_; }

  void bind(const HeadWeights& weights) override {
    check_weights(weights, grid_.values(), d_);
    weights_ = weights;
    bound_ = true;
  }

  void score(const ImageView& image, float pixel_offset, std::span<float> scores) override {
    check_frame(grid_, bound_, image, scores);
    for (int i = 0; i < grid_.count(); ++i) {
      grid_.copy(image, i, pixel_offset, patch_);
      project(weights_.query, weights_.query_bias, row_of(query_, i));
      project(weights_.key, weights_.key_bias, row_of(key_, i));
    }
    std::ranges::fill(sums_, 0.0);
    const float shift = kernel_ == ExactKernel::softmax_kernel ? global_shift() : 0;
    for (int i = 0; i < grid_.count(); ++i) {
      const double weight = attention_row(i, shift);
      for (int j = 0; j < grid_.count(); ++j) sums_[j] += weight * row_[j];
    }
    for (int j = 0; j < grid_.count(); ++j) scores[j] = static_cast<float>(sums_[j] / grid_.count());
  }

 private:
  std::span<float> row_of(std::vector<float>& matrix, int i) const {
    return {matrix.data() + static_cast<std::size_t>(i) * d_, static_cast<std::size_t>(d_)};
  }

  void project(std::span<const float> weights, std::span<const float> bias, std::span<float> out) const {
    for (int o = 0; o < d_; ++o) out[o] = bias.empty() ? 0.0F : bias[o];
    for (int v = 0; v < grid_.values(); ++v)
      for (int o = 0; o < d_; ++o) out[o] += patch_[v] * weights[v * d_ + o];
    if (kernel_ == ExactKernel::relu) {
      for (float& u : out) u = std::max(u, 0.0F);
      return;
    }
    float factor = form_.factor;
    if (form_.normalised) {
      float square = 0;
      for (const float u : out) square += u * u;
      factor = square > 0 ? factor / std::sqrt(square) : 0.0F;
    }
    for (float& u : out) u *= factor;
  }

  void dot_products(int i) {
    const auto query = row_of(query_, i);
    for (int j = 0; j < grid_.count(); ++j) {
      const auto key = row_of(key_, j);
      float sum = 0;
      for (int o = 0; o < d_; ++o) sum += query[o] * key[o];
      row_[j] = sum;
    }
  }

  // exp(x.y) fits into a float for every pair, or the largest x.y is taken off all of them: one constant keeps the ranking.
  float global_shift() {
    const auto longest = [&](std::vector<float>& rows) {
      float square = 0;
      for (int i = 0; i < grid_.count(); ++i) {
        float sum = 0;
        for (const float x : row_of(rows, i)) sum += x * x;
        square = std::max(square, sum);
      }
      return std::sqrt(square);
    };
    if (longest(query_) * longest(key_) < 80) return 0;
    float largest = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < grid_.count(); ++i) {
      dot_products(i);
      largest = std::max(largest, std::ranges::max(row_));
    }
    return largest;
  }

  // Row i of A up to the factor that is returned.
  double attention_row(int i, float shift) {
    dot_products(i);
    if (kernel_ == ExactKernel::relu) return 1;
    if (kernel_ == ExactKernel::softmax) shift = std::ranges::max(row_);
    double total = 0;
    for (float& value : row_) total += value = std::exp(value - shift);
    return kernel_ == ExactKernel::softmax ? 1 / total : 1;
  }

  const char* name_;
  ExactKernel kernel_;
  InputForm form_;
  PatchGrid grid_;
  int d_;
  HeadWeights weights_;
  bool bound_ = false;
  std::vector<float> patch_, row_, query_, key_;
  std::vector<double> sums_;
};

}  // namespace

std::unique_ptr<Scorer> make_exact_scorer(const char* name, ExactKernel kernel, InputForm form, const PatchGrid& grid, int d) {
  return std::make_unique<ExactScorer>(name, kernel, form, grid, d);
}

std::unique_ptr<Scorer> make_softmax(Options& options, const PatchGrid& grid, int d) {
  const bool rows = options.boolean("normalise_rows", true);
  const InputForm form = read_input_form(options, grid.values(), d);
  return make_exact_scorer("softmax", rows ? ExactKernel::softmax : ExactKernel::softmax_kernel, form, grid, d);
}

}  // namespace iap
