module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/simd/simd.hpp"
#include "attention/simd/trans.hpp"
module iap.attention;
import iap.core;
import :features;
import :internal;
import :projector;
import :trans_frame;

namespace iap {
namespace {

// Features with smaller exponents need no scaling: floats hold them and their sums.
constexpr float harmless_exponent = 30;
// Nor do those of one side up to this, if the other's are small.
constexpr float steepest_exponent = 50;
// The logarithm of a factor that floats hold well, and of one that makes the smallest of them larger than what rows are clamped to.
constexpr double largest_factor = 80, largest_exponent_undone = 240;
// Of features times values, what registers take together.
constexpr int features_at_once = 4;

class LinearTrans final : public Trans {
 public:
  LinearTrans(const LinearOptions& options, const PatchGrid& grid, const TransShape& shape)
      : options_(options),
        query_(grid.values(), shape.d),
        key_(grid.values(), shape.d),
        frame_(grid, options.relu ? shape.d : query_.n, shape, options.relu ? InputForm{} : options.features.form),
        drawn_(options.features, options.relu ? 1 : shape.d) {
    map_ = map_of(options, frame_.inputs());
    order_ = choose_order();
    const std::size_t signs = 1 + map_.r, widest = widest_of(shape);
    sums_.resize(features() * signs * widest);
    weights_.resize(sums_.size());
    divisor_weights_.resize(options.normalise_rows ? features() * signs : 0);
    scratch_ = FloatBuffer(simd::trans_scratch(map_));
    feature_rows_ = FloatBuffer(static_cast<std::size_t>(features()) * simd::block);
    sign_rows_ = FloatBuffer(static_cast<std::size_t>(map_.r) * simd::block);
    spread_ = FloatBuffer(signs * widest * simd::block);
    mixed_ = FloatBuffer(signs * widest * simd::block);
    divisors_ = FloatBuffer(signs * simd::block);
    scaled_ = FloatBuffer(static_cast<std::size_t>(shape.tokens) * simd::block);
    if (!options.relu) fold();
  }

  static double bytes(const LinearOptions& options, const PatchGrid& grid, const TransShape& shape, bool encoded) {
    const int n = options.relu ? shape.d : ReducedHead::dimensions(grid.values(), shape.d);
    const simd::FeatureMap map = map_of(options, n);
    const double features = features_of(options, map), signs = 1.0 + map.r, widest = widest_of(shape);
    const double sums = features * signs * widest, divisors = options.normalise_rows ? features * signs : 0.0;
    const double block_rows = features + map.r + 2 * signs * widest + signs + shape.tokens;
    const double columns = 2.0 * n * (map.r + map.m);
    return 2 * ReducedHead::bytes(grid.values(), shape.d) + TransFrame::bytes(grid, n, shape, encoded) +
           DrawnProjections::bytes(options.features, options.relu ? 1 : shape.d) + sizeof(double) * sums +
           sizeof(float) * (sums + divisors + columns + static_cast<double>(simd::trans_scratch(map)) + block_rows * simd::block);
  }

  std::string_view kernel() const override { return options_.name; }
  TransOrder order() const override { return order_; }
  std::span<float> value_row(int column) override {
    return {frame_.values(0) + column * frame_.pitch(), static_cast<std::size_t>(frame_.count())};
  }

  void bind(const TransWeights& weights) override {
    check_weights(weights.head, frame_.grid(), frame_.shape().d);
    HeadWeights head = weights.head;
    if (!options_.relu) {
      query_.bind(head.query, head.query_bias);
      key_.bind(head.key, head.key_bias);
      fold();
      head = {query_.weights, key_.weights, query_.bias, key_.bias, {}, head.encoding};
    }
    frame_.bind(head, weights.value, weights.compression);
    bound_ = true;
  }

  void new_episode(std::uint64_t episode_seed) override {
    if (!options_.relu && drawn_.new_episode(episode_seed)) fold();
  }

  void apply(const ImageView& image, float pixel_offset, std::span<float> out) override {
    check_frame(frame_.grid(), bound_, image);
    if (!options_.relu && drawn_.new_frame()) fold();
    frame_.project(image, pixel_offset, out.size());
    take_shifts();
    if (order_ == TransOrder::values_first)
      attend();
    else
      vote([&](float* rows, int first, int count) { frame_.add_votes(rows, first, count); });
    frame_.write(out);
  }

  void importance(std::span<float> out) override {
    vote([&](const float* rows, int first, int count) {
      for (int j = 0; j < count; ++j) {
        float sum = 0;
        for (int i = 0; i < frame_.shape().tokens; ++i) sum += std::abs(rows[i * simd::block + j]);
        out[first + j] = frame_.own_size(sum);
      }
    });
  }

 private:
  static simd::FeatureMap map_of(const LinearOptions& options, int n) {
    if (options.relu) return {.d = n};
    const FeatureOptions& features = options.features;
    return {.d = n,
            .m = features.m,
            .r = features.r,
            .trig = features.kind != FeatureKind::exp,
            .exp = features.kind != FeatureKind::trig};
  }
  static int widest_of(const TransShape& shape) { return std::max(shape.values + 1, shape.tokens); }
  // Without signs.
  static int features_of(const LinearOptions& options, const simd::FeatureMap& map) {
    return options.relu ? map.d : map.unsigned_features();
  }
  int features() const { return features_of(options_, map_); }
  float epsilon() const { return static_cast<float>(options_.features.epsilon); }

  TransOrder choose_order() const {
    if (options_.order) return *options_.order;
    const double numbers = static_cast<double>(features()) * (1 + map_.r), patches = frame_.count();
    const auto cost = [&](TransOrder order) {
      return trans_cost(order, frame_.shape(), options_.normalise_rows, numbers, patches);
    };
    return cost(TransOrder::values_first) <= cost(TransOrder::queries_first) ? TransOrder::values_first : TransOrder::queries_first;
  }

  void fold() {
    const auto& offset = drawn_.now().offset;
    map_.offsets = offset.empty() ? nullptr : offset.data();
    largest_offset_ = offset.empty() ? 0.0F : std::max(0.0F, *std::ranges::max_element(offset));
    longest_omega_ = 0;
    for (int i = 0; i < map_.m; ++i) {
      const auto omega = std::span(drawn_.now().omega).subspan(static_cast<std::size_t>(i) * query_.d, query_.d);
      longest_omega_ = std::max(longest_omega_, std::sqrt(std::inner_product(omega.begin(), omega.end(), omega.begin(), 0.0F)));
    }
    const int columns = map_.r + map_.m;
    for (auto [head, folded] : {std::pair{&query_, &query_columns_}, std::pair{&key_, &key_columns_}}) {
      folded->resize(static_cast<std::size_t>(map_.d) * columns);
      head->fold(drawn_.now().xi, 0, columns, *folded);
      head->fold(drawn_.now().omega, map_.r, columns, *folded);
    }
  }

  // One factor for all queries' features and one for all keys', where floats would be too narrow without.
  void take_shifts() {
    query_shift_ = key_shift_ = 0;
    if (options_.relu) return;
    const bool is_long = frame_.largest_square() / 2 > harmless_exponent;
    if (!is_long && !may_be_steep()) return;
    const float query = largest_exponent(frame_.queries(0), query_columns_), key = largest_exponent(frame_.keys(0), key_columns_);
    if (!is_long && std::max(query, key) < steepest_exponent && query + key < 2 * harmless_exponent) return;
    query_shift_ = query;
    key_shift_ = key;
  }

  // Whether short inputs may have large exponents: w . x - ||x||^2 / 2 along a long projection w.
  bool may_be_steep() const {
    const float length = std::min(std::sqrt(frame_.largest_square()), longest_omega_);
    return map_.exp && length * (longest_omega_ - length / 2) + largest_offset_ > harmless_exponent;
  }

  float largest_exponent(const float* x, const std::vector<float>& columns) {
    map_.projections = columns.data();
    float largest = std::numeric_limits<float>::lowest();
    for (int first = 0; first < frame_.count(); first += simd::block) {
      check_interrupt();
      largest = std::max(largest, simd::trans_exponent(map_, x + first, frame_.pitch(), block_size(first), scratch_.data()));
    }
    // Not finite: a pixel is not. Negative: tiny features are scaled up, unless epsilon dwarfs them anyway.
    if (!std::isfinite(largest)) return 0;
    return options_.features.epsilon > 0 ? std::max(largest, 0.0F) : largest;
  }

  int block_size(int first) const { return std::min(simd::block, frame_.count() - first); }

  // Normalised rows do not see a query's own scale, so that each may have the one that suits it.
  void make_query_features(int first) {
    make_features(first, frame_.queries(first), query_columns_, query_shift_,
                  options_.normalise_rows && map_.exp && options_.features.epsilon == 0);
  }
  void make_key_features(int first) { make_features(first, frame_.keys(first), key_columns_, key_shift_, false); }
  void make_features(int first, const float* x, const std::vector<float>& columns, float shift, bool own_scale) {
    check_interrupt();
    if (options_.relu) {
      simd::relu_features(x, frame_.pitch(), map_.d, block_size(first), epsilon(), feature_rows_.data());
      return;
    }
    map_.projections = columns.data();
    simd::trans_features(map_, x, frame_.pitch(), block_size(first), shift, epsilon(), own_scale, scratch_.data(),
                         feature_rows_.data(), sign_rows_.data());
  }

  // sums_ += features of the block times `columns` rows, with and without signs: features() x (1 + r) x columns.
  void sum_features(const float* rows, std::size_t pitch, int columns, int count) {
    if (map_.r > 0) {
      simd::spread_signs(rows, pitch, columns, sign_rows_.data(), map_.r, count, spread_.data());
      rows = spread_.data();
      pitch = simd::block;
    }
    const std::size_t a_feature = (1 + static_cast<std::size_t>(map_.r)) * columns;
    const auto some = static_cast<int>(
        std::min<std::size_t>(features(), features_at_once * things_between_looks(features_at_once * a_feature * count)));
    for (int f = 0; f < features(); f += some) {
      check_interrupt();
      simd::add_products(feature_rows_.data() + static_cast<std::size_t>(f) * simd::block, simd::block,
                         std::min(some, features() - f), rows, pitch, static_cast<int>(a_feature), count,
                         sums_.data() + f * a_feature);
    }
  }

  // K_hyb = (K_trig + K_exp + K_ang K_trig - K_ang K_exp) / 2, where K_trig and K_exp are means over m projections, K_ang over r
  // signs.
  double product_weight(int feature, int sign) const {
    if (options_.relu) return 1;
    const double mean = 1.0 / map_.m;
    if (options_.features.kind != FeatureKind::hybrid) return mean;
    if (sign == 0) return mean / 2;
    return (feature < 2 * map_.m ? mean : -mean) / 2 / map_.r;
  }

  void take_weights(int columns, std::vector<float>& weights) const {
    std::size_t at = 0;
    for (int f = 0; f < features(); ++f)
      for (int s = 0; s <= map_.r; ++s) {
        const double weight = product_weight(f, s);
        for (int k = 0; k < columns; ++k, ++at) weights[at] = static_cast<float>(sums_[at] * weight);
      }
  }

  // `columns` rows of what the block's features make of `weights`.
  void mix_features(const std::vector<float>& weights, int columns, int count, float* rows) const {
    const std::size_t a_vector = static_cast<std::size_t>(features()) * (1 + map_.r) * columns * simd::lanes;
    const auto some = static_cast<int>(std::min<std::size_t>(count, simd::lanes * things_between_looks(a_vector)));
    for (int j = 0; j < count; j += some) {
      check_interrupt();
      simd::mix(feature_rows_.data() + j, simd::block, features(), weights.data(), (1 + map_.r) * columns,
                std::min(some, count - j), rows + j);
    }
    simd::fold_signs(rows, columns, sign_rows_.data(), map_.r, count);
  }

  // Undoes the shifts of rows that were not normalised, and divides by L. Where a float cannot hold the factor, rows are as small
  // as it is large, and take it in parts.
  void restore_rows(float* rows, int columns, int count) const {
    double exponent =
        options_.normalise_rows ? 0.0 : std::min(static_cast<double>(query_shift_) + key_shift_, largest_exponent_undone);
    simd::scale_rows(rows, columns, scale(std::min(exponent, largest_factor)), count);
    for (exponent -= largest_factor; exponent > 0; exponent -= largest_factor)
      simd::scale_rows(rows, columns, static_cast<float>(std::exp(std::min(exponent, largest_factor))), count);
  }

  float scale(double exponent) const {
    if (options_.normalise_rows) return 1;
    const double factor = std::exp(exponent) / frame_.count();
    return static_cast<float>(options_.relu ? std::min(factor / frame_.product_scale(), 1e38) : factor);
  }

  // P (Q' (K'^T V)): the divisors of the rows come along as K'^T 1.
  void attend() {
    const int values = frame_.shape().values, columns = values + (options_.normalise_rows ? 1 : 0);
    std::ranges::fill(sums_, 0.0);
    for (int first = 0; first < frame_.count(); first += simd::block) {
      make_key_features(first);
      sum_features(frame_.values(first), frame_.pitch(), columns, block_size(first));
    }
    take_weights(columns, weights_);
    for (int first = 0; first < frame_.count(); first += simd::block) {
      const int count = block_size(first);
      float* rows = mixed_.data();
      make_query_features(first);
      mix_features(weights_, columns, count, rows);
      if (options_.normalise_rows) simd::divide_rows(rows, simd::block, values, rows + values * simd::block, count, rows);
      restore_rows(rows, values, count);
      frame_.add_attended(rows, first, count);
    }
  }

  // (P Q') K'^T: hands rows of P A to `take`, block by block.
  template <class Take>
  void vote(Take take) {
    const int tokens = frame_.shape().tokens;
    if (options_.normalise_rows) {
      std::ranges::fill(sums_, 0.0);
      for (int first = 0; first < frame_.count(); first += simd::block) {
        make_key_features(first);
        sum_features(frame_.ones(first), frame_.pitch(), 1, block_size(first));
      }
      take_weights(1, divisor_weights_);
    }
    std::ranges::fill(sums_, 0.0);
    for (int first = 0; first < frame_.count(); first += simd::block) {
      const int count = block_size(first);
      const float* rows = frame_.compression(first);
      std::size_t pitch = frame_.pitch();
      make_query_features(first);
      if (options_.normalise_rows) {
        mix_features(divisor_weights_, 1, count, divisors_.data());
        simd::divide_rows(rows, pitch, tokens, divisors_.data(), count, scaled_.data());
        simd::clear_tail(scaled_.data(), tokens, count);
        rows = scaled_.data();
        pitch = simd::block;
      }
      sum_features(rows, pitch, tokens, count);
    }
    take_weights(tokens, weights_);
    for (int first = 0; first < frame_.count(); first += simd::block) {
      const int count = block_size(first);
      make_key_features(first);
      mix_features(weights_, tokens, count, mixed_.data());
      restore_rows(mixed_.data(), tokens, count);
      take(mixed_.data(), first, count);
    }
  }

  LinearOptions options_;
  ReducedHead query_, key_;
  TransFrame frame_;
  DrawnProjections drawn_;
  simd::FeatureMap map_;
  TransOrder order_ = TransOrder::values_first;
  bool bound_ = false;
  std::vector<float> query_columns_, key_columns_;  // map_.d x (r + m): xi, omega
  float query_shift_ = 0, key_shift_ = 0, longest_omega_ = 0, largest_offset_ = 0;
  std::vector<double> sums_;
  std::vector<float> weights_, divisor_weights_;
  FloatBuffer scratch_, feature_rows_, sign_rows_, spread_, mixed_, divisors_, scaled_;
};

}  // namespace

std::unique_ptr<Trans> make_linear_trans(const LinearOptions& options, const PatchGrid& grid, const TransShape& shape) {
  return std::make_unique<LinearTrans>(options, grid, shape);
}

double linear_trans_bytes(const LinearOptions& options, const PatchGrid& grid, const TransShape& shape, bool encoded) {
  return LinearTrans::bytes(options, grid, shape, encoded);
}

}  // namespace iap
