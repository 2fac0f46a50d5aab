module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attention/simd/rows.hpp"
module iap.attention;
import iap.core;

namespace iap {
namespace {

constexpr int word_bits = 64;

}  // namespace

SignHash::SignHash(int features, int bits, std::uint64_t seed) : features_(features), bits_(bits) {
  if (features < 1 || bits < 1)
    throw Error(text("sign hash: needs at least one feature and one bit, got ", features, " features and ", bits, " bits"));
  check_memory("sign hash: what it keeps", bytes(features, bits));
  directions_.resize(static_cast<std::size_t>(words()) * features * word_bits);
  // Projections of feature maps are members 0 and 1 of the same purpose.
  Random random({.seed = seed, .member = 2, .purpose = Purpose::projection});
  constexpr std::size_t work = 16;  // of a random number
  Looks looks;
  for (int b = 0; b < bits; ++b) {
    if (looks.due(work * features)) check_interrupt();
    for (int f = 0; f < features; ++f)
      directions_[(static_cast<std::size_t>(b / word_bits) * features + f) * word_bits + b % word_bits] =
          static_cast<float>(random.normal());
  }
}

double SignHash::bytes(int features, int bits) {
  return sizeof(float) * static_cast<double>(words_of(bits)) * features * word_bits;
}

void SignHash::encode(std::span<const float> x, std::span<std::uint64_t> code) const {
  if (x.size() != static_cast<std::size_t>(features_) || code.size() != static_cast<std::size_t>(words()))
    throw Error(
        text("sign hash: got ", x.size(), " features and room for ", code.size(), " words, wanted ", features_, " and ", words()));
  encode_all(x.data(), 1, 1, code.data(), 1);
}

void SignHash::encode_all(const float* planes, std::size_t pitch, int count, std::uint64_t* codes, std::size_t code_pitch) const {
  const auto some = static_cast<int>(std::min<std::size_t>(std::max(count, 1), things_between_looks(directions_.size())));
  for (int first = 0; first < count; first += some) {
    check_interrupt();
    simd::sign_codes(planes + first, pitch, features_, std::min(some, count - first), directions_.data(), words(), codes + first,
                     code_pitch);
  }
}

void hamming(const std::uint64_t* codes, std::size_t pitch, int count, std::span<const std::uint64_t> query,
             std::span<std::uint64_t> distances) {
  simd::hamming_distances(codes, pitch, static_cast<int>(query.size()), count, query.data(), distances.data());
}

}  // namespace iap
