module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/simd/simd.hpp"
module iap.attention;
import iap.core;
import :features;
import :internal;
import :projector;

namespace iap {
namespace {

// Features whose exponent is larger soon overflow; sums that are smaller have lost terms to underflow.
constexpr float largest_safe_exponent = 60;
constexpr double smallest_safe_sum = 1e-20;

class FeatureScorer final : public Scorer {
 public:
  FeatureScorer(std::string_view name, const FeatureOptions& options, const PatchGrid& grid, int d)
      : name_(name),
        options_(options),
        query_(grid.values(), d),
        key_(grid.values(), d),
        projector_(grid, query_.n, 0, options.threads),
        bands_(projector_, options.threads),
        drawn_(options, d),
        map_(map_of(options, query_.n)) {
    const std::size_t products = static_cast<std::size_t>(map_.unsigned_features()) * (1 + map_.r);
    lane_sums_ = FloatBuffer(options.threads * products * simd::lanes);
    scratch_ = FloatBuffer(options.threads * map_.scratch());
    band_sums_.resize(bands_.count() * products);
    band_largest_.resize(bands_.count());
    sums_.resize(products);
    weights_.resize(products);
    take_projections();
  }

  static double bytes(const FeatureOptions& options, const PatchGrid& grid, int d, bool encoded) {
    const int n = ReducedHead::dimensions(grid.values(), d);
    const simd::FeatureMap map = map_of(options, n);
    const double products = static_cast<double>(map.unsigned_features()) * (1 + map.r), bands = Bands::count(grid);
    const double a_worker = products * simd::lanes + static_cast<double>(map.scratch());
    const double columns = 2.0 * n * (map.r + map.m);
    return 2 * ReducedHead::bytes(grid.values(), d) + PatchProjector::bytes(grid, n, 0, options.threads, encoded) +
           DrawnProjections::bytes(options, d) + sizeof(float) * (options.threads * a_worker + columns + products + bands) +
           sizeof(double) * products * (1 + bands);
  }

  std::string_view kernel() const override { return name_; }

  void bind(const HeadWeights& weights) override {
    check_weights(weights, projector_.grid(), query_.d);
    query_.bind(weights.query, weights.query_bias);
    key_.bind(weights.key, weights.key_bias);
    fold();
    projector_.bind({query_.weights, key_.weights, query_.bias, key_.bias, {}, weights.encoding},
                    options_.form.normalised ? 1.0F : options_.form.factor);
    query_weights_.bind(weights.query_weights, projector_.grid().count());
  }

  void new_episode(std::uint64_t episode_seed) override {
    if (drawn_.new_episode(episode_seed)) take_projections();
  }

  void score(const ImageView& image, float pixel_offset, std::span<float> scores) override {
    check_frame(projector_.grid(), projector_.bound(), image, scores);
    if (drawn_.new_frame()) take_projections();
    float query_shift = 0, key_shift = 0;
    if (!sum_queries(image, pixel_offset, 0)) {
      query_shift = query_exponent(image, pixel_offset);
      sum_queries(image, pixel_offset, query_shift);
    }
    double log_factor = query_shift + take_weights(query_shift) - std::log(query_weights_.scale());
    if (!score_keys(0, scores)) {
      key_shift = key_exponent();
      score_keys(key_shift, scores);
    }
    log_factor += key_shift;
    add_epsilon(key_shift, scores);
    restore_size(scores, log_factor);
  }

 private:
  static simd::FeatureMap map_of(const FeatureOptions& options, int n) {
    return {.d = n,
            .m = options.m,
            .r = options.r,
            .trig = options.kind != FeatureKind::exp,
            .exp = options.kind != FeatureKind::trig,
            .normalised = options.form.normalised,
            .length = options.form.factor};
  }

  void take_projections() {
    half_omega_square_ = 0;
    const auto &omega = drawn_.now().omega, &offset = drawn_.now().offset;
    for (int i = 0; i < map_.m; ++i) {
      float square = 0;
      for (int k = 0; k < query_.d; ++k) square += omega[i * query_.d + k] * omega[i * query_.d + k];
      half_omega_square_ = std::max(half_omega_square_, square / 2 + (offset.empty() ? 0.0F : offset[i]));
    }
    map_.offsets = offset.empty() ? nullptr : offset.data();
    fold();
  }

  void fold() {
    const int columns = map_.r + map_.m;
    for (const auto& [head, folded] : {std::pair{&query_, &query_columns_}, std::pair{&key_, &key_columns_}}) {
      folded->resize(static_cast<std::size_t>(map_.d) * columns);
      head->fold(drawn_.now().xi, 0, columns, *folded);
      head->fold(drawn_.now().omega, map_.r, columns, *folded);
    }
  }

  // What feature f times sign s weighs in (1/L) sum_j P_j K(q_j, k): K_hyb = (K_trig + K_exp + K_ang K_trig - K_ang K_exp) / 2,
  // where K_trig and K_exp are means over m projections and K_ang over r signs.
  double product_weight(int feature, int sign) const {
    const double mean = 1.0 / map_.m / projector_.grid().count();
    if (options_.kind != FeatureKind::hybrid) return mean;
    if (sign == 0) return mean / 2;
    return (feature < 2 * map_.m ? mean : -mean) / 2 / map_.r;
  }

  // Sums the queries' features times P, scaled by exp(-shift), over the frame; keeps the keys. False if floats were too narrow for
  // that.
  bool sum_queries(const ImageView& image, float pixel_offset, float shift) {
    projector_.begin(image, pixel_offset);
    map_.projections = query_columns_.data();
    bands_.for_each([&](int band, int worker) { sum_band(band, worker, shift); });
    std::ranges::fill(sums_, 0.0);
    for (std::size_t i = 0; i < band_sums_.size(); ++i) sums_[i % sums_.size()] += band_sums_[i];
    double largest = 0;
    bool held = true;
    for (const double sum : sums_) {
      held = held && std::isfinite(sum);
      largest = std::max(largest, std::abs(sum));
    }
    return held && no_overflow(std::ranges::max(band_largest_)) && largest > smallest_safe_sum;
  }

  void sum_band(int band, int worker, float shift) {
    float* lanes = lane_sums_.data() + worker * sums_.size() * simd::lanes;
    std::fill_n(lanes, sums_.size() * simd::lanes, 0.0F);
    float half_square = 0;
    for (int chunk = bands_.first_chunk(band); chunk < bands_.end_chunk(band); ++chunk) {
      projector_.project(chunk, worker);
      for_pieces(chunk, [&](int first, int count) {
        half_square = std::max(half_square, simd::add_feature_sums(map_, projector_.queries(worker) + first, projector_.pitch(),
                                                                   count, query_weights_.from(projector_.first(chunk) + first),
                                                                   shift, scratch(worker), lanes));
      });
    }
    band_largest_[band] = half_square;
    // Doubles from here on, so that long frames lose no digits.
    for (std::size_t i = 0; i < sums_.size(); ++i, lanes += simd::lanes) {
      double even = 0, odd = 0;
      for (int l = 0; l < simd::lanes; l += 2) {
        even += lanes[l];
        odd += lanes[l + 1];
      }
      band_sums_[band * sums_.size() + i] = even + odd;
    }
  }

  // Calls body(first, count) for parts of a chunk, tiles of which features are made: sums over them keep their order.
  template <class Body>
  void for_pieces(int chunk, const Body& body) {
    const auto columns = static_cast<std::size_t>(map_.r) + map_.m;
    const std::size_t a_tile = simd::tile * (columns * map_.d + static_cast<std::size_t>(map_.unsigned_features()) * (1 + map_.r));
    const int total = projector_.count(chunk);
    const auto piece = static_cast<int>(std::min<std::size_t>(total, simd::tile * things_between_looks(a_tile)));
    for (int first = 0; first < total; first += piece) {
      check_interrupt();
      body(first, std::min(piece, total - first));
    }
  }

  float* scratch(int worker) { return scratch_.data() + worker * map_.scratch(); }

  // Exponents of exp features are at most ||omega||^2 / 2 and their offset, those of trigonometric ones ||x||^2 / 2.
  bool no_overflow(float half_square) const {
    return (!map_.trig || half_square < largest_safe_exponent) && (!map_.exp || half_omega_square_ < largest_safe_exponent);
  }

  // Weights of the keys' features from the queries' sums. Returns the logarithm of what they were divided by to keep them moderate.
  double take_weights(float shift) {
    double largest = 0;
    // Without epsilon, exp(-shift) may be infinite.
    const double epsilon = options_.epsilon == 0 ? 0.0 : query_weights_.total() * options_.epsilon * std::exp(-shift);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i] += epsilon;
      sums_[i] *= product_weight(static_cast<int>(i) / (1 + map_.r), static_cast<int>(i) % (1 + map_.r));
      largest = std::max(largest, std::abs(sums_[i]));
    }
    const bool moderate = !(largest < 1e-10 || largest > 1e10) || largest == 0;
    const double divisor = moderate ? 1 : largest;
    for (std::size_t i = 0; i < sums_.size(); ++i) weights_[i] = static_cast<float>(sums_[i] / divisor);
    return std::log(divisor);
  }

  float query_exponent(const ImageView& image, float pixel_offset) {
    projector_.begin(image, pixel_offset);
    map_.projections = query_columns_.data();
    return largest_exponent([&](int chunk, int worker) {
      projector_.project(chunk, worker);
      return projector_.queries(worker);
    });
  }

  float key_exponent() {
    map_.projections = key_columns_.data();
    return largest_exponent([&](int chunk, int worker) { return projector_.keys(chunk, worker); });
  }

  template <class RowsOf>
  float largest_exponent(const RowsOf& rows_of) {
    bands_.for_each([&](int band, int worker) {
      float largest = -std::numeric_limits<float>::infinity();
      for (int chunk = bands_.first_chunk(band); chunk < bands_.end_chunk(band); ++chunk) {
        const float* rows = rows_of(chunk, worker);
        for_pieces(chunk, [&](int first, int count) {
          largest = std::max(largest, simd::largest_exponent(map_, rows + first, projector_.pitch(), count, scratch(worker)));
        });
      }
      band_largest_[band] = largest;
    });
    return usable(std::ranges::max(band_largest_));
  }

  // Not finite: a pixel is not. Negative: tiny features are scaled up, unless epsilon dwarfs them anyway.
  float usable(float exponent) const {
    if (!std::isfinite(exponent)) return 0;
    return options_.epsilon > 0 ? std::max(exponent, 0.0F) : exponent;
  }

  void add_epsilon(float shift, std::span<float> scores) const {
    if (options_.epsilon == 0) return;
    double sum = 0;
    for (const float weight : weights_) sum += weight;
    for (float& score : scores) score += static_cast<float>(options_.epsilon * std::exp(-shift) * sum);
  }

  // False if floats were too narrow.
  bool score_keys(float shift, std::span<float> scores) {
    map_.projections = key_columns_.data();
    bands_.for_each([&](int band, int worker) {
      float half_square = 0;
      for (int chunk = bands_.first_chunk(band); chunk < bands_.end_chunk(band); ++chunk) {
        const float* keys = projector_.keys(chunk, worker);
        for_pieces(chunk, [&](int first, int count) {
          half_square =
              std::max(half_square, simd::feature_scores(map_, keys + first, projector_.pitch(), count, shift, scratch(worker),
                                                         weights_.data(), scores.data() + projector_.first(chunk) + first));
        });
      }
      band_largest_[band] = half_square;
    });
    const float largest = largest_magnitude(scores);
    return no_overflow(std::ranges::max(band_largest_)) && largest > smallest_safe_sum && std::isfinite(largest);
  }

  std::string_view name_;  // the catalog's
  FeatureOptions options_;
  ReducedHead query_, key_;
  PatchProjector projector_;
  Bands bands_;
  DrawnProjections drawn_;
  simd::FeatureMap map_;
  QueryWeights query_weights_;
  float half_omega_square_ = 0;
  std::vector<float> query_columns_, key_columns_;  // map_.d x (r + m): xi, omega
  std::vector<float> weights_;
  std::vector<double> sums_, band_sums_;
  std::vector<float> band_largest_;
  FloatBuffer lane_sums_, scratch_;  // of every worker
};

// Queries and keys have no more dimensions than pixel values and a bias give them.
KernelWork feature_work(const KernelEntry& entry, Options& options, const PatchGrid& grid, int d) {
  const FeatureOptions wanted = read_feature_options(*entry.features, options, grid.values(), d);
  const bool trig = wanted.kind != FeatureKind::exp, exp = wanted.kind != FeatureKind::trig;
  const double patches = grid.count(), values = grid.values(), n = std::min<double>(d, values + 1), m = wanted.m, r = wanted.r;
  const double features = m * ((trig ? 2 : 0) + (exp ? 1 : 0));
  return {.fma = patches * 2 * (n * values + n * (m + r) + n + features * (1 + r)),
          .exp = patches * 2 * ((exp ? m : 0) + (trig ? 1 : 0)),
          .sine_cosine = patches * 2 * (trig ? m : 0)};
}

FeatureOptions read_scorer_options(const KernelEntry& entry, Options& options, const PatchGrid& grid, int d) {
  FeatureOptions wanted = read_feature_options(*entry.features, options, grid.values(), d);
  wanted.threads = read_threads(options);
  return wanted;
}

double score_bytes_by_features(const KernelEntry& entry, Options& options, const PatchGrid& grid, int d, bool encoded) {
  const FeatureOptions wanted = read_scorer_options(entry, options, grid, d);
  return wanted.brute_force ? exact_scorer_bytes(ExactKernel::softmax_kernel, grid, d, wanted.threads, encoded)
                            : FeatureScorer::bytes(wanted, grid, d, encoded);
}

}  // namespace

std::unique_ptr<Scorer> score_by_features(const KernelEntry& entry, Options& options, const PatchGrid& grid, int d) {
  const FeatureOptions wanted = read_scorer_options(entry, options, grid, d);
  if (wanted.brute_force) return make_exact_scorer(entry.name, ExactKernel::softmax_kernel, wanted.form, grid, d, wanted.threads);
  return std::make_unique<FeatureScorer>(entry.name, wanted, grid, d);
}

KernelEntry random_features_kernel(std::string name, std::string summary, const RandomFeatures& features) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .score = score_by_features,
          .score_bytes = score_bytes_by_features,
          .work = feature_work,
          .transform = transform_by_features,
          .transform_bytes = transform_bytes_by_features,
          .map = map_by_features,
          .exact = true,
          .features = features};
}

KernelEntry exp_kernel() {
  return random_features_kernel(
      "exp", "softmax kernel by m positive exponential features (FAVOR+)",
      {FeatureKind::exp, 15, nullptr,
       [](Options&, std::span<const double> x, std::span<const double> y, int m, int) { return mse_exp(x, y, m); }});
}

KernelEntry trig_kernel() {
  return random_features_kernel(
      "trig", "softmax kernel by m sines and cosines",
      {FeatureKind::trig, 10, nullptr,
       [](Options&, std::span<const double> x, std::span<const double> y, int m, int) { return mse_trig(x, y, m); }});
}

KernelEntry hybrid_kernel() {
  return random_features_kernel(
      "hybrid", "softmax kernel by exponential and trigonometric features, mixed by the angle of query and key (v1 section 4.1)",
      {FeatureKind::hybrid, 10, nullptr,
       [](Options&, std::span<const double> x, std::span<const double> y, int m, int r) { return mse_hyb(x, y, m, r); }});
}

}  // namespace iap
