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

#include "simd.hpp"
module iap.attention;
import iap.core;
import :features;
import :internal;
import :projector;

namespace iap {
namespace {

struct FeatureOptions {
  FeatureKind kind = FeatureKind::hybrid;
  int m = 10, r = 5;
  Ensemble ensemble = Ensemble::orthogonal;
  std::uint64_t seed = 0;
  bool redraw = false;
  double epsilon = 0;  // of exp
  InputForm form;
};

// Patches after which sums of floats move to doubles, so that long frames lose no digits.
constexpr int flush_after = 16384;

// Features whose exponent is larger soon overflow; sums that are smaller have lost terms to underflow.
constexpr float largest_safe_exponent = 60;
constexpr double smallest_safe_sum = 1e-20;

float largest_magnitude(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

class FeatureScorer final : public Scorer {
 public:
  FeatureScorer(const char* name, const FeatureOptions& options, const PatchGrid& grid, int d)
      : name_(name), options_(options), query_(grid.values(), d), key_(grid.values(), d), projector_(grid, query_.n) {
    map_.d = query_.n;
    map_.m = options.m;
    map_.r = options.r;
    map_.trig = options.kind != FeatureKind::exp;
    map_.exp = options.kind != FeatureKind::trig;
    map_.normalised = options.form.normalised;
    map_.length = options.form.factor;
    const std::size_t products = static_cast<std::size_t>(map_.unsigned_features()) * (1 + map_.r);
    lane_sums_ = FloatBuffer(products * simd::lanes);
    scratch_ = FloatBuffer(map_.scratch());
    sums_.resize(products);
    weights_.resize(products);
    draw(options.seed);
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
    if (!options_.redraw) return;
    draw(derive_seed({.seed = options_.seed,
                      .iteration = static_cast<std::uint32_t>(episode_seed),
                      .member = static_cast<std::uint32_t>(episode_seed >> 32),
                      .purpose = Purpose::projection}));
  }

  void score(const ImageView& image, float pixel_offset, std::span<float> scores) override {
    check_frame(projector_.grid(), projector_.bound(), image, scores);
    float query_shift = 0, key_shift = 0;
    if (!sum_queries(image, pixel_offset, 0)) {
      query_shift = query_exponent(image, pixel_offset);
      sum_queries(image, pixel_offset, query_shift);
    }
    double log_factor = query_shift + take_weights(query_shift);
    if (!score_keys(0, scores)) {
      key_shift = key_exponent();
      score_keys(key_shift, scores);
    }
    log_factor += key_shift;
    add_epsilon(key_shift, scores);
    // Give the scores their own size back where floats can hold it.
    if (log_factor == 0 || std::abs(std::log(largest_magnitude(scores)) + log_factor) > largest_safe_exponent) return;
    const double factor = std::exp(log_factor);
    for (float& value : scores) value = static_cast<float>(value * factor);
  }

 private:
  void draw(std::uint64_t seed) {
    drawn_ = draw_projections(options_.ensemble, query_.d, map_.m, map_.r, seed);
    half_omega_square_ = 0;
    for (int i = 0; i < map_.m; ++i) {
      float square = 0;
      for (int k = 0; k < drawn_.d; ++k) square += drawn_.omega[i * drawn_.d + k] * drawn_.omega[i * drawn_.d + k];
      half_omega_square_ = std::max(half_omega_square_, square / 2);
    }
    fold();
  }

  void fold() {
    const int columns = map_.r + map_.m;
    for (const auto& [head, folded] : {std::pair{&query_, &query_columns_}, std::pair{&key_, &key_columns_}}) {
      folded->resize(static_cast<std::size_t>(map_.d) * columns);
      head->fold(drawn_.xi, 0, columns, *folded);
      head->fold(drawn_.omega, map_.r, columns, *folded);
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

  void flush() {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      float* lane = lane_sums_.data() + i * simd::lanes;
      for (int l = 0; l < simd::lanes; ++l) sums_[i] += lane[l];
      std::fill_n(lane, simd::lanes, 0.0F);
    }
  }

  // Sums the queries' features times P, scaled by exp(-shift), over the frame; keeps the keys. False if floats were too narrow for
  // that.
  bool sum_queries(const ImageView& image, float pixel_offset, float shift) {
    projector_.begin(image, pixel_offset);
    map_.projections = query_columns_.data();
    std::ranges::fill(sums_, 0.0);
    int since_flush = 0;
    float half_square = 0;
    for (int chunk = 0; chunk < projector_.chunks(); ++chunk) {
      projector_.project(chunk);
      half_square =
          std::max(half_square,
                   simd::add_feature_sums(map_, projector_.queries(), projector_.pitch(), projector_.count(chunk),
                                          query_weights_.from(projector_.first(chunk)), shift, scratch_.data(), lane_sums_.data()));
      since_flush += projector_.count(chunk);
      if (since_flush < flush_after && chunk + 1 < projector_.chunks()) continue;
      flush();
      since_flush = 0;
    }
    double largest = 0;
    for (const double sum : sums_) largest = std::max(largest, std::abs(sum));
    return no_overflow(half_square) && largest > smallest_safe_sum;
  }

  // Exponents of exp features are at most ||omega||^2 / 2, those of trigonometric ones ||x||^2 / 2.
  bool no_overflow(float half_square) const {
    return (!map_.trig || half_square < largest_safe_exponent) && (!map_.exp || half_omega_square_ < largest_safe_exponent);
  }

  // Weights of the keys' features from the queries' sums. Returns the logarithm of what they were divided by to keep them moderate.
  double take_weights(float shift) {
    double largest = 0;
    const double epsilon = query_weights_.total() * options_.epsilon * std::exp(-shift);
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
    float largest = -std::numeric_limits<float>::infinity();
    projector_.begin(image, pixel_offset);
    map_.projections = query_columns_.data();
    for (int chunk = 0; chunk < projector_.chunks(); ++chunk) {
      projector_.project(chunk);
      largest = std::max(largest, exponent_of(projector_.queries(), chunk));
    }
    return usable(largest);
  }

  float key_exponent() {
    map_.projections = key_columns_.data();
    float largest = -std::numeric_limits<float>::infinity();
    for (int chunk = 0; chunk < projector_.chunks(); ++chunk)
      largest = std::max(largest, exponent_of(projector_.keys(chunk), chunk));
    return usable(largest);
  }

  // Not finite: a pixel is not. Negative: tiny features are scaled up, unless epsilon dwarfs them anyway.
  float usable(float exponent) const {
    if (!std::isfinite(exponent)) return 0;
    return options_.epsilon > 0 ? std::max(exponent, 0.0F) : exponent;
  }

  float exponent_of(const float* rows, int chunk) {
    return simd::largest_exponent(map_, rows, projector_.pitch(), projector_.count(chunk), scratch_.data());
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
    float half_square = 0;
    for (int chunk = 0; chunk < projector_.chunks(); ++chunk)
      half_square = std::max(half_square,
                             simd::feature_scores(map_, projector_.keys(chunk), projector_.pitch(), projector_.count(chunk), shift,
                                                  scratch_.data(), weights_.data(), scores.data() + projector_.first(chunk)));
    return no_overflow(half_square) && largest_magnitude(scores) > smallest_safe_sum;
  }

  const char* name_;
  FeatureOptions options_;
  Projections drawn_;
  ReducedHead query_, key_;
  PatchProjector projector_;
  QueryWeights query_weights_;
  simd::FeatureMap map_;
  float half_omega_square_ = 0;
  std::vector<float> query_columns_, key_columns_;  // map_.d x (r + m): xi, omega
  std::vector<float> weights_;
  std::vector<double> sums_;
  FloatBuffer lane_sums_, scratch_;
};

std::unique_ptr<Scorer> make_features(const char* name, FeatureKind kind, Options& options, const PatchGrid& grid, int d) {
  FeatureOptions wanted;
  wanted.kind = kind;
  wanted.m = static_cast<int>(options.integer_in("m", 1, 4096, kind == FeatureKind::exp ? 15 : 10));
  wanted.r = kind == FeatureKind::hybrid ? static_cast<int>(options.integer_in("r", 1, 1024, 5)) : 0;
  wanted.ensemble = options.choice("ensemble", {"iid", "orthogonal"}, "orthogonal") == "iid" ? Ensemble::iid : Ensemble::orthogonal;
  wanted.seed = static_cast<std::uint64_t>(options.integer_in("feature_seed", 0, std::numeric_limits<std::int64_t>::max(), 0));
  wanted.redraw = options.choice("redraw", {"never", "episode"}, "never") == "episode";
  wanted.form = read_input_form(options, grid.values(), d);
  if (options.boolean("brute_force", false)) return make_exact_scorer(name, ExactKernel::softmax_kernel, wanted.form, grid, d);
  if (kind == FeatureKind::exp) wanted.epsilon = options.number_in("epsilon", 0, 1, 0);
  return std::make_unique<FeatureScorer>(name, wanted, grid, d);
}

}  // namespace

std::unique_ptr<Scorer> make_exp(Options& options, const PatchGrid& grid, int d) {
  return make_features("exp", FeatureKind::exp, options, grid, d);
}
std::unique_ptr<Scorer> make_trig(Options& options, const PatchGrid& grid, int d) {
  return make_features("trig", FeatureKind::trig, options, grid, d);
}
std::unique_ptr<Scorer> make_hybrid(Options& options, const PatchGrid& grid, int d) {
  return make_features("hybrid", FeatureKind::hybrid, options, grid, d);
}

}  // namespace iap
