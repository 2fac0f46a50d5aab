module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simd_rows.hpp"
module iap.attention;
import iap.core;

namespace iap {
namespace {

constexpr int word_bits = 64;
constexpr std::size_t row_size = simd::tile + simd::padding;

}  // namespace

SignHash::SignHash(int features, int bits, std::uint64_t seed) : features_(features), bits_(bits) {
  if (features < 1 || bits < 1)
    throw Error(text("sign hash: needs at least one feature and one bit, got ", features, " features and ", bits, " bits"));
  directions_.resize(static_cast<std::size_t>(words()) * features * word_bits);
  // Projections of feature maps are members 0 and 1 of the same purpose.
  Random random({.seed = seed, .member = 2, .purpose = Purpose::projection});
  for (int b = 0; b < bits; ++b)
    for (int f = 0; f < features; ++f)
      directions_[(static_cast<std::size_t>(b / word_bits) * features + f) * word_bits + b % word_bits] =
          static_cast<float>(random.normal());
  single_.resize(static_cast<std::size_t>(features) * row_size);
  products_.resize(word_bits * row_size);
  inputs_.resize(features);
  for (int b = 0; b < word_bits; ++b) outputs_.push_back(products_.data() + b * row_size);
}

void SignHash::encode(std::span<const float> x, std::span<std::uint64_t> code) {
  if (x.size() != static_cast<std::size_t>(features_) || code.size() != static_cast<std::size_t>(words()))
    throw Error(
        text("sign hash: got ", x.size(), " features and room for ", code.size(), " words, wanted ", features_, " and ", words()));
  for (int f = 0; f < features_; ++f) single_[f * row_size] = x[f];
  encode_all(single_.data(), row_size, 1, code.data(), 1);
}

void SignHash::encode_all(const float* planes, std::size_t pitch, int count, std::uint64_t* codes, std::size_t code_pitch) {
  for (int first = 0; first < count; first += simd::tile) {
    const int size = std::min(simd::tile, count - first);
    for (int f = 0; f < features_; ++f) inputs_[f] = planes + f * pitch + first;
    for (int w = 0; w < words(); ++w) {
      const float* directions = directions_.data() + static_cast<std::size_t>(w) * features_ * word_bits;
      simd::linear(inputs_.data(), features_, directions, nullptr, word_bits, size, outputs_.data());
      std::uint64_t* out = codes + w * code_pitch + first;
      std::fill_n(out, size, 0);
      for (int b = 0; b < word_bits; ++b)
        for (int j = 0; j < size; ++j) out[j] |= static_cast<std::uint64_t>(outputs_[b][j] < 0) << b;
    }
  }
}

void hamming(const std::uint64_t* codes, std::size_t pitch, int count, std::span<const std::uint64_t> query,
             std::span<std::uint64_t> distances) {
  simd::hamming_distances(codes, pitch, static_cast<int>(query.size()), count, query.data(), distances.data());
}

}  // namespace iap
