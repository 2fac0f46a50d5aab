#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
import iap.core;

using namespace iap;

TEST_CASE("philox reproduces Random123's known answers") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("streams differ in every part of their key and repeat themselves") {
  const StreamKey base{.seed = 7, .iteration = 3, .member = 2, .episode = 1, .purpose = Purpose::perturbation};
  const auto first = [](StreamKey key) { return Random(key).bits(); };
  CHECK(first(base) == first(base));
  for (StreamKey other : {StreamKey{8, 3, 2, 1, Purpose::perturbation}, StreamKey{7, 4, 2, 1, Purpose::perturbation},
                          StreamKey{7, 3, 3, 1, Purpose::perturbation}, StreamKey{7, 3, 2, 0, Purpose::perturbation},
                          StreamKey{7, 3, 2, 1, Purpose::environment}})
    CHECK(first(base) != first(other));
}

TEST_CASE("normal draws have the moments of a standard normal") {
  Random random(11);
  const int draws = 200000;
  double sum = 0, square = 0, fourth = 0;
  for (int i = 0; i < draws; ++i) {
    const double x = random.normal();
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
  }
  CHECK(std::abs(sum / draws) * std::sqrt(draws) < 4);
  CHECK(std::abs(square / draws - 1) * std::sqrt(draws / 2.0) < 4);
  CHECK(std::abs(fourth / draws - 3) * std::sqrt(draws / 96.0) < 4);
}

TEST_CASE("below is uniform") {
  Random random(12);
  std::array<int, 7> counts{};
  const int draws = 70000;
  for (int i = 0; i < draws; ++i) ++counts[random.below(7)];
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 10000.0) * (count - 10000.0) / 10000.0;
  CHECK(chi_square < 22.5);  // the 99.9% point with 6 degrees of freedom
}

TEST_CASE("below is uniform where every fourth word has to be drawn again") {
  Random random(12);
  // Without that, of the 2^32 words two would make every third of 3 * 2^30 numbers, and one each of the others.
  std::array<int, 3> counts{};
  for (int i = 0; i < 3000; ++i) ++counts[random.below(3U << 30) % 3];
  for (const int count : counts) CHECK(std::abs(count - 1000) < 120);
}
