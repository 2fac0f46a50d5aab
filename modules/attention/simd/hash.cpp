#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rows.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hash.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, lanes>;

template <class Mask>
HWY_INLINE std::uint64_t bits_of(Mask mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(Floats(), mask, bytes);
  std::uint64_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

// Lanes are rows of G, so that a comparison gives a code's bits where they belong. kKeys x kVectors accumulators stay in registers,
// and the part of G for so few rows in the nearest cache.
constexpr int kVectors = 4;

/// Adds bits first ... first + kVectors * lanes - 1 of the word whose rows of G are `directions`.
template <int kKeys>
HWY_INLINE void add_bits(const float* planes, std::size_t pitch, int features, const float* directions, int first,
                         std::uint64_t* out) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  hn::Vec<Floats> sum[kKeys][kVectors];
  for (int k = 0; k < kKeys; ++k)
    for (int v = 0; v < kVectors; ++v) sum[k][v] = hn::Zero(d);
  for (int f = 0; f < features; ++f) {
    hn::Vec<Floats> direction[kVectors];
    for (int v = 0; v < kVectors; ++v) direction[v] = hn::LoadU(d, directions + f * 64 + first + v * n);
    for (int k = 0; k < kKeys; ++k) {
      const auto value = hn::Set(d, planes[f * pitch + k]);
      for (int v = 0; v < kVectors; ++v) sum[k][v] = hn::MulAdd(value, direction[v], sum[k][v]);
    }
  }
  for (int k = 0; k < kKeys; ++k)
    for (int v = 0; v < kVectors; ++v) out[k] |= bits_of(hn::Lt(sum[k][v], hn::Zero(d))) << (first + v * n);
}

void codes_of(const float* planes, std::size_t pitch, int features, int count, const float* directions, int words,
              std::uint64_t* codes, std::size_t code_pitch) {
  constexpr int keys = HWY_TARGET <= HWY_AVX3 ? 6 : 2;  // of 32 or 16 registers
  // Rows lie far apart; some keys at a time move together.
  constexpr int room = 8192, most_keys = 60;
  HWY_ALIGN float together[room];
  const int tile_keys = std::min(most_keys, room / features) / keys * keys;
  const int bits = kVectors * static_cast<int>(hn::Lanes(Floats()));
  for (int w = 0; w < words; ++w) {
    const float* of_word = directions + static_cast<std::size_t>(w) * features * 64;
    std::uint64_t* out = codes + w * code_pitch;
    std::fill_n(out, count, 0);
    for (int first_bit = 0; first_bit < 64; first_bit += bits)
      for (int first = 0, size; first < count; first += size) {
        size = std::min(tile_keys > 0 ? tile_keys : count, count - first);
        const float* rows = planes + first;
        std::size_t rows_pitch = pitch;
        if (tile_keys > 0) {
          for (int f = 0; f < features; ++f) std::memcpy(together + f * size, planes + f * pitch + first, size * sizeof(float));
          rows = together;
          rows_pitch = static_cast<std::size_t>(size);
        }
        int j = 0;
        for (; j + keys <= size; j += keys) add_bits<keys>(rows + j, rows_pitch, features, of_word, first_bit, out + first + j);
        for (; j < size; ++j) add_bits<1>(rows + j, rows_pitch, features, of_word, first_bit, out + first + j);
      }
  }
}

void distances_of(const std::uint64_t* codes, std::size_t pitch, int words, int count, const std::uint64_t* query,
                  std::uint64_t* distances) {
  const hn::CappedTag<std::uint64_t, lanes> d;
  const int n = static_cast<int>(hn::Lanes(d));
  for (int j = 0; j < count; j += 2 * n) {
    auto a = hn::Zero(d), b = hn::Zero(d);
    for (int w = 0; w < words; ++w) {
      const auto word = hn::Set(d, query[w]);
      const std::uint64_t* row = codes + w * pitch + j;
      a = hn::Add(a, hn::PopulationCount(hn::Xor(word, hn::LoadU(d, row))));
      b = hn::Add(b, hn::PopulationCount(hn::Xor(word, hn::LoadU(d, row + n))));
    }
    hn::StoreU(a, d, distances + j);
    hn::StoreU(b, d, distances + j + n);
  }
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::simd {

HWY_EXPORT(distances_of);
HWY_EXPORT(codes_of);

void sign_codes(const float* planes, std::size_t pitch, int features, int count, const float* directions, int words,
                std::uint64_t* codes, std::size_t code_pitch) {
  HWY_DYNAMIC_DISPATCH(codes_of)(planes, pitch, features, count, directions, words, codes, code_pitch);
}
void hamming_distances(const std::uint64_t* codes, std::size_t pitch, int words, int count, const std::uint64_t* query,
                       std::uint64_t* distances) {
  HWY_DYNAMIC_DISPATCH(distances_of)(codes, pitch, words, count, query, distances);
}

}  // namespace iap::simd
#endif
