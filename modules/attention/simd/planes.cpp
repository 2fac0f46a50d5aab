#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "planes.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd_linear-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Writes `parts` vectors at distance `pitch`.
template <class D, typename T>
HWY_INLINE void split_vectors(D d, const T* in, int parts, T* out, std::size_t pitch) {
  hn::Vec<D> a, b, c, e;
  if (parts == 2) {
    hn::LoadInterleaved2(d, in, a, b);
  } else if (parts == 3) {
    hn::LoadInterleaved3(d, in, a, b, c);
    hn::StoreU(c, d, out + 2 * pitch);
  } else {
    hn::LoadInterleaved4(d, in, a, b, c, e);
    hn::StoreU(c, d, out + 2 * pitch);
    hn::StoreU(e, d, out + 3 * pitch);
  }
  hn::StoreU(a, d, out);
  hn::StoreU(b, d, out + pitch);
}

// out[k * pitch + t] = in[t * parts + k] for every t * parts + k < count. Where `readable` values may be read from `in`, the last
// ones need no detour.
template <typename T>
void split_row(const T* in, int count, int readable, int parts, T* out, std::size_t pitch) {
  if (parts > 4) {
    for (int k = 0; k < parts; ++k)
      for (int t = 0; t * parts + k < count; ++t) out[k * pitch + t] = in[t * parts + k];
    return;
  }
  int t = 0;
  // Long rows of bytes fill the widest vectors.
  const hn::ScalableTag<T> wide;
  const int most = static_cast<int>(hn::Lanes(wide));
  for (; (t + most) * parts <= count; t += most) split_vectors(wide, in + t * parts, parts, out + t, pitch);
  const hn::CappedTag<T, lanes> d;
  const int n = static_cast<int>(hn::Lanes(d));
  for (; t * parts < count && (t + n) * parts <= readable; t += n) split_vectors(d, in + t * parts, parts, out + t, pitch);
  // What is left goes through a copy, so that nothing past the input is read.
  if (t * parts < count) {
    T rest[4 * lanes] = {};
    std::memcpy(rest, in + t * parts, (count - t * parts) * sizeof(T));
    split_vectors(d, rest, parts, out + t, pitch);
  }
}

void to_floats(const float* in, int count, int, float* out) { std::memcpy(out, in, count * sizeof(float)); }

void to_floats(const std::uint8_t* in, int count, int readable, float* out) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const hn::Rebind<std::uint8_t, Floats> db;
  const int n = static_cast<int>(hn::Lanes(d));
  const auto convert = [&](const std::uint8_t* from, float* to)
                           HWY_ATTR { hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(db, from))), d, to); };
  int i = 0;
  for (; i < count && i + n <= readable; i += n) convert(in + i, out + i);
  if (i < count) {
    std::uint8_t rest[lanes] = {};
    std::memcpy(rest, in + i, count - i);
    convert(rest, out + i);
  }
}

template <typename T>
HWY_INLINE void load_planes(const RowLayout& layout, const T* row, T* scratch, float* planes) {
  const std::size_t channel_pitch = layout.channel_pitch();
  const int width = layout.width, total = width * layout.channels, stride = layout.stride;
  T* by_phase = scratch + layout.channels * channel_pitch;
  if (layout.channels > 1) split_row(row, total, total, layout.channels, scratch, channel_pitch);
  for (int channel = 0; channel < layout.channels; ++channel) {
    const T* values = row;
    int readable = total;
    if (layout.channels > 1) {
      values = scratch + channel * channel_pitch;
      readable = static_cast<int>(channel_pitch);
    }
    if (stride > 1) {
      split_row(values, width, readable, stride, by_phase, layout.plane_pitch);
      readable = static_cast<int>(layout.plane_pitch);
    }
    for (int phase = 0; phase < layout.phases; ++phase)
      to_floats(stride > 1 ? by_phase + phase * layout.plane_pitch : values, (width - phase + stride - 1) / stride, readable,
                planes + (phase * layout.channels + channel) * layout.plane_pitch);
  }
}

void load_bytes(const RowLayout& layout, const std::uint8_t* row, std::uint8_t* scratch, float* planes) {
  load_planes(layout, row, scratch, planes);
}
void load_floats(const RowLayout& layout, const float* row, float* scratch, float* planes) {
  load_planes(layout, row, scratch, planes);
}

void linear_scattered(const float* const* in, int inputs, const float* weights, int weight_pitch, const float* bias, int outputs,
                      int count, float* const* out) {
  linear_rows(Scattered<const float>{in}, inputs, weights, weight_pitch, bias, outputs, count, Scattered<float>{out});
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::simd {

HWY_EXPORT(load_bytes);
HWY_EXPORT(load_floats);
HWY_EXPORT(linear_scattered);

void load_row(const RowLayout& layout, const std::uint8_t* row, std::uint8_t* scratch, float* planes) {
  HWY_DYNAMIC_DISPATCH(load_bytes)(layout, row, scratch, planes);
}
void load_row(const RowLayout& layout, const float* row, float* scratch, float* planes) {
  HWY_DYNAMIC_DISPATCH(load_floats)(layout, row, scratch, planes);
}
void linear(const float* const* in, int inputs, const float* weights, int weight_pitch, const float* bias, int outputs, int count,
            float* const* out) {
  HWY_DYNAMIC_DISPATCH(linear_scattered)(in, inputs, weights, weight_pitch, bias, outputs, count, out);
}

}  // namespace iap::simd
#endif
