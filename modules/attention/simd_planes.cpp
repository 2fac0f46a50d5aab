#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd_planes.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd_linear-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
void split_row(const T* in, int count, int parts, T* out, std::size_t pitch) {
  if (parts == 1) {
    std::memcpy(out, in, count * sizeof(T));
    return;
  }
  const hn::CappedTag<T, 16> d;
  const int n = static_cast<int>(hn::Lanes(d)), whole = parts <= 4 ? count / (n * parts) * n : 0;
  for (int t = 0; t < whole; t += n) {
    hn::Vec<decltype(d)> a, b, c, e;
    if (parts == 2) {
      hn::LoadInterleaved2(d, in + t * 2, a, b);
    } else if (parts == 3) {
      hn::LoadInterleaved3(d, in + t * 3, a, b, c);
      hn::StoreU(c, d, out + 2 * pitch + t);
    } else {
      hn::LoadInterleaved4(d, in + t * 4, a, b, c, e);
      hn::StoreU(c, d, out + 2 * pitch + t);
      hn::StoreU(e, d, out + 3 * pitch + t);
    }
    hn::StoreU(a, d, out + t);
    hn::StoreU(b, d, out + pitch + t);
  }
  for (int k = 0; k < parts; ++k)
    for (int t = whole; t * parts + k < count; ++t) out[k * pitch + t] = in[t * parts + k];
}

void split_bytes(const std::uint8_t* in, int count, int parts, std::uint8_t* out, std::size_t pitch) {
  split_row(in, count, parts, out, pitch);
}
void split_floats(const float* in, int count, int parts, float* out, std::size_t pitch) { split_row(in, count, parts, out, pitch); }

void widen_row(const std::uint8_t* in, int count, float* out) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const hn::Rebind<std::uint8_t, Floats> db;
  const int n = static_cast<int>(hn::Lanes(d));
  int i = 0;
  for (; i + n <= count; i += n) hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(db, in + i))), d, out + i);
  for (; i < count; ++i) out[i] = static_cast<float>(in[i]);
}

void linear_scattered(const float* const* in, int inputs, const float* weights, const float* bias, int outputs, int count,
                      float* out, std::size_t pitch) {
  linear_rows(Scattered{in}, inputs, weights, bias, outputs, count, out, pitch);
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::simd {

HWY_EXPORT(split_bytes);
HWY_EXPORT(split_floats);
HWY_EXPORT(widen_row);
HWY_EXPORT(linear_scattered);

void split(const std::uint8_t* in, int count, int parts, std::uint8_t* out, std::size_t pitch) {
  HWY_DYNAMIC_DISPATCH(split_bytes)(in, count, parts, out, pitch);
}
void split(const float* in, int count, int parts, float* out, std::size_t pitch) {
  HWY_DYNAMIC_DISPATCH(split_floats)(in, count, parts, out, pitch);
}
void widen(const std::uint8_t* in, int count, float* out) { HWY_DYNAMIC_DISPATCH(widen_row)(in, count, out); }
void linear(const float* const* in, int inputs, const float* weights, const float* bias, int outputs, int count, float* out,
            std::size_t pitch) {
  HWY_DYNAMIC_DISPATCH(linear_scattered)(in, inputs, weights, bias, outputs, count, out, pitch);
}

}  // namespace iap::simd
#endif
