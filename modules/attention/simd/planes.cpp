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

// `pixels` are `rows` rows of which columns of one phase are a run, too: one row, or a width that the stride divides.
template <typename T>
HWY_INLINE void load_planes(const PlaneLayout& layout, const T* pixels, int first, int rows, T* scratch, float* planes) {
  const int channels = layout.channels, stride = layout.stride, total = rows * layout.width;
  const std::size_t channel_pitch = layout.channel_pitch(), phase_pitch = layout.phase_pitch();
  T* by_phase = scratch + channels * channel_pitch;
  // Where planes of rows follow one another, as those of single pixels do, they are one long row.
  const bool one_run = layout.slots == 1 && layout.step == layout.width;
  const int width = one_run ? total : layout.width;
  if (channels > 1) split_row(pixels, total * channels, total * channels, channels, scratch, channel_pitch);
  for (int channel = 0; channel < channels; ++channel) {
    const T* values = channels > 1 ? scratch + channel * channel_pitch : pixels;
    int readable = channels > 1 ? static_cast<int>(channel_pitch) : total;
    if (stride > 1) {
      split_row(values, total, readable, stride, by_phase, phase_pitch);
      values = by_phase;
      readable = static_cast<int>(phase_pitch);
    }
    for (int phase = 0; phase < layout.phases; ++phase) {
      const T* from = values + phase * phase_pitch;
      const int count = (width - phase + stride - 1) / stride, last = one_run ? 1 : rows;
      float* plane = planes + (phase * channels + channel) * layout.plane_pitch;
      for (int row = 0, slot = first % layout.slots, turn = first / layout.slots; row < last; ++row) {
        const int done = row * (width / stride);
        to_floats(from + done, count, readable - done, plane + slot * layout.slot_pitch + turn * layout.step);
        if (++slot == layout.slots) {
          slot = 0;
          ++turn;
        }
      }
    }
  }
}

template <typename T>
HWY_INLINE void load_image_rows(const PlaneLayout& layout, const T* pixels, int first, int rows, T* scratch, float* planes) {
  const int together = layout.width % layout.stride == 0 ? rows : 1;
  for (int row = 0; row < rows; row += together)
    load_planes(layout, pixels + static_cast<std::size_t>(row) * layout.width * layout.channels, first + row, together, scratch,
                planes);
}

void load_bytes(const PlaneLayout& layout, const std::uint8_t* pixels, int first, int rows, std::uint8_t* scratch, float* planes) {
  load_image_rows(layout, pixels, first, rows, scratch, planes);
}
void load_floats(const PlaneLayout& layout, const float* pixels, int first, int rows, float* scratch, float* planes) {
  load_image_rows(layout, pixels, first, rows, scratch, planes);
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

void load_rows(const PlaneLayout& layout, const std::uint8_t* pixels, int first, int rows, std::uint8_t* scratch, float* planes) {
  HWY_DYNAMIC_DISPATCH(load_bytes)(layout, pixels, first, rows, scratch, planes);
}
void load_rows(const PlaneLayout& layout, const float* pixels, int first, int rows, float* scratch, float* planes) {
  HWY_DYNAMIC_DISPATCH(load_floats)(layout, pixels, first, rows, scratch, planes);
}
void linear(const float* const* in, int inputs, const float* weights, int weight_pitch, const float* bias, int outputs, int count,
            float* const* out) {
  HWY_DYNAMIC_DISPATCH(linear_scattered)(in, inputs, weights, weight_pitch, bias, outputs, count, out);
}

}  // namespace iap::simd
#endif
