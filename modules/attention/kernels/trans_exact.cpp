module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/simd/simd.hpp"
#include "attention/simd/trans.hpp"
module iap.attention;
import iap.core;
import :internal;
import :projector;
import :trans_frame;

namespace iap {
namespace {

// exp of anything up to this size needs no shift.
constexpr float harmless_exponent = 40;
// exp of it makes the smallest float larger than the largest number that rows of A V are clamped to.
constexpr double largest_shift_undone = 240, largest_number = 1e30;
// Queries (or keys) whose rows (or columns) of A are held at a time, a block of patches long. Between two of these it looks for an
// interrupt: L^2 pairs of a large frame take minutes.
constexpr int held = 16;

class ExactTrans final : public Trans {
 public:
  ExactTrans(std::string_view name, ExactKernel kernel, bool normalise_rows, InputForm form, float epsilon, const PatchGrid& grid,
             const TransShape& shape)
      : name_(name),
        kernel_(kernel),
        normalise_rows_(normalise_rows),
        frame_(grid, shape.d, shape, form),
        shifts_(frame_.pitch()),
        factors_(frame_.pitch()),
        taken_(static_cast<std::size_t>(shape.d) * held),
        rows_(static_cast<std::size_t>(held) * simd::block),
        attended_(static_cast<std::size_t>(shape.values) * simd::block),
        relu_rows_(kernel == ExactKernel::relu ? static_cast<std::size_t>(shape.d) * simd::block : 0),
        sums_(static_cast<std::size_t>(held) * std::max(shape.values + 1, shape.tokens)),
        epsilon_(epsilon) {}

  static double bytes(ExactKernel kernel, const PatchGrid& grid, const TransShape& shape, bool encoded) {
    const double blocks = held + static_cast<double>(shape.values) + (kernel == ExactKernel::relu ? shape.d : 0);
    const double queries = 1.0 * grid.count() + simd::lanes + simd::padding, taken = static_cast<double>(shape.d) * held;
    const double widest = std::max(shape.values + 1, shape.tokens);
    return TransFrame::bytes(grid, shape.d, shape, encoded) + sizeof(float) * (queries + taken + blocks * simd::block) +
           sizeof(double) * (queries + held * widest);
  }

  std::string_view kernel() const override { return name_; }
  TransOrder order() const override { return TransOrder::values_first; }
  std::span<float> value_row(int column) override {
    return {frame_.values(0) + column * frame_.pitch(), static_cast<std::size_t>(frame_.count())};
  }

  void bind(const TransWeights& weights) override {
    check_weights(weights.head, frame_.grid(), frame_.shape().d);
    frame_.bind(weights.head, weights.value, weights.compression);
    bound_ = true;
  }

  void apply(const ImageView& image, float pixel_offset, std::span<float> out) override {
    check_frame(frame_.grid(), bound_, image);
    frame_.project(image, pixel_offset, out.size());
    if (kernel_ == ExactKernel::relu) rectify();
    take_shifts();
    for (int first = 0; first < frame_.count(); first += simd::block) {
      const int count = block_size(first);
      for (int q = 0; q < count; q += held) attend(first + q, std::min(held, count - q), q);
      simd::scale_rows(attended_.data(), frame_.shape().values, 1, count);
      frame_.add_attended(attended_.data(), first, count);
    }
    frame_.write(out);
  }

  void importance(std::span<float> out) override {
    const int tokens = frame_.shape().tokens;
    for (int k = 0; k < frame_.count(); k += held) {
      check_interrupt();
      const int some = std::min(held, frame_.count() - k);
      take(frame_.keys(k), some);
      std::ranges::fill(sums_, 0.0);
      for (int first = 0; first < frame_.count(); first += simd::block) {
        const int count = block_size(first);
        multiply(frame_.queries(first), count, nullptr, shifts_.data() + first);
        for (int i = 0; i < held; ++i)
          for (int j = 0; j < count; ++j) {
            float& value = rows_.data()[i * simd::block + j];
            value = static_cast<float>(std::min(value * factors_[first + j], largest_number));
          }
        simd::add_products(rows_.data(), simd::block, held, frame_.compression(first), frame_.pitch(), tokens, count, sums_.data());
      }
      for (int i = 0; i < some; ++i) {
        double sum = 0;
        for (int token = 0; token < tokens; ++token) sum += std::abs(sums_[i * tokens + token]);
        out[k + i] = frame_.own_size(sum);
      }
    }
  }

 private:
  int block_size(int first) const { return std::min(simd::block, frame_.count() - first); }
  double undone_scale() const { return kernel_ == ExactKernel::relu ? frame_.product_scale() : 1.0; }
  bool exponential() const { return kernel_ != ExactKernel::relu; }

  // Replaces queries and keys by their features.
  void rectify() {
    for (float* x : {frame_.queries(0), frame_.keys(0)})
      for (int first = 0; first < frame_.count(); first += simd::block) {
        const int count = block_size(first);
        simd::relu_features(x + first, frame_.pitch(), frame_.inputs(), count, epsilon_, relu_rows_.data());
        for (int k = 0; k < frame_.inputs(); ++k)
          std::copy_n(relu_rows_.data() + k * simd::block, count, x + first + k * frame_.pitch());
      }
  }

  // Columns of `x` as `held` columns of weights, zero beyond `some`.
  void take(const float* x, int some) {
    std::ranges::fill(taken_, 0.0F);
    for (int k = 0; k < frame_.inputs(); ++k) std::copy_n(x + k * frame_.pitch(), some, taken_.begin() + k * held);
  }

  // rows_ = kernel values of what was taken against `count` patches of `x`.
  void multiply(const float* x, int count, const float* row_shifts, const float* column_shifts) {
    simd::mix(x, frame_.pitch(), frame_.inputs(), taken_.data(), held, count, rows_.data());
    if (exponential())
      simd::exponentiate(rows_.data(), held, row_shifts, column_shifts, count);
    else
      simd::clear_tail(rows_.data(), held, count);
  }

  // A shift a query, its largest x . y, where exp would overflow without.
  void take_shifts() {
    std::fill_n(shifts_.data(), frame_.count(), 0.0F);
    if (!exponential() || !(frame_.largest_square() > harmless_exponent)) return;
    std::fill_n(shifts_.data(), frame_.count(), std::numeric_limits<float>::lowest());
    for (int q = 0; q < frame_.count(); q += held) {
      check_interrupt();
      const int some = std::min(held, frame_.count() - q);
      take(frame_.queries(q), some);
      for (int first = 0; first < frame_.count(); first += simd::block) {
        const int count = block_size(first);
        simd::mix(frame_.keys(first), frame_.pitch(), frame_.inputs(), taken_.data(), held, count, rows_.data());
        for (int i = 0; i < some; ++i) {
          const float* row = rows_.data() + i * simd::block;
          shifts_.data()[q + i] = std::max(shifts_.data()[q + i], *std::max_element(row, row + count));
        }
      }
    }
  }

  // Fills columns column, column + 1, ... of attended_ with rows of A V of `some` queries from `query` on.
  void attend(int query, int some, int column) {
    check_interrupt();
    const int values = frame_.shape().values, columns = values + 1;
    take(frame_.queries(query), some);
    std::ranges::fill(sums_, 0.0);
    std::array<float, held> shifts{};
    std::copy_n(shifts_.data() + query, some, shifts.begin());
    for (int first = 0; first < frame_.count(); first += simd::block) {
      const int count = block_size(first);
      multiply(frame_.keys(first), count, shifts.data(), nullptr);
      simd::add_products(rows_.data(), simd::block, held, frame_.values(first), frame_.pitch(), columns, count, sums_.data());
    }
    for (int i = 0; i < some; ++i) {
      const double* sum = sums_.data() + i * columns;
      const double divisor = sum[values];
      const double factor = !normalise_rows_
                                ? std::exp(std::min<double>(shifts[i], largest_shift_undone)) / frame_.count() / undone_scale()
                            : divisor == 0 ? 0
                                           : 1 / divisor;
      factors_[query + i] = factor > largest_number ? factor : static_cast<float>(factor);
      for (int v = 0; v < values; ++v)
        attended_.data()[v * simd::block + column + i] =
            static_cast<float>(std::clamp(sum[v] * factor, -largest_number, largest_number));
    }
  }

  std::string_view name_;  // the catalog's
  ExactKernel kernel_;
  bool normalise_rows_, bound_ = false;
  TransFrame frame_;
  FloatBuffer shifts_;           // a query: A(i, j) = exp(q_i . k_j - shift) times factor
  std::vector<double> factors_;  // rounded to floats where they hold them
  std::vector<float> taken_;
  FloatBuffer rows_, attended_, relu_rows_;
  std::vector<double> sums_;
  float epsilon_;  // of relu
};

}  // namespace

std::unique_ptr<Trans> make_exact_trans(std::string_view name, ExactKernel kernel, bool normalise_rows, InputForm form,
                                        float epsilon, const PatchGrid& grid, const TransShape& shape) {
  return std::make_unique<ExactTrans>(name, kernel, normalise_rows, form, epsilon, grid, shape);
}

double exact_trans_bytes(ExactKernel kernel, const PatchGrid& grid, const TransShape& shape, bool encoded) {
  return ExactTrans::bytes(kernel, grid, shape, encoded);
}

}  // namespace iap
