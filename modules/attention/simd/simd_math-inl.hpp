// exp, sincos and the sum of one vector of floats. Included once an instruction set, after foreach_target.h.
#if defined(IAP_SIMD_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef IAP_SIMD_MATH_INL
#undef IAP_SIMD_MATH_INL
#else
#define IAP_SIMD_MATH_INL
#endif
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The sum of all lanes, its upper half added to its lower one until one is left. Highway's own sum goes in an order that its
/// versions do not share, and results would with them.
template <class D, class V = hn::Vec<D>>
HWY_INLINE float sum_of_lanes(D, V x) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    return hn::GetLane(x);
  } else {
    const hn::Half<D> half;
    return sum_of_lanes(half, hn::Add(hn::LowerHalf(half, x), hn::UpperHalf(half, x)));
  }
}

/// e^x to 2 units in the last place; x is clamped to [-87, most], most <= 88, NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exponential(D d, V x, V most) {
  const hn::RebindToSigned<D> di;
  // The second operand of Min and Max is the one that x86 returns for NaN.
  x = hn::Max(hn::Set(d, -87.0F), hn::Min(most, x));
  const V k = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504F)));
  V t = hn::NegMulAdd(k, hn::Set(d, 0.693359375F), x);
  t = hn::NegMulAdd(k, hn::Set(d, -0.00021219444F), t);
  // (e^t - 1 - t) / t^2 interpolated at Chebyshev nodes on |t| <= log(2) / 2.
  V p = hn::MulAdd(hn::Set(d, 0.0013926213F), t, hn::Set(d, 0.0083632031F));
  p = hn::MulAdd(p, t, hn::Set(d, 0.041666556F));
  p = hn::MulAdd(p, t, hn::Set(d, 0.16666577F));
  p = hn::MulAdd(p, t, hn::Set(d, 0.5F));
  p = hn::MulAdd(hn::Mul(t, t), p, hn::Add(t, hn::Set(d, 1.0F)));
  const auto power = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, k), hn::Set(di, 127)));
  return hn::Mul(p, hn::BitCast(d, power));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exponential(D d, V x) {
  return exponential(d, x, hn::Set(d, 88.0F));
}

/// The most that an exponent is after `shift`, the largest one, was subtracted. Rounding puts it above 0, far above where the
/// exponents are so large that they have no digits left.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V most_exponent(D d, float shift) {
  return hn::Set(d, shift == 0 ? 88.0F : 10.0F);
}

/// Whether projections of some x may be too long for sine_cosine, which is to get them from `short_enough` then.
template <class D, class V = hn::Vec<D>>
HWY_INLINE bool are_long(D d, V half_square) {
  return !hn::AllTrue(d, hn::Lt(half_square, hn::Set(d, 1e9F)));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V short_enough(D d, V x) {
  return hn::Max(hn::Set(d, -1e6F), hn::Min(hn::Set(d, 1e6F), x));
}

/// sin x and cos x to 1e-7 for |x| < 8000; the error grows with |x| beyond, and results with it from |x| = 1e7 on. NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void sine_cosine(D d, V x, V& sine, V& cosine) {
  const hn::RebindToSigned<D> di;
  const V k = hn::Round(hn::Mul(x, hn::Set(d, 0.636619772F)));
  // pi / 2 in three parts with few digits, so that k times a part is exact.
  V t = hn::NegMulAdd(k, hn::Set(d, 1.5703125F), x);
  t = hn::NegMulAdd(k, hn::Set(d, 0.0004837512969970703F), t);
  t = hn::NegMulAdd(k, hn::Set(d, 7.549790126404332e-08F), t);
  const V square = hn::Mul(t, t);
  // Minimax on |t| <= pi / 4.
  V s = hn::MulAdd(hn::Set(d, -0.00019516656F), square, hn::Set(d, 0.0083321733F));
  s = hn::MulAdd(s, square, hn::Set(d, -0.16666655F));
  s = hn::MulAdd(hn::Mul(s, square), t, t);
  V c = hn::MulAdd(hn::Set(d, 2.443773e-05F), square, hn::Set(d, -0.0013887362F));
  c = hn::MulAdd(c, square, hn::Set(d, 0.041666646F));
  c = hn::MulAdd(c, square, hn::Set(d, -0.5F));
  c = hn::MulAdd(c, square, hn::Set(d, 1.0F));
  const auto quadrant = hn::ConvertTo(di, k);
  const auto one = hn::Set(di, 1);
  const auto odd = hn::RebindMask(d, hn::Eq(hn::And(quadrant, one), one));
  const auto sine_sign = hn::ShiftLeft<30>(hn::And(quadrant, hn::Set(di, 2)));
  const auto cosine_sign = hn::ShiftLeft<30>(hn::And(hn::Add(quadrant, one), hn::Set(di, 2)));
  sine = hn::Xor(hn::IfThenElse(odd, c, s), hn::BitCast(d, sine_sign));
  cosine = hn::Xor(hn::IfThenElse(odd, s, c), hn::BitCast(d, cosine_sign));
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
