#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cases.hpp"

namespace {

// Discs of random colour on a gradient: neighbouring patches resemble each other, as in a rendered frame.
Image picture(std::uint64_t seed) {
  Image image({48, 64, 3});
  Random random(seed);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      for (int channel = 0; channel < 3; ++channel)
        image.bytes()[(y * 64 + x) * 3 + channel] = static_cast<std::uint8_t>(60 + y + x / 2 + 20 * channel);
  for (int disc = 0; disc < 12; ++disc) {
    const double row = random.uniform(0, 48), column = random.uniform(0, 64), radius = random.uniform(3, 10);
    const std::array colour = {random.below(256), random.below(256), random.below(256)};
    for (int y = 0; y < 48; ++y)
      for (int x = 0; x < 64; ++x)
        for (int channel = 0; channel < 3 && std::hypot(y - row, x - column) < radius; ++channel)
          image.bytes()[(y * 64 + x) * 3 + channel] = static_cast<std::uint8_t>(colour[channel]);
  }
  return image;
}

// Share of the exact top 10 that random features find, over pictures, heads and projections.
double overlap(const char* kernel, int m) {
  double found = 0;
  const int trials = 40, top = 10;
  for (int trial = 0; trial < trials; ++trial) {
    Case c = make_case({48, 64, 3}, 2, 2, 4, false, 0.6F, 70 + trial);
    c.image = picture(trial);
    const auto top_of = [&](bool brute_force) {
      const auto scores = scores_of(
          c,
          Config::Map{{"kernel", kernel}, {"m", m}, {"input", "normalised"}, {"feature_seed", trial}, {"brute_force", brute_force}},
          -0.5F);
      std::vector<int> selected(top);
      select_top(scores, selected);
      return selected;
    };
    const auto exact = top_of(true);
    for (const int patch : top_of(false)) found += static_cast<double>(std::ranges::count(exact, patch));
  }
  return found / trials / top;
}

}  // namespace

TEST_CASE("more projections find more of the exact top patches") {
  std::printf("share of the exact top 10 of 768 patches found with m projections, normalised inputs, d = 4, r = 5\n%6s", "m");
  const std::array kernels = {"exp", "trig", "hybrid"};
  for (const char* kernel : kernels) std::printf(" %7s", kernel);
  std::printf("\n");
  std::array<double, 3> few{}, many{};
  for (const int m : {4, 10, 32, 100, 400}) {
    std::printf("%6d", m);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      many[k] = overlap(kernels[k], m);
      if (m == 4) few[k] = many[k];
      std::printf(" %7.2f", many[k]);
    }
    std::printf("\n");
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) CHECK(many[k] > few[k]);
}
