module;
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
module iap.core;

namespace iap {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl_0 = 0x9E3779B9, weyl_1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = multiplier_0 * counter[0];
    const std::uint64_t product_1 = multiplier_1 * counter[2];
    counter = {static_cast<std::uint32_t>(product_1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product_1),
               static_cast<std::uint32_t>(product_0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product_0)};
    key = {key[0] + weyl_0, key[1] + weyl_1};
  }
  return counter;
}

namespace {

std::array<std::uint32_t, 4> block_of(const StreamKey& key, std::uint32_t block) {
  const std::uint32_t tag = key.episode << 8 | static_cast<std::uint32_t>(key.purpose);
  return philox({block, key.iteration, key.member, tag},
                {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)});
}

}  // namespace

std::uint32_t Random::bits() {
  if (used_ == words_.size()) {
    words_ = block_of(key_, block_++);
    used_ = 0;
  }
  return words_[used_++];
}

double Random::uniform() {
  const std::uint64_t high = bits() >> 5, low = bits() >> 6;
  return static_cast<double>(high << 26 | low) * 0x1.0p-53;
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

std::uint32_t Random::below(std::uint32_t count) {
  const std::uint32_t threshold = -count % count;
  for (;;) {
    const std::uint64_t product = std::uint64_t{bits()} * count;
    if (static_cast<std::uint32_t>(product) >= threshold) return static_cast<std::uint32_t>(product >> 32);
  }
}

void Random::fill_normal(std::span<float> out) {
  for (float& value : out) value = static_cast<float>(normal());
}

std::uint64_t derive_seed(StreamKey key) {
  // The last block of the stream, which no sequential reader reaches.
  const auto words = block_of(key, 0xFFFFFFFF);
  return std::uint64_t{words[0]} << 32 | words[1];
}

}  // namespace iap
