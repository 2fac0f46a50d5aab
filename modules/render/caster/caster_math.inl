// Vectors of pixels. Only correctly rounded operations and no fused ones, so that every SIMD target gives the same picture.

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using I = hn::Vec<DI>;
using M = hn::Mask<D>;

HWY_INLINE V set(float value) { return hn::Set(D(), value); }
HWY_INLINE V zero() { return hn::Zero(D()); }
HWY_INLINE V mul(V a, V b) { return hn::Mul(a, b); }
HWY_INLINE V add(V a, V b) { return hn::Add(a, b); }
HWY_INLINE V sub(V a, V b) { return hn::Sub(a, b); }
HWY_INLINE V mix(V a, V b, V weight) { return add(a, mul(sub(b, a), weight)); }
HWY_INLINE V clamp01(V a) { return hn::Min(hn::Max(a, zero()), set(1)); }
HWY_INLINE V select(M mask, V yes, V no) { return hn::IfThenElse(mask, yes, no); }
HWY_INLINE bool none(M mask) { return hn::AllFalse(D(), mask); }
HWY_INLINE M mask_of(hn::Mask<DI> mask) { return hn::RebindMask(D(), mask); }
HWY_INLINE M never() { return hn::Lt(zero(), zero()); }

struct V3 {
  V x, y, z;
};
HWY_INLINE V3 set3(const Vector& v) { return {set(v.x), set(v.y), set(v.z)}; }
HWY_INLINE V3 add3(const V3& a, const V3& b) { return {add(a.x, b.x), add(a.y, b.y), add(a.z, b.z)}; }
HWY_INLINE V3 sub3(const V3& a, const V3& b) { return {sub(a.x, b.x), sub(a.y, b.y), sub(a.z, b.z)}; }
HWY_INLINE V3 scale3(const V3& a, V s) { return {mul(a.x, s), mul(a.y, s), mul(a.z, s)}; }
HWY_INLINE V3 mul3(const V3& a, const V3& b) { return {mul(a.x, b.x), mul(a.y, b.y), mul(a.z, b.z)}; }
HWY_INLINE V dot3(const V3& a, const V3& b) { return add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z)); }
HWY_INLINE V3 select3(M mask, const V3& yes, const V3& no) {
  return {select(mask, yes.x, no.x), select(mask, yes.y, no.y), select(mask, yes.z, no.z)};
}
HWY_INLINE V3 clamp3(const V3& a) { return {clamp01(a.x), clamp01(a.y), clamp01(a.z)}; }
HWY_INLINE V3 unit3(const V3& a) {
  const V length = hn::Sqrt(hn::Max(dot3(a, a), set(1e-30f)));
  return scale3(a, hn::Div(set(1), length));
}
HWY_INLINE V3 set3(const std::array<float, 3>& rgb) { return {set(rgb[0]), set(rgb[1]), set(rgb[2])}; }

// Base-2 logarithm of positive normal numbers, to 1e-6, by the series of artanh around 1.
HWY_INLINE V log2(V x) {
  const DI di;
  const I bits = hn::BitCast(di, x);
  const I shifted = hn::Sub(bits, hn::Set(di, 0x3f3504f3));  // sqrt(1/2)
  const I exponent = hn::ShiftRight<23>(shifted);
  const V m = hn::BitCast(D(), hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const V s = hn::Div(sub(m, set(1)), add(m, set(1)));
  const V q = mul(s, s);
  V series = set(2.885390082f / 9);
  series = add(mul(series, q), set(2.885390082f / 7));
  series = add(mul(series, q), set(2.885390082f / 5));
  series = add(mul(series, q), set(2.885390082f / 3));
  series = add(mul(series, q), set(2.885390082f));
  return add(hn::ConvertTo(D(), exponent), mul(series, s));
}

// 2^x for x <= 0, to a relative 1e-6; 0 far below.
HWY_INLINE V exp2_negative(V x) {
  const DI di;
  const V limited = hn::Max(x, set(-120));
  const V whole = hn::Round(limited);
  const V f = sub(limited, whole);
  V series = set(1.5403530e-4f);
  series = add(mul(series, f), set(1.3333558e-3f));
  series = add(mul(series, f), set(9.6181291e-3f));
  series = add(mul(series, f), set(5.5504109e-2f));
  series = add(mul(series, f), set(2.4022651e-1f));
  series = add(mul(series, f), set(6.9314718e-1f));
  series = add(mul(series, f), set(1));
  const I power = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, whole), hn::Set(di, 127)));
  return select(hn::Gt(x, set(-120)), mul(series, hn::BitCast(D(), power)), zero());
}

// base^exponent for a base in [0, 1] and exponent >= 0; 0^0 = 1.
HWY_INLINE V power(V base, float exponent) {
  if (exponent == 0) return set(1);
  return exp2_negative(mul(set(exponent), log2(hn::Min(hn::Max(base, set(1e-30f)), set(1)))));
}
