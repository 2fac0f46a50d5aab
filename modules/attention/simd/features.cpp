#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include "simd.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "features.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd_feature_map-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of `tile` floats: ones, r signs, m projections, the features without signs, then two rows of every patch's own numbers.
struct Rows {
  float *signs, *projections, *features, *inverse, *half_square;
  Rows(const FeatureMap& map, float* scratch)
      : signs(scratch),
        projections(signs + (1 + map.r) * tile),
        features(projections + map.m * tile),
        inverse(features + map.unsigned_features() * tile),
        half_square(inverse + tile) {}
};

// Fills signs (as values, not yet signs), projections of u, the factor from u to x and ||x||^2 / 2, the largest of which it
// returns.
HWY_INLINE float project_tile(const FeatureMap& map, const float* u, std::size_t pitch, int count, const Rows& rows) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  auto largest = hn::Zero(d);
  for (int j = 0; j < count; j += n) {
    const Lengths lengths = lengths_of(map, u, pitch, j);
    hn::StoreU(lengths.inverse, d, rows.inverse + j);
    hn::StoreU(lengths.half_square, d, rows.half_square + j);
    largest = hn::Max(largest, hn::IfThenElseZero(hn::FirstN(d, count - j), lengths.half_square));
  }
  project_rows(map, u, pitch, count, rows.signs + tile, tile);
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

HWY_INLINE Lengths lengths_at(const Rows& rows, int j) {
  const Floats d;
  return {hn::LoadU(d, rows.inverse + j), hn::LoadU(d, rows.half_square + j)};
}

// Where patches have weights, the row of ones and the signs carry them.
HWY_INLINE void apply_tile(const FeatureMap& map, int count, const float* weights, float shift, const Rows& rows) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  const auto one = hn::Set(d, 1.0F), zero = hn::Zero(d), constant = hn::Set(d, shift);
  for (int j = 0; j < count; j += n) hn::StoreU(weights ? hn::LoadU(d, weights + j) : one, d, rows.signs + j);
  for (int s = 1; s <= map.r; ++s)
    for (int j = 0; j < count; j += n) {
      float* at = rows.signs + s * tile + j;
      const auto weight = hn::LoadU(d, rows.signs + j);
      hn::StoreU(hn::IfThenElse(hn::Lt(hn::LoadU(d, at), zero), hn::Neg(weight), weight), d, at);
    }
  for (int j = 0; j < count; j += n) {
    const Lengths lengths = lengths_at(rows, j);
    const auto below = hn::Add(lengths.half_square, constant);
    write_features(
        map, rows.projections + j, tile, lengths, shift, one, [&](hn::Vec<Floats> y) HWY_ATTR { return hn::Sub(y, below); },
        [](hn::Vec<Floats> feature) HWY_ATTR { return feature; }, rows.features + j, tile);
  }
}

// Calls body(first sign, integral constant size) for groups of at most six signs, which is what registers hold.
template <class Body>
HWY_INLINE void for_sign_groups(int signs, Body body) {
  int s = 0;
  for (; signs - s >= 6; s += 6) body(s, std::integral_constant<int, 6>());
  switch (signs - s) {
    case 5: return body(s, std::integral_constant<int, 5>());
    case 4: return body(s, std::integral_constant<int, 4>());
    case 3: return body(s, std::integral_constant<int, 3>());
    case 2: return body(s, std::integral_constant<int, 2>());
    case 1: return body(s, std::integral_constant<int, 1>());
    default: return;
  }
}

template <int kFeatures, int kSigns>
HWY_INLINE void add_products(const float* features, const float* signs, int count, float* sums, int sums_pitch) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  hn::Vec<Floats> sum[kFeatures][kSigns];
  for (int f = 0; f < kFeatures; ++f)
    for (int s = 0; s < kSigns; ++s) sum[f][s] = hn::LoadU(d, sums + f * sums_pitch + s * lanes);
  for (int j = 0; j < count; j += n) {
    hn::Vec<Floats> feature[kFeatures];
    for (int f = 0; f < kFeatures; ++f) feature[f] = hn::LoadU(d, features + f * tile + j);
    for (int s = 0; s < kSigns; ++s) {
      const auto sign = hn::LoadU(d, signs + s * tile + j);
      for (int f = 0; f < kFeatures; ++f) sum[f][s] = hn::MulAdd(feature[f], sign, sum[f][s]);
    }
  }
  for (int f = 0; f < kFeatures; ++f)
    for (int s = 0; s < kSigns; ++s) hn::StoreU(sum[f][s], d, sums + f * sums_pitch + s * lanes);
}

float query_sums(const FeatureMap& map, const float* u, std::size_t pitch, int total, const float* weights, float shift,
                 float* scratch, float* sums) {
  const int n = static_cast<int>(hn::Lanes(Floats()));
  const int features = map.unsigned_features(), sums_pitch = (1 + map.r) * lanes;
  const Rows rows(map, scratch);
  float largest = 0;
  for (int first = 0; first < total; first += tile) {
    const int count = std::min(tile, total - first), whole = (count + n - 1) / n * n;
    largest = std::max(largest, project_tile(map, u + first, pitch, count, rows));
    apply_tile(map, count, weights ? weights + first : nullptr, shift, rows);
    for (int f = 0; f < features && count < whole; ++f)
      std::fill(rows.features + f * tile + count, rows.features + f * tile + whole, 0.0F);
    for_sign_groups(1 + map.r, [&](int s, auto size) HWY_ATTR {
      int f = 0;
      for (; f + 2 <= features; f += 2)
        add_products<2, size()>(rows.features + f * tile, rows.signs + s * tile, count, sums + f * sums_pitch + s * lanes,
                                sums_pitch);
      if (f < features)
        add_products<1, size()>(rows.features + f * tile, rows.signs + s * tile, count, sums + f * sums_pitch + s * lanes,
                                sums_pitch);
    });
  }
  return largest;
}

template <int kSigns>
HWY_INLINE void add_scores(const float* features, int feature_count, const float* signs, const float* weights, int weights_pitch,
                           int count, float* scores) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  for (int j = 0; j < count; j += 2 * n) {
    hn::Vec<Floats> a[kSigns], b[kSigns];
    for (int s = 0; s < kSigns; ++s) a[s] = b[s] = hn::Zero(d);
    for (int f = 0; f < feature_count; ++f) {
      const auto first = hn::LoadU(d, features + f * tile + j), second = hn::LoadU(d, features + f * tile + j + n);
      for (int s = 0; s < kSigns; ++s) {
        const auto weight = hn::Set(d, weights[f * weights_pitch + s]);
        a[s] = hn::MulAdd(weight, first, a[s]);
        b[s] = hn::MulAdd(weight, second, b[s]);
      }
    }
    auto x = hn::LoadU(d, scores + j), y = hn::LoadU(d, scores + j + n);
    for (int s = 0; s < kSigns; ++s) {
      x = hn::MulAdd(a[s], hn::LoadU(d, signs + s * tile + j), x);
      y = hn::MulAdd(b[s], hn::LoadU(d, signs + s * tile + j + n), y);
    }
    hn::StoreU(x, d, scores + j);
    hn::StoreU(y, d, scores + j + n);
  }
}

float key_scores(const FeatureMap& map, const float* u, std::size_t pitch, int total, float shift, float* scratch,
                 const float* weights, float* scores) {
  const int features = map.unsigned_features();
  const Rows rows(map, scratch);
  float largest = 0;
  for (int first = 0; first < total; first += tile) {
    const int count = std::min(tile, total - first);
    largest = std::max(largest, project_tile(map, u + first, pitch, count, rows));
    apply_tile(map, count, nullptr, shift, rows);
    HWY_ALIGN float sums[tile] = {};
    for_sign_groups(1 + map.r, [&](int s, auto size) HWY_ATTR {
      add_scores<size()>(rows.features, features, rows.signs + s * tile, weights + s, 1 + map.r, count, sums);
    });
    std::memcpy(scores + first, sums, count * sizeof(float));
  }
  return largest;
}

float exponent_bound(const FeatureMap& map, const float* u, std::size_t pitch, int total, float* scratch) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  const auto nothing = hn::Set(d, std::numeric_limits<float>::lowest());
  auto largest = nothing;
  const Rows rows(map, scratch);
  for (int first = 0; first < total; first += tile) {
    const int count = std::min(tile, total - first);
    project_tile(map, u + first, pitch, count, rows);
    for (int j = 0; j < count; j += n) {
      const Lengths lengths = lengths_at(rows, j);
      auto exponent = map.trig ? lengths.half_square : nothing;
      for (int i = 0; i < map.m && map.exp; ++i)
        exponent = hn::Max(
            exponent, hn::MulSub(hn::LoadU(d, rows.projections + i * tile + j), lengths.inverse,
                                 map.offsets ? hn::Sub(lengths.half_square, hn::Set(d, map.offsets[i])) : lengths.half_square));
      largest = hn::Max(largest, hn::IfThenElse(hn::FirstN(d, count - j), exponent, nothing));
    }
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::simd {

HWY_EXPORT(query_sums);
HWY_EXPORT(key_scores);
HWY_EXPORT(exponent_bound);

float add_feature_sums(const FeatureMap& map, const float* u, std::size_t pitch, int count, const float* weights, float shift,
                       float* scratch, float* sums) {
  return HWY_DYNAMIC_DISPATCH(query_sums)(map, u, pitch, count, weights, shift, scratch, sums);
}
float feature_scores(const FeatureMap& map, const float* u, std::size_t pitch, int count, float shift, float* scratch,
                     const float* weights, float* scores) {
  return HWY_DYNAMIC_DISPATCH(key_scores)(map, u, pitch, count, shift, scratch, weights, scores);
}
float largest_exponent(const FeatureMap& map, const float* u, std::size_t pitch, int count, float* scratch) {
  return HWY_DYNAMIC_DISPATCH(exponent_bound)(map, u, pitch, count, scratch);
}

}  // namespace iap::simd
#endif
