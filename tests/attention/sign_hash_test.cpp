#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "hwy/targets.h"
import iap.core;
import iap.attention;

using namespace iap;

namespace {

int distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  int bits = 0;
  for (std::size_t w = 0; w < a.size(); ++w) bits += std::popcount(a[w] ^ b[w]);
  return bits;
}

}  // namespace

TEST_CASE("signs differ with probability angle / pi") {
  const int features = 12, bits = 20000;
  for (const double t : {0.02, 0.1, 0.25, 0.5, 0.75, 0.98}) {
    const double angle = t * std::numbers::pi;
    // x along (1, 1, ..., 1), y at that angle from it in the plane of x and (1, -1, 1, -1, ...); lengths must not matter.
    std::vector<float> x, y;
    for (int f = 0; f < features; ++f) {
      x.push_back(3);
      y.push_back(static_cast<float>(0.2 * (std::cos(angle) + (f % 2 ? -1 : 1) * std::sin(angle))));
    }
    for (const std::uint64_t seed : {1, 2, 3}) {
      SignHash hash(features, bits, seed);
      std::vector<std::uint64_t> a(hash.words()), b(hash.words());
      hash.encode(x, a);
      hash.encode(y, b);
      const double z = (distance(a, b) - bits * t) / std::sqrt(bits * t * (1 - t));
      INFO("t " << t << " seed " << seed);
      CHECK(std::abs(z) < 4);
    }
  }
}

TEST_CASE("bits of a code are balanced, differ between seeds and repeat for a seed") {
  const std::vector<float> x = {0.3F, -1, 2, 0.5F, 0.1F};
  SignHash one(5, 20000, 1), again(5, 20000, 1), two(5, 20000, 2);
  std::vector<std::uint64_t> a(one.words()), b(a), c(a), zero(a.size());
  one.encode(x, a);
  again.encode(x, b);
  two.encode(x, c);
  CHECK(a == b);
  const double deviation = std::sqrt(20000 * 0.25);
  CHECK(std::abs(distance(a, zero) - 10000) < 4 * deviation);
  CHECK(std::abs(distance(a, c) - 10000) < 4 * deviation);
}

TEST_CASE("opposite vectors differ in every bit, zero counts as positive, and spare bits stay 0") {
  for (const int bits : {1, 63, 64, 65, 130}) {
    SignHash hash(3, bits, 4);
    CHECK(hash.words() == (bits + 63) / 64);
    std::vector<std::uint64_t> a(hash.words()), b(a), c(a);
    hash.encode(std::vector<float>{1, 2, 3}, a);
    hash.encode(std::vector<float>{-1, -2, -3}, b);
    hash.encode(std::vector<float>{0, 0, 0}, c);
    CHECK(distance(a, b) == bits);
    for (const std::uint64_t word : c) CHECK(word == 0);
  }
}

TEST_CASE("codes and distances of many keys equal those of one key at a time, on every instruction set") {
  for (const auto& [count, features] : {std::pair{1, 7}, {5, 7}, {16, 1}, {63, 7}, {64, 300}, {65, 7}, {200, 90}, {11, 9000}})
    for (const int bits : {32, 64, 200}) {
      const std::size_t pitch = static_cast<std::size_t>(count) + key_padding;
      std::vector<float> planes(pitch * features);
      Random random(5);
      random.fill_normal(planes);
      SignHash hash(features, bits, 6);
      std::vector<std::uint64_t> codes(pitch * hash.words()), distances(pitch), query(hash.words()), code(query);
      std::vector<float> z(features), row(features);
      random.fill_normal(z);
      for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
        hwy::SetSupportedTargetsForTest(left & -left);
        std::ranges::fill(distances, 0);
        hash.encode_all(planes.data(), pitch, count, codes.data(), pitch);
        hash.encode(z, query);
        hamming(codes.data(), pitch, count, query, distances);
        for (int j = 0; j < count; ++j) {
          for (int f = 0; f < features; ++f) row[f] = planes[f * pitch + j];
          hash.encode(row, code);
          for (int w = 0; w < hash.words(); ++w) REQUIRE(codes[w * pitch + j] == code[w]);
          REQUIRE(static_cast<int>(distances[j]) == distance(code, query));
        }
        hwy::SetSupportedTargetsForTest(0);
      }
    }
}

// Hidden: run with the tag [bench]. Microseconds for the distances of 19200 codes of 256 bits, the least of many calls.
TEST_CASE("time of distances by instruction set", "[.bench]") {
  const int count = 19200, words = 4;
  const std::size_t pitch = count + key_padding;
  std::vector<std::uint64_t> codes(pitch * words), distances(pitch), query(words);
  Random random(7);
  for (auto& word : codes) word = (std::uint64_t{random.bits()} << 32) | random.bits();
  const auto least = [&](const auto& body) {
    double best = 1e9;
    for (int call = 0; call < 2000; ++call) {
      const auto start = std::chrono::steady_clock::now();
      body();
      best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  std::printf("%-12s %8.1f\n", "std::popcount", least([&] {
                for (int j = 0; j < count; ++j) {
                  distances[j] = 0;
                  for (int w = 0; w < words; ++w)
                    distances[j] += static_cast<std::uint64_t>(std::popcount(codes[w * pitch + j] ^ query[w]));
                }
              }));
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    std::printf("%-12s %8.1f\n", hwy::TargetName(left & -left),
                least([&] { hamming(codes.data(), pitch, count, query, distances); }));
    hwy::SetSupportedTargetsForTest(0);
  }
  CHECK(distances[0] > 0);
}
