#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "simd_rows.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd_rows.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd_linear-inl.hpp"
#include "simd_math-inl.hpp"

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
  linear_rows(Strided<const float>{u, pitch}, map.d, map.projections, map.r + map.m, nullptr, map.r + map.m, count,
              Strided<float>{scratch, tile});
  const auto constant = hn::Set(d, shift), plain = hn::Set(d, constants.plain), one = hn::Set(d, 1.0F);
  const auto nothing = hn::Set(d, std::numeric_limits<float>::lowest()), most = most_exponent(d, shift);
  auto largest = nothing;
  for (int j = 0; j < count; j += n) {
    auto square = hn::Zero(d);
    for (int v = 0; v < map.d; ++v) {
      const auto value = hn::LoadU(d, u + v * pitch + j);
      square = hn::MulAdd(value, value, square);
    }
    auto half_square = hn::Mul(square, hn::Set(d, 0.5F)), factor = one;
    if (map.normalised) {
      // Not `square > 0`: NaN has to stay NaN.
      const auto zero = hn::Eq(square, hn::Zero(d));
      factor = hn::IfThenZeroElse(zero, hn::Div(hn::Set(d, map.length), hn::Sqrt(square)));
      half_square = hn::IfThenZeroElse(zero, hn::Set(d, map.length * map.length / 2));
    }
    auto exponent = map.trig ? half_square : nothing;
    const auto scale = map.trig ? hn::Mul(plain, exponential(d, hn::Sub(half_square, constant), most)) : plain;
    const bool long_ones = map.trig && are_long(d, half_square);
    float* exp_rows = out + (map.trig ? 2 * map.m * out_pitch : 0);
    for (int i = 0; i < map.m; ++i) {
      const auto y = hn::Mul(hn::LoadU(d, scratch + (map.r + i) * tile + j), factor);
      if (map.trig) {
        hn::Vec<Floats> sine, cosine;
        sine_cosine(d, long_ones ? short_enough(d, y) : y, sine, cosine);
        hn::StoreU(hn::Mul(sine, scale), d, out + i * out_pitch + j);
        hn::StoreU(hn::Mul(cosine, scale), d, out + (map.m + i) * out_pitch + j);
      }
      if (map.exp) {
        const auto power = hn::Sub(y, half_square);
        exponent = hn::Max(exponent, power);
        hn::StoreU(hn::Mul(plain, exponential(d, hn::Sub(power, constant), most)), d, exp_rows + i * out_pitch + j);
      }
    }
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
