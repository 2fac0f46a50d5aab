#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

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

// Where the planes of row after row begin.
class RowPlace {
 public:
  RowPlace(const PlaneLayout& layout, int row)
      : layout_(layout), slot_(row % layout.slots), offset_(static_cast<std::size_t>(row / layout.slots) * layout.step) {}
  std::size_t operator*() const { return slot_ * layout_.slot_pitch + offset_; }
  void operator++() {
    if (++slot_ < layout_.slots) return;
    slot_ = 0;
    offset_ += layout_.step;
  }

 private:
  const PlaneLayout& layout_;
  int slot_;
  std::size_t offset_;
};

// Where planes of rows follow one another, as those of single pixels do, they are one long row.
bool one_run(const PlaneLayout& layout) { return layout.slots == 1 && layout.step == layout.width; }

// `pixels` are `rows` rows of which columns of one phase are a run, too: one row, or a width that the stride divides.
template <typename T>
HWY_INLINE void load_planes(const PlaneLayout& layout, const T* pixels, int first, int rows, T* scratch, float* planes) {
  const int channels = layout.channels, stride = layout.stride, total = rows * layout.width;
  const std::size_t channel_pitch = layout.channel_pitch(), phase_pitch = layout.phase_pitch();
  T* by_phase = scratch + channels * channel_pitch;
  const int width = one_run(layout) ? total : layout.width;
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
      const int count = (width - phase + stride - 1) / stride;
      float* plane = planes + (phase * channels + channel) * layout.plane_pitch;
      RowPlace place(layout, first);
      for (int left = total / width, done = 0; left > 0; --left, done += width / stride, ++place)
        to_floats(from + done, count, readable - done, plane + *place);
    }
  }
}

// Byte `kByte` of each word.
template <int kByte, class D>
HWY_INLINE hn::Vec<D> byte_of(D d, hn::Vec<D> words) {
  using Word = hn::TFromD<D>;
  constexpr int last = sizeof(Word) - 1;
  auto shifted = words;
  if constexpr (kByte > 0) shifted = hn::ShiftRight<8 * kByte>(words);
  if constexpr (kByte == last)
    return shifted;
  else
    return hn::And(shifted, hn::Set(d, Word{255}));
}

// The first `count` of `values`, all below 256, and those that share a vector of floats with them.
template <class D>
HWY_INLINE void store_floats(D d, hn::Vec<D> values, int count, float* out) {
  const Floats floats;
  const hn::RebindToSigned<Floats> integers;
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
    hn::StoreU(hn::ConvertTo(floats, hn::BitCast(integers, values)), floats, out);
  } else if constexpr (hn::MaxLanes(d) == hn::MaxLanes(floats)) {
    hn::StoreU(hn::ConvertTo(floats, hn::PromoteTo(integers, values)), floats, out);
  } else {
    const hn::Half<D> half;
    const int n = static_cast<int>(hn::Lanes(half));
    store_floats(half, hn::LowerHalf(half, values), count, out);
    if (count > n) store_floats(half, hn::UpperHalf(half, values), count - n, out + n);
  }
}

template <int kByte = 0, class D>
HWY_INLINE void store_bytes(D d, hn::Vec<D> words, int kept, int count, float* out, std::size_t pitch) {
  constexpr int bytes = sizeof(hn::TFromD<D>);
  if constexpr (kByte < bytes) {
    if (kByte >= kept) return;
    store_floats(d, byte_of<kByte>(d, words), count, out + kByte * pitch);
    store_bytes<kByte + 1>(d, words, kept, count, out, pitch);
  }
}

// out[k * pitch + t] = byte k < kept of group t < count, of kParts words each; reads nothing past `readable` bytes.
template <typename Word, int kParts>
HWY_INLINE void spread_words(const std::uint8_t* in, int count, std::size_t readable, int kept, float* out, std::size_t pitch) {
  const hn::Repartition<Word, Floats> d;
  constexpr std::size_t group = kParts * sizeof(Word);
  const int n = static_cast<int>(hn::Lanes(d));
  std::uint8_t rest[kParts * lanes * sizeof(float)] = {};
  for (int t = 0; t < count; t += n) {
    const std::uint8_t* from = in + t * group;
    if ((t + n) * group > readable) {
      std::memcpy(rest, from, readable - t * group);
      from = rest;
    }
    const auto* words = reinterpret_cast<const Word*>(from);
    hn::Vec<decltype(d)> part[4];
    if constexpr (kParts == 1) part[0] = hn::LoadU(d, words);
    if constexpr (kParts == 2) hn::LoadInterleaved2(d, words, part[0], part[1]);
    if constexpr (kParts == 3) hn::LoadInterleaved3(d, words, part[0], part[1], part[2]);
    if constexpr (kParts == 4) hn::LoadInterleaved4(d, words, part[0], part[1], part[2], part[3]);
    for (int w = 0, first = 0; w < kParts; ++w, first += sizeof(Word))
      store_bytes(d, part[w], kept - first, count - t, out + first * pitch + t, pitch);
  }
}

template <typename Word>
void spread(int parts, const std::uint8_t* in, int count, std::size_t readable, int kept, float* out, std::size_t pitch) {
  if (parts == 1)
    spread_words<Word, 1>(in, count, readable, kept, out, pitch);
  else if (parts == 2)
    spread_words<Word, 2>(in, count, readable, kept, out, pitch);
  else if (parts == 3)
    spread_words<Word, 3>(in, count, readable, kept, out, pitch);
  else
    spread_words<Word, 4>(in, count, readable, kept, out, pitch);
}

// The widest words that a stride's bytes consist of.
int word_size(int bytes) {
  if (std::endian::native != std::endian::little) return 1;
  return bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

// Channels and phases at once, without scratch memory: byte k of a stride is what plane k holds of it.
void load_words(const PlaneLayout& layout, const std::uint8_t* pixels, int first, int rows, float* planes) {
  const int group = layout.stride * layout.channels, word = word_size(group), kept = layout.phases * layout.channels;
  const int run = one_run(layout) ? rows : 1, columns = (run * layout.width + layout.stride - 1) / layout.stride;
  const auto load = word == 4 ? spread<std::uint32_t> : word == 2 ? spread<std::uint16_t> : spread<std::uint8_t>;
  const std::size_t row_bytes = static_cast<std::size_t>(run) * layout.width * layout.channels;
  std::size_t readable = static_cast<std::size_t>(rows) * layout.width * layout.channels;
  RowPlace place(layout, first);
  for (int row = 0; row < rows; row += run, pixels += row_bytes, readable -= row_bytes, ++place)
    load(group / word, pixels, columns, readable, kept, planes + *place, layout.plane_pitch);
}

template <typename T>
HWY_INLINE void load_image_rows(const PlaneLayout& layout, const T* pixels, int first, int rows, T* scratch, float* planes) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    const int group = layout.stride * layout.channels;
    if (group <= 4 * word_size(group)) return load_words(layout, pixels, first, rows, planes);
  }
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

void replace_scattered(const float* const* in, int inputs, float value, float slack, const float* bias, int outputs, int count,
                       float* const* out) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  const auto wanted = hn::Set(d, value), most = hn::Set(d, slack);
  for (int j = 0; j < count; j += n) {
    auto constant = hn::FirstN(d, count - j);
    for (int v = 0; v < inputs && !hn::AllFalse(d, constant); ++v)
      constant = hn::And(constant, hn::Le(hn::Abs(hn::Sub(hn::LoadU(d, in[v] + j), wanted)), most));
    if (hn::AllFalse(d, constant)) continue;
    for (int o = 0; o < outputs; ++o)
      hn::StoreU(hn::IfThenElse(constant, hn::Set(d, bias[o]), hn::LoadU(d, out[o] + j)), d, out[o] + j);
  }
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::simd {

HWY_EXPORT(load_bytes);
HWY_EXPORT(load_floats);
HWY_EXPORT(linear_scattered);
HWY_EXPORT(replace_scattered);

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
void replace_constant(const float* const* in, int inputs, float value, float slack, const float* bias, int outputs, int count,
                      float* const* out) {
  HWY_DYNAMIC_DISPATCH(replace_scattered)(in, inputs, value, slack, bias, outputs, count, out);
}

}  // namespace iap::simd
#endif
