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

#include "simd.hpp"
module iap.attention;
import iap.core;
import :internal;
import :projector;

namespace iap {
namespace {

// exp of anything up to this size needs no shift.
constexpr float harmless_exponent = 40;
// Queries whose exact kernel values are summed in registers before they join the scores: short sums keep their digits.
constexpr int summed_queries = 64;

class ExactScorer final : public Scorer {
 public:
  ExactScorer(const char* name, ExactKernel kernel, InputForm form, const PatchGrid& grid, int d, float epsilon)
      : name_(name),
        kernel_(kernel),
        form_(form),
        epsilon_(epsilon),
        projector_(grid, d),
        pitch_((static_cast<std::size_t>(grid.count()) + 15) / 16 * 16 + simd::padding),
        queries_(static_cast<std::size_t>(grid.count()) * d),
        shifts_(grid.count()),
        row_weights_(grid.count()),
        keys_(pitch_ * d),
        scratch_(kernel == ExactKernel::softmax ? pitch_ * simd::query_block : 0),
        scores_(pitch_) {}

  std::string_view kernel() const override { return name_; }

  void bind(const HeadWeights& weights) override {
    check_weights(weights, projector_.grid(), projector_.d());
    projector_.bind(weights, form_.normalised ? 1.0F : form_.factor);
    std::ranges::fill(row_weights_, 1.0F);
    std::ranges::copy(weights.query_weights, row_weights_.begin());
  }

  void score(const ImageView& image, float pixel_offset, std::span<float> scores) override {
    check_frame(projector_.grid(), projector_.bound(), image, scores);
    project(image, pixel_offset);
    const int count = projector_.grid().count(), d = projector_.d();
    std::fill_n(scores_.data(), pitch_, 0.0F);
    if (kernel_ == ExactKernel::softmax) {
      for (int i = 0; i < count; ++i) shifts_[i] = bound(i) < harmless_exponent ? 0 : largest_product(i);
      simd::add_softmax_rows(keys_.data(), pitch_, d, count, queries_.data(), count, shifts_.data(), row_weights_.data(),
                             scratch_.data(), scores_.data());
    } else {
      const bool exponential = kernel_ == ExactKernel::softmax_kernel;
      const float shift = exponential ? global_shift() : 0;
      for (int i = 0; i < count; i += summed_queries)
        simd::add_kernel_rows(exponential, keys_.data(), pitch_, d, count, query(i), std::min(summed_queries, count - i),
                              row_weights_.data() + i, shift, scores_.data());
    }
    for (int j = 0; j < count; ++j) scores[j] = scores_.data()[j] / static_cast<float>(count);
  }

 private:
  float* query(int i) { return queries_.data() + static_cast<std::size_t>(i) * projector_.d(); }

  // Fills queries_ (L x d) and keys_ (d x L) with the kernel's inputs.
  void project(const ImageView& image, float pixel_offset) {
    const int d = projector_.d();
    longest_key_ = 0;
    projector_.begin(image, pixel_offset);
    for (int chunk = 0; chunk < projector_.chunks(); ++chunk) {
      projector_.project(chunk);
      for (int j = 0; j < projector_.count(chunk); ++j) {
        const int patch = projector_.first(chunk) + j;
        input(projector_.queries() + j, query(patch), 1);
        longest_key_ = std::max(longest_key_, input(projector_.keys(chunk) + j, keys_.data() + patch, pitch_));
      }
    }
    for (int i = 0; i < projector_.grid().count(); ++i) {
      float square = 0;
      for (int o = 0; o < d; ++o) square += query(i)[o] * query(i)[o];
      shifts_[i] = std::sqrt(square);
    }
  }

  // Turns a projection u, whose values stand at distance pitch(), into the kernel's input, whose values are to stand at distance
  // `stride`. Returns its length.
  float input(const float* u, float* x, std::size_t stride) const {
    float square = 0;
    for (int o = 0; o < projector_.d(); ++o) {
      float value = u[o * projector_.pitch()];
      if (kernel_ == ExactKernel::relu) value = value > 0 || std::isnan(value) ? value + epsilon_ : epsilon_;
      x[o * stride] = value;
      square += value * value;
    }
    const float length = std::sqrt(square);
    if (!form_.normalised) return length;
    const float factor = square == 0 ? 0.0F : form_.factor / length;
    for (int o = 0; o < projector_.d(); ++o) x[o * stride] *= factor;
    return form_.factor;
  }

  // No x.y of query i is larger; shifts_ holds the queries' lengths until their shifts are known.
  float bound(int i) const { return shifts_[i] * longest_key_; }

  float largest_product(int i) {
    return simd::largest_product(keys_.data(), pitch_, projector_.d(), projector_.grid().count(), query(i));
  }

  // One constant for the whole matrix keeps the ranking.
  float global_shift() {
    if (std::ranges::max(shifts_) * longest_key_ < harmless_exponent) return 0;
    float largest = std::numeric_limits<float>::lowest();
    for (int i = 0; i < projector_.grid().count(); ++i) largest = std::max(largest, largest_product(i));
    return largest;
  }

  const char* name_;
  ExactKernel kernel_;
  InputForm form_;
  float epsilon_;
  PatchProjector projector_;
  std::size_t pitch_;
  std::vector<float> queries_, shifts_, row_weights_;
  FloatBuffer keys_, scratch_, scores_;
  float longest_key_ = 0;
};

}  // namespace

std::unique_ptr<Scorer> make_exact_scorer(const char* name, ExactKernel kernel, InputForm form, const PatchGrid& grid, int d,
                                          float epsilon) {
  return std::make_unique<ExactScorer>(name, kernel, form, grid, d, epsilon);
}

std::unique_ptr<Scorer> make_softmax(Options& options, const PatchGrid& grid, int d) {
  const bool rows = options.boolean("normalise_rows", true);
  const InputForm form = read_input_form(options, grid.values(), d);
  return make_exact_scorer("softmax", rows ? ExactKernel::softmax : ExactKernel::softmax_kernel, form, grid, d);
}

}  // namespace iap
