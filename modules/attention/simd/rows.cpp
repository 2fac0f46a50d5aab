#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "rows.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rows.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd_feature_map-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Constants of feature_map: features without a sign, and what a sign multiplies them by.
struct Constants {
  float plain, with_sign;
  explicit Constants(const FeatureMap& map) {
    const double half = map.trig && map.exp ? std::sqrt(0.5) : 1;
    plain = static_cast<float>(half / std::sqrt(static_cast<double>(map.m)));
    with_sign = map.r == 0 ? 0.0F : static_cast<float>(1 / std::sqrt(static_cast<double>(map.r)));
  }
};

// Multiplies the unsigned features of one vector of patches by the signs whose projections stand in `scratch`.
template <class D>
HWY_INLINE void write_signed(const FeatureMap& map, bool query_side, D d, const float* scratch, int j, float with_sign, float* out,
                             std::size_t pitch) {
  const int features = map.unsigned_features();
  const auto plus = hn::Set(d, with_sign), minus = hn::Set(d, -with_sign);
  for (int s = 0; s < map.r; ++s) {
    const auto negative = hn::Lt(hn::LoadU(d, scratch + s * tile + j), hn::Zero(d));
    const auto sign = hn::IfThenElse(negative, minus, plus);
    float* rows = out + static_cast<std::size_t>(1 + s) * features * pitch + j;
    for (int f = 0; f < features; ++f) {
      const auto weight = query_side && f >= 2 * map.m ? hn::Neg(sign) : sign;
      hn::StoreU(hn::Mul(weight, hn::LoadU(d, out + f * pitch + j)), d, rows + f * pitch);
    }
  }
}

float rows_of(const FeatureMap& map, bool query_side, const float* u, std::size_t pitch, int count, float shift, float* scratch,
              float* out, std::size_t out_pitch) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  const Constants constants(map);
  project_rows(map, u, pitch, count, scratch, tile);
  const auto constant = hn::Set(d, shift), plain = hn::Set(d, constants.plain);
  const auto nothing = hn::Set(d, std::numeric_limits<float>::lowest());
  auto largest = nothing;
  for (int j = 0; j < count; j += n) {
    const Lengths lengths = lengths_of(map, u, pitch, j);
    auto exponent = map.trig ? lengths.half_square : nothing;
    const auto below_shift = [&](hn::Vec<Floats> y) HWY_ATTR {
      const auto power = hn::Sub(y, lengths.half_square);
      exponent = hn::Max(exponent, power);
      return hn::Sub(power, constant);
    };
    write_features(
        map, scratch + map.r * tile + j, tile, lengths, shift, plain, below_shift,
        [&](hn::Vec<Floats> feature) HWY_ATTR { return hn::Mul(plain, feature); }, out + j, out_pitch);
    largest = hn::Max(largest, hn::IfThenElse(hn::FirstN(d, count - j), exponent, nothing));
    write_signed(map, query_side, d, scratch, j, constants.with_sign, out, out_pitch);
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::simd {

HWY_EXPORT(rows_of);

float feature_rows(const FeatureMap& map, bool query_side, const float* u, std::size_t pitch, int count, float shift,
                   float* scratch, float* out, std::size_t out_pitch) {
  return HWY_DYNAMIC_DISPATCH(rows_of)(map, query_side, u, pitch, count, shift, scratch, out, out_pitch);
}

}  // namespace iap::simd
#endif
