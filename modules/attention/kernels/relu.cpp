module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
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

// phi(u) = max(u, 0) + epsilon: sum the weighted features of all queries, then score every key against that sum.
class ReluScorer final : public Scorer {
 public:
  ReluScorer(const PatchGrid& grid, int d, float epsilon, int threads)
      : epsilon_(epsilon),
        projector_(grid, d, 0, threads),
        bands_(projector_, threads),
        lane_sums_(bands_.count() * lane_count()),
        totals_(d),
        sums_(d) {}

  static double bytes(const PatchGrid& grid, int d, int threads, bool encoded) {
    const double lane_sums = static_cast<double>(Bands::count(grid)) * d * simd::lanes;
    return PatchProjector::bytes(grid, d, 0, threads, encoded) + sizeof(float) * (lane_sums + d) + sizeof(double) * d;
  }

  std::string_view kernel() const override { return "relu"; }

  void bind(const HeadWeights& weights) override {
    check_weights(weights, projector_.grid(), projector_.d());
    projector_.bind(weights, 1);
    query_weights_.bind(weights.query_weights, projector_.grid().count());
  }

  void score(const ImageView& image, float pixel_offset, std::span<float> scores) override {
    check_frame(projector_.grid(), projector_.bound(), image, scores);
    projector_.begin(image, pixel_offset);
    bands_.for_each([&](int band, int worker) { sum_queries(band, worker); });
    const float total = take_sums();
    bands_.for_each([&](int band, int worker) {
      for (int chunk = bands_.first_chunk(band); chunk < bands_.end_chunk(band); ++chunk)
        simd::relu_scores(projector_.keys(chunk, worker), projector_.pitch(), projector_.d(), projector_.count(chunk), sums_.data(),
                          scores.data() + projector_.first(chunk));
    });
    if (epsilon_ != 0)
      for (float& score : scores) score += epsilon_ * total;
    restore_size(scores, -std::log(projector_.query_scale() * projector_.key_scale() * query_weights_.scale()));
  }

 private:
  std::size_t lane_count() const { return static_cast<std::size_t>(projector_.d()) * simd::lanes; }

  void sum_queries(int band, int worker) {
    float* lanes = lane_sums_.data() + band * lane_count();
    std::fill_n(lanes, lane_count(), 0.0F);
    for (int chunk = bands_.first_chunk(band); chunk < bands_.end_chunk(band); ++chunk) {
      projector_.project(chunk, worker);
      simd::add_relu_sums(projector_.queries(worker), projector_.pitch(), projector_.d(), projector_.count(chunk),
                          query_weights_.from(projector_.first(chunk)), lanes);
    }
  }

  // The mean weighted feature of all queries; returns the sum of its elements.
  float take_sums() {
    const double count = projector_.grid().count();
    const std::size_t d = sums_.size();
    std::ranges::fill(totals_, epsilon_ * query_weights_.total());
    // Elements innermost, as additions to one would wait for each other.
    const float* const end = lane_sums_.data() + lane_sums_.size();
    for (const float* sums = lane_sums_.data(); sums < end; sums += d * simd::lanes)
      for (int lane = 0; lane < simd::lanes; ++lane)
        for (std::size_t o = 0; o < d; ++o) totals_[o] += sums[o * simd::lanes + lane];
    float total = 0;
    for (std::size_t o = 0; o < d; ++o) {
      sums_[o] = static_cast<float>(totals_[o] / count);
      total += sums_[o];
    }
    return total;
  }

  float epsilon_;
  PatchProjector projector_;
  Bands bands_;
  QueryWeights query_weights_;
  FloatBuffer lane_sums_;  // of every band
  std::vector<double> totals_;
  std::vector<float> sums_;
};

std::unique_ptr<Scorer> score_relu(const KernelEntry& entry, Options& options, const PatchGrid& grid, int d) {
  const auto epsilon = static_cast<float>(options.number_in("epsilon", 0, 1, 0));
  const int threads = read_threads(options);
  if (options.boolean("brute_force", false)) return make_exact_scorer(entry.name, ExactKernel::relu, {}, grid, d, threads, epsilon);
  return std::make_unique<ReluScorer>(grid, d, epsilon, threads);
}

double score_bytes_relu(const KernelEntry&, Options& options, const PatchGrid& grid, int d, bool encoded) {
  const int threads = read_threads(options);
  return options.boolean("brute_force", false) ? exact_scorer_bytes(ExactKernel::relu, grid, d, threads, encoded)
                                               : ReluScorer::bytes(grid, d, threads, encoded);
}

// Queries: a maximum and a sum; keys: a maximum and a product.
KernelWork relu_work(const KernelEntry&, Options&, const PatchGrid& grid, int d) {
  return {.fma = static_cast<double>(grid.count()) * (2.0 * d * grid.values() + 4.0 * d)};
}

std::unique_ptr<Trans> transform_relu(const KernelEntry& entry, Options& options, const PatchGrid& grid, const TransShape& shape) {
  LinearOptions wanted;
  wanted.name = entry.name;
  wanted.features.epsilon = options.number_in("epsilon", 0, 1, 0);
  wanted.normalise_rows = options.boolean("normalise_rows", false);
  options.goes_with("order", "brute_force = false");
  if (options.boolean("brute_force", false))
    return make_exact_trans(entry.name, ExactKernel::relu, wanted.normalise_rows, {}, static_cast<float>(wanted.features.epsilon),
                            grid, shape);
  wanted.order = read_trans_order(options);
  return make_linear_trans(wanted, grid, shape);
}

double transform_bytes_relu(const KernelEntry&, Options& options, const PatchGrid& grid, const TransShape& shape, bool encoded) {
  LinearOptions wanted;
  wanted.normalise_rows = options.boolean("normalise_rows", false);
  return options.boolean("brute_force", false) ? exact_trans_bytes(ExactKernel::relu, grid, shape, encoded)
                                               : linear_trans_bytes(wanted, grid, shape, encoded);
}

MapOptions map_relu(const KernelEntry& entry, Options&, int, int) {
  MapOptions map;
  map.kernel = entry.name;
  map.relu = true;
  return map;
}

}  // namespace

KernelEntry relu_kernel() {
  return {.name = "relu",
          .summary = "max(q, 0) . max(k, 0): deterministic, the fastest",
          .score = score_relu,
          .score_bytes = score_bytes_relu,
          .work = relu_work,
          .transform = transform_relu,
          .transform_bytes = transform_bytes_relu,
          .map = map_relu,
          .exact = true};
}

}  // namespace iap
