#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

namespace {

constexpr int rows = 6, columns = 8, patch = 4;

/// Mean and deviation of (row, column) in [-1, 1] over the patches, weighted by score less the lowest score, by two plain passes.
std::vector<double> centroid(std::span<const float> scores) {
  const double lowest = *std::min_element(scores.begin(), scores.end());
  double total = 0, mean[2] = {}, square[2] = {};
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < rows * columns; ++i) {
      const double weight = scores[static_cast<std::size_t>(i)] - lowest;
      const double place[2] = {2 * (i / columns + 0.5) / rows - 1, 2 * (i % columns + 0.5) / columns - 1};
      if (pass == 0) total += weight;
      for (int k = 0; k < 2; ++k)
        pass == 0 ? mean[k] += weight * place[k] : square[k] += weight * (place[k] - mean[k]) * (place[k] - mean[k]) / total;
    }
    if (pass == 0)
      for (double& value : mean) value /= total;
  }
  return {mean[0], mean[1], std::sqrt(square[0]), std::sqrt(square[1])};
}

}  // namespace

TEST_CASE("rank's centroid is the mean and spread of all patches by their scores, one for each head") {
  for (const std::string kernel : {"relu", "hybrid"}) {
    Policy policy(config("{'kind': 'rank', 'patch': 4, 'd': 4, 'top': 2, 'heads': 2, 'kernel': '" + kernel +
                         "', 'values': ['centroid', 'position']}"),
                  image_spec(rows * patch, columns * patch), 2 * (2 * 2 + 4));
    randomise(policy, 5);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto out = act(policy, Frame(policy.observation(), seed));
      const auto views = policy.views();
      for (std::size_t head = 0; head < 2; ++head) {
        const auto expected = centroid(views[head].scores);
        for (std::size_t i = 0; i < 4; ++i) CHECK_THAT(out[head * 8 + 4 + i], WithinAbs(expected[i], 1e-5));
      }
    }
  }
}

TEST_CASE("a blank frame has its centroid in the middle") {
  Policy policy(config("{'kind': 'rank', 'patch': 4, 'd': 4, 'top': 1, 'values': 'centroid', 'position_range': 'unit'}"),
                image_spec(rows * patch, columns * patch), 4);
  randomise(policy, 6);
  Frame frame(policy.observation(), 0);
  std::ranges::fill(frame.image().bytes(), 0);
  const auto out = act(policy, frame);
  CHECK_THAT(out[0], WithinAbs(0.5, 1e-6));
  CHECK_THAT(out[1], WithinAbs(0.5, 1e-6));
}

TEST_CASE("only rank knows a centroid") {
  CHECK_THROWS_WITH(Policy(config("{'kind': 'trans', 'patch': 4, 'tokens': 1, 'values': 'centroid'}"), image_spec(32, 32), 2),
                    ContainsSubstring("option 'values' takes \"position\""));
}
