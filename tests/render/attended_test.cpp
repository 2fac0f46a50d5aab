#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>
import iap.core;
import iap.render;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

Image noise(int height, int width, std::uint64_t seed) {
  Random random(seed);
  Image image({height, width, 3, PixelType::uint8});
  for (auto& byte : image.bytes()) byte = static_cast<std::uint8_t>(random.below(256));
  return image;
}

int luma(const Rgb8& colour) { return 77 * colour[0] + 150 * colour[1] + 29 * colour[2]; }

}  // namespace

TEST_CASE("patches take on a colour by their opacity") {
  const Image before = noise(20, 24, 1);
  Image image = before;
  const std::array selected{7, 2};
  const std::array opacities{1.0F, 0.25F};
  overlay_patches(image, {.rows = 4, .columns = 5, .patch = 5, .stride = 4}, selected, opacities, {200, 100, 0});
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 24; ++x)
      for (int channel = 0; channel < 3; ++channel) {
        const std::array<int, 3> colour{200, 100, 0};
        const std::size_t at = 3 * (static_cast<std::size_t>(y) * 24 + x) + channel;
        double truth = before.bytes()[at];
        // Patch 7 is row 1, column 2; patch 2 is row 0, column 2. They overlap in row 4 of the image.
        if (y >= 4 && y < 9 && x >= 8 && x < 13) truth = colour[channel];
        if (y < 5 && x >= 8 && x < 13) truth += 0.25 * (colour[channel] - truth);
        REQUIRE(std::abs(image.bytes()[at] - truth) <= 0.51);
      }
  const std::array one{1.0F};
  CHECK_THROWS_MATCHES(overlay_patches(image, {4, 5, 5, 4}, selected, one, {}), Error,
                       MessageMatches(ContainsSubstring("1 opacities")));
  const std::array outside{19};
  CHECK_THROWS_MATCHES(overlay_patches(image, {4, 5, 5, 5}, outside, one, {}), Error,
                       MessageMatches(ContainsSubstring("patch 19")));
}

TEST_CASE("opacity says how important a patch is") {
  const std::array scores{0.0F, 5.0F, 1.0F, 2.0F};
  const std::array selected{1, 3, 2};
  const auto opacities = importance_opacities(scores, selected);
  CHECK(opacities == std::vector<float>{0.75F, 0.25F + 0.5F * (2 - 1) / (5 - 1), 0.25F});
  const std::array equal{1.0F, 1.0F, 1.0F, 1.0F};
  CHECK(importance_opacities(equal, selected) == std::vector<float>{0.75F, 0.5F, 0.25F});
  const std::array single{2};
  CHECK(importance_opacities(scores, single) == std::vector<float>{0.75F});
  CHECK(importance_opacities(scores, {}).empty());
}

TEST_CASE("a heat map shows at each pixel the mean of the patches over it") {
  for (const PatchPlaces& places : {PatchPlaces{6, 7, 3, 3}, PatchPlaces{5, 6, 5, 3}, PatchPlaces{3, 3, 2, 6}}) {
    Random random(3);
    std::vector<float> scores(static_cast<std::size_t>(places.rows) * places.columns);
    for (auto& score : scores) score = static_cast<float>(random.normal());
    scores[4] = std::numeric_limits<float>::quiet_NaN();
    const Image before = noise(20, 24, 2);
    Image image = before;
    overlay_scores(image, places, scores);
    float low = std::numeric_limits<float>::infinity(), high = -low;
    for (const float score : scores)
      if (std::isfinite(score)) low = std::min(low, score), high = std::max(high, score);
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 24; ++x) {
        double sum = 0;
        int count = 0;
        for (int i = 0; i < places.rows * places.columns; ++i) {
          const int top = i / places.columns * places.stride, left = i % places.columns * places.stride;
          if (y < top || y >= top + places.patch || x < left || x >= left + places.patch) continue;
          sum += std::isfinite(scores[i]) ? (scores[i] - low) / (high - low) : 0;
          ++count;
        }
        const auto* old = &before.bytes()[3 * (static_cast<std::size_t>(y) * 24 + x)];
        const double grey = 0.299 * old[0] + 0.587 * old[1] + 0.114 * old[2];
        const Rgb8 colour = heat_colour(count > 0 ? sum / count : 0);
        for (int channel = 0; channel < 3; ++channel) {
          const double truth = count > 0 ? grey + 0.62 * (colour[channel] - grey) : grey;
          REQUIRE(std::abs(image.bytes()[3 * (static_cast<std::size_t>(y) * 24 + x) + channel] - truth) <= 2);
        }
      }
  }
  Image image = noise(20, 24, 2);
  const std::vector<float> scores(42);
  CHECK_THROWS_MATCHES(overlay_scores(image, {6, 6, 3, 3}, scores), Error,
                       MessageMatches(ContainsSubstring("42 scores for 6 x 6")));
  CHECK_THROWS_MATCHES(overlay_scores(image, {7, 6, 3, 3}, scores), Error, MessageMatches(ContainsSubstring("do not lie")));
  Image grey({20, 24, 1, PixelType::uint8});
  CHECK_THROWS_MATCHES(overlay_scores(grey, {6, 7, 3, 3}, scores), Error, MessageMatches(ContainsSubstring("8-bit RGB")));
}

TEST_CASE("a heat map's colours become lighter throughout") {
  int before = -1;
  for (int i = 0; i <= 200; ++i) {
    const int now = luma(heat_colour(i / 200.0));
    CHECK(now >= before);
    before = now;
  }
  CHECK(heat_colour(-3) == heat_colour(0));
  CHECK(heat_colour(7) == heat_colour(1));
  CHECK(luma(heat_colour(1)) > luma(heat_colour(0)) + 200 * 256);
}
