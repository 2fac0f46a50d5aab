module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/simd/simd.hpp"
module iap.attention;
import iap.core;
import :internal;
import :projector;
import :trans_frame;

namespace iap {
namespace {

// exp of anything up to this size needs no shift.
constexpr float harmless_exponent = 40;
// Queries whose exact kernel values are summed in registers before they join the scores: short sums keep their digits.
constexpr int summed_queries = 64;
// Keys that a thread scores against all queries, few enough to stay in the cache, and queries that it compares with all keys.
// Between two of these it looks for an interrupt: L^2 pairs of a large frame take minutes.
constexpr int key_range = 1024, query_range = 64;
static_assert(query_range % simd::query_block == 0);
// Normalised rows are summed by groups of queries, as many for any number of threads.
constexpr int most_groups = 16, least_group = 256;

int round_up(int value, int step) { return (value + step - 1) / step * step; }

class ExactScorer final : public Scorer {
 public:
  ExactScorer(std::string_view name, ExactKernel kernel, InputForm form, const PatchGrid& grid, int d, int threads, float epsilon)
      : name_(name),
        kernel_(kernel),
        form_(form),
        epsilon_(epsilon),
        threads_(threads),
        projector_(grid, d, 0, threads),
        bands_(projector_, threads),
        band_longest_(bands_.count()),
        pitch_(pitch_of(grid)),
        queries_(static_cast<std::size_t>(grid.count()) * d),
        shifts_(grid.count()),
        query_weights_(grid.count()),
        keys_(pitch_ * d),
        group_(kernel == ExactKernel::softmax ? group_size(grid.count()) : grid.count()),
        scratch_(kernel == ExactKernel::softmax ? threads * pitch_ * simd::query_block : 0),
        scores_((grid.count() + group_ - 1) / group_ * pitch_) {}

  static double bytes(ExactKernel kernel, const PatchGrid& grid, int d, int threads, bool encoded) {
    const bool softmax = kernel == ExactKernel::softmax;
    const double patches = grid.count(), pitch = static_cast<double>(pitch_of(grid)), bands = Bands::count(grid);
    const double groups = softmax ? std::ceil(patches / group_size(grid.count())) : 1.0;
    const double rows = softmax ? 1.0 * threads * simd::query_block : 0.0;
    return PatchProjector::bytes(grid, d, 0, threads, encoded) +
           sizeof(float) * (patches * (d + 2) + pitch * (d + rows + groups) + bands);
  }

  std::string_view kernel() const override { return name_; }

  void bind(const HeadWeights& weights) override {
    check_weights(weights, projector_.grid(), projector_.d());
    projector_.bind(weights, form_.normalised ? 1.0F : form_.factor);
    std::ranges::fill(query_weights_, 1.0F);
    query_weight_scale_ = 1;
    if (weights.query_weights.empty()) return;
    constexpr double most = 1e12;
    query_weight_scale_ = scale_down(largest_magnitude(weights.query_weights), most);
    std::ranges::transform(weights.query_weights, query_weights_.begin(),
                           [&](float weight) { return static_cast<float>(query_weight_scale_ * weight); });
  }

  void score(const ImageView& image, float pixel_offset, std::span<float> scores) override {
    check_frame(projector_.grid(), projector_.bound(), image, scores);
    project(image, pixel_offset);
    std::fill_n(scores_.data(), scores_.size(), 0.0F);
    double log_factor = -std::log(query_weight_scale_);
    if (kernel_ == ExactKernel::softmax)
      add_softmax_rows();
    else
      log_factor += add_kernel_rows();
    if (kernel_ == ExactKernel::relu) log_factor -= std::log(projector_.query_scale() * projector_.key_scale());
    const int count = projector_.grid().count();
    for (int j = 0; j < count; ++j) {
      float sum = 0;
      for (std::size_t at = j; at < scores_.size(); at += pitch_) sum += scores_.data()[at];
      scores[j] = sum / static_cast<float>(count);
    }
    restore_size(scores, log_factor);
  }

 private:
  static std::size_t pitch_of(const PatchGrid& grid) {
    return (static_cast<std::size_t>(grid.count()) + 15) / 16 * 16 + simd::padding;
  }
  static int group_size(int count) {
    return round_up(std::max(least_group, (count + most_groups - 1) / most_groups), simd::query_block);
  }

  // Calls body(first, size, worker) for ranges of at most `step` patches.
  template <class Body>
  void for_ranges(int step, const Body& body) {
    const int count = projector_.grid().count();
    const auto run = [&](std::size_t range, int worker) {
      const int first = static_cast<int>(range) * step;
      body(first, std::min(step, count - first), worker);
    };
    parallel_for((count + step - 1) / step, threads_, std::ref(run));
  }

  void add_softmax_rows() {
    for_ranges(query_range, [&](int first, int size, int) {
      check_interrupt();
      for (int i = first; i < first + size; ++i) shifts_[i] = bound(i) < harmless_exponent ? 0 : largest_product(i);
    });
    for_ranges(group_, [&](int first, int size, int worker) {
      for (int i = first; i < first + size; i += query_range) {
        check_interrupt();
        simd::add_softmax_rows(keys_.data(), pitch_, projector_.d(), projector_.grid().count(), query(i),
                               std::min(query_range, first + size - i), shifts_.data() + i, query_weights_.data() + i,
                               scratch_.data() + worker * pitch_ * simd::query_block, scores_.data() + first / group_ * pitch_);
      }
    });
  }

  // Returns the logarithm of what the sums were divided by.
  float add_kernel_rows() {
    const bool exponential = kernel_ == ExactKernel::softmax_kernel;
    const float shift = exponential ? global_shift() : 0;
    const int count = projector_.grid().count();
    for_ranges(key_range, [&](int first, int size, int) {
      for (int i = 0; i < count; i += summed_queries) {
        check_interrupt();
        simd::add_kernel_rows(exponential, keys_.data() + first, pitch_, projector_.d(), size, query(i),
                              std::min(summed_queries, count - i), query_weights_.data() + i, shift, scores_.data() + first);
      }
    });
    return shift;
  }

  float* query(int i) { return queries_.data() + static_cast<std::size_t>(i) * projector_.d(); }

  // Fills queries_ (L x d) and keys_ (d x L) with the kernel's inputs.
  void project(const ImageView& image, float pixel_offset) {
    projector_.begin(image, pixel_offset);
    bands_.for_each([&](int band, int worker) {
      float longest = 0;
      for (int chunk = bands_.first_chunk(band); chunk < bands_.end_chunk(band); ++chunk) {
        projector_.project(chunk, worker);
        const float* keys_here = projector_.keys(chunk, worker);
        for (int j = 0; j < projector_.count(chunk); ++j) {
          const int patch = projector_.first(chunk) + j;
          input(projector_.queries(worker) + j, query(patch), 1);
          shifts_[patch] = length_of(query(patch));
          longest = std::max(longest, input(keys_here + j, keys_.data() + patch, pitch_));
        }
      }
      band_longest_[band] = longest;
    });
    longest_key_ = std::ranges::max(band_longest_);
  }

  float length_of(const float* x) const {
    float square = 0;
    for (int o = 0; o < projector_.d(); ++o) square += x[o] * x[o];
    return std::sqrt(square);
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
    for_ranges(query_range, [&](int first, int size, int) {
      check_interrupt();
      for (int i = first; i < first + size; ++i) shifts_[i] = largest_product(i);
    });
    return std::ranges::max(shifts_);
  }

  std::string_view name_;  // the catalog's
  ExactKernel kernel_;
  InputForm form_;
  float epsilon_;
  int threads_;
  PatchProjector projector_;
  Bands bands_;
  std::vector<float> band_longest_;
  std::size_t pitch_;
  FloatBuffer queries_;
  std::vector<float> shifts_, query_weights_;
  FloatBuffer keys_;
  int group_;
  FloatBuffer scratch_, scores_;  // of every worker; of every group
  float longest_key_ = 0;
  double query_weight_scale_ = 1;  // a power of two that keeps sums of votes inside floats
};

std::unique_ptr<Scorer> score_softmax(const KernelEntry& entry, Options& options, const PatchGrid& grid, int d) {
  const bool rows = options.boolean("normalise_rows", true);
  const InputForm form = read_input_form(options, grid.values(), d);
  const int threads = read_threads(options);
  return make_exact_scorer(entry.name, rows ? ExactKernel::softmax : ExactKernel::softmax_kernel, form, grid, d, threads);
}

double softmax_bytes(const KernelEntry&, Options& options, const PatchGrid& grid, int d, bool encoded) {
  const bool rows = options.boolean("normalise_rows", true);
  return exact_scorer_bytes(rows ? ExactKernel::softmax : ExactKernel::softmax_kernel, grid, d, read_threads(options), encoded);
}

KernelWork softmax_work(const KernelEntry&, Options&, const PatchGrid& grid, int d) {
  const double patches = grid.count();
  return {.fma = patches * (2.0 * d * grid.values() + patches * (d + 2)), .exp = patches * patches};
}

std::unique_ptr<Trans> transform_softmax(const KernelEntry& entry, Options& options, const PatchGrid& grid,
                                         const TransShape& shape) {
  const bool rows = options.boolean("normalise_rows", true);
  return make_exact_trans(entry.name, ExactKernel::softmax_kernel, rows, read_input_form(options, grid.values(), shape.d), 0, grid,
                          shape);
}

double transform_bytes_softmax(const KernelEntry&, Options&, const PatchGrid& grid, const TransShape& shape, bool encoded) {
  return exact_trans_bytes(ExactKernel::softmax_kernel, grid, shape, encoded);
}

}  // namespace

double exact_scorer_bytes(ExactKernel kernel, const PatchGrid& grid, int d, int threads, bool encoded) {
  return ExactScorer::bytes(kernel, grid, d, threads, encoded);
}

std::unique_ptr<Scorer> make_exact_scorer(std::string_view name, ExactKernel kernel, InputForm form, const PatchGrid& grid, int d,
                                          int threads, float epsilon) {
  return std::make_unique<ExactScorer>(name, kernel, form, grid, d, threads, epsilon);
}

KernelEntry softmax_kernel_entry() {
  return {.name = "softmax",
          .summary = "exp(x . y), exact, rows of the attention matrix normalised or not: O(L^2)",
          .score = score_softmax,
          .score_bytes = softmax_bytes,
          .work = softmax_work,
          .transform = transform_softmax,
          .transform_bytes = transform_bytes_softmax,
          .exact = true};
}

}  // namespace iap
