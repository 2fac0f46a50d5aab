// The one evaluator of random features, one vector of patches at a time. Included once an instruction set, after foreach_target.h.
#if defined(IAP_SIMD_FEATURE_MAP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef IAP_SIMD_FEATURE_MAP_INL
#undef IAP_SIMD_FEATURE_MAP_INL
#else
#define IAP_SIMD_FEATURE_MAP_INL
#endif
#include <cstddef>
#include <type_traits>

#include "hwy/highway.h"
#include "simd.hpp"
#include "simd_linear-inl.hpp"
#include "simd_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// What turns projections of u into those of x, and ||x||^2 / 2, of the vector of patches at `j`.
struct Lengths {
  hn::Vec<Floats> inverse, half_square;
};

HWY_INLINE Lengths lengths_of(const FeatureMap& map, const float* u, std::size_t pitch, int j) {
  const Floats d;
  auto square = hn::Zero(d);
  for (int v = 0; v < map.d; ++v) {
    const auto value = hn::LoadU(d, u + v * pitch + j);
    square = hn::MulAdd(value, value, square);
  }
  if (!map.normalised) return {hn::Set(d, 1.0F), hn::Mul(square, hn::Set(d, 0.5F))};
  // Not `square > 0`: NaN has to stay NaN.
  const auto zero = hn::Eq(square, hn::Zero(d));
  return {hn::IfThenZeroElse(zero, hn::Div(hn::Set(d, map.length), hn::Sqrt(square))),
          hn::IfThenZeroElse(zero, hn::Set(d, map.length * map.length / 2))};
}

/// xi . u and omega . u, r + m rows of `out`.
HWY_INLINE void project_rows(const FeatureMap& map, const float* u, std::size_t pitch, int count, float* out,
                             std::size_t out_pitch) {
  linear_rows(Strided<const float>{u, pitch}, map.d, map.projections, map.r + map.m, nullptr, map.r + map.m, count,
              Strided<float>{out, out_pitch});
}

/// Exponent number i of exp features, before ||x||^2 / 2 is subtracted, from row i of omega . u.
HWY_INLINE hn::Vec<Floats> exponent_at(const FeatureMap& map, const float* projections, std::size_t pitch, int i,
                                       hn::Vec<Floats> inverse) {
  const Floats d;
  const auto y = hn::Mul(hn::LoadU(d, projections + i * pitch), inverse);
  return map.offsets ? hn::Add(y, hn::Set(d, map.offsets[i])) : y;
}

/// Writes the features without signs of one vector of patches, from its rows of omega . u: sines, cosines, then exponentials.
/// Sines and cosines are multiplied by `factor` exp(||x||^2 / 2 - shift); exponentials are finish(exp(exponent(y))), y being what
/// exponent_at says.
template <class Exponent, class Finish>
HWY_INLINE void write_features(const FeatureMap& map, const float* projections, std::size_t pitch, const Lengths& lengths,
                               float shift, hn::Vec<Floats> factor, Exponent exponent, Finish finish, float* out,
                               std::size_t out_pitch) {
  const Floats d;
  const auto most = most_exponent(d, shift);
  float* exp_rows = out + (map.trig ? 2 * map.m * out_pitch : 0);
  const auto write_exp = [&](int i) HWY_ATTR {
    const auto y = exponent_at(map, projections, pitch, i, lengths.inverse);
    hn::StoreU(finish(exponential(d, exponent(y), most)), d, exp_rows + i * out_pitch);
  };
  if (!map.trig) {
    for (int i = 0; i < map.m; ++i) write_exp(i);
    return;
  }
  const auto scale = hn::Mul(factor, exponential(d, hn::Sub(lengths.half_square, hn::Set(d, shift)), most));
  const auto write_all = [&](auto shorten) HWY_ATTR {
    for (int i = 0; i < map.m; ++i) {
      if (map.exp) write_exp(i);
      const auto y = hn::Mul(hn::LoadU(d, projections + i * pitch), lengths.inverse);
      hn::Vec<Floats> sine, cosine;
      sine_cosine(d, shorten ? short_enough(d, y) : y, sine, cosine);
      hn::StoreU(hn::Mul(sine, scale), d, out + i * out_pitch);
      hn::StoreU(hn::Mul(cosine, scale), d, out + (map.m + i) * out_pitch);
    }
  };
  if (are_long(d, lengths.half_square))
    write_all(std::true_type());
  else
    write_all(std::false_type());
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
