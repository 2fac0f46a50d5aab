#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
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
  // Places beyond 2^31.
  const std::array far{1024}, further{2048};
  for (const std::span<const int> chosen : {std::span<const int>(far), std::span<const int>(further)})
    CHECK_THROWS_MATCHES(overlay_patches(image, {.rows = 1 << 15, .columns = 1, .patch = 1, .stride = 1 << 21}, chosen, one, {}),
                         Error, MessageMatches(ContainsSubstring("does not lie on an image")));
}

TEST_CASE("a patch that is named twice takes on its colour once") {
  const Image before = noise(10, 10, 4);
  Image once = before, twice = before;
  overlay_patches(once, {.rows = 2, .columns = 2, .patch = 5, .stride = 5}, std::array{3}, std::array{0.5F}, {255, 255, 255});
  overlay_patches(twice, {.rows = 2, .columns = 2, .patch = 5, .stride = 5}, std::array{3, 3}, std::array{0.5F, 0.5F},
                  {255, 255, 255});
  CHECK(std::ranges::equal(once.bytes(), twice.bytes()));
  CHECK_FALSE(std::ranges::equal(once.bytes(), before.bytes()));
}

TEST_CASE("opacity says how important a patch is") {
  const std::array scores{0.0F, 5.0F, 1.0F, 2.0F};
  const std::array selected{1, 3, 2};
  const auto opacities = importance_opacities(scores, selected);
  CHECK(opacities == std::vector<float>{0.75F, 0.25F + 0.5F * (2 - 1) / (5 - 1), 0.25F});
  // Draws come in any order, and a patch may be drawn twice.
  const std::array drawn{2, 1, 2, 3};
  CHECK(importance_opacities(scores, drawn) == std::vector<float>{0.25F, 0.75F, 0.25F, 0.25F + 0.5F * (2 - 1) / (5 - 1)});
  const std::array equal{1.0F, 1.0F, 1.0F, 1.0F};
  CHECK(importance_opacities(equal, selected) == std::vector<float>{0.75F, 0.75F, 0.75F});
  constexpr float infinite = std::numeric_limits<float>::infinity();
  const std::array odd{infinite, 5.0F, std::numeric_limits<float>::quiet_NaN(), 2.0F};
  CHECK(importance_opacities(odd, std::array{0, 1, 2, 3}) == std::vector<float>{0.25F, 0.75F, 0.25F, 0.25F});
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

TEST_CASE("a heat map's colours are those of viridis, and become lighter evenly") {
  // As published (matplotlib): the ends, the quarters.
  const std::array<Rgb8, 5> published{{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
  for (std::size_t i = 0; i < published.size(); ++i)
    for (std::size_t channel = 0; channel < 3; ++channel)
      CHECK(std::abs(heat_colour(static_cast<double>(i) / 4)[channel] - published[i][channel]) <= 4);
  // CIE lightness, of sRGB.
  const auto lightness = [](const Rgb8& colour) {
    double luminance = 0;
    const std::array<double, 3> weights{0.2126, 0.7152, 0.0722};
    for (std::size_t i = 0; i < 3; ++i) {
      const double value = colour[i] / 255.0;
      luminance += weights[i] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
    }
    return luminance > 0.008856 ? 116 * std::cbrt(luminance) - 16 : 903.3 * luminance;
  };
  const double low = lightness(heat_colour(0)), high = lightness(heat_colour(1));
  CHECK(low < 18);
  CHECK(high > 88);
  for (int i = 0; i < 64; ++i) {
    const double here = lightness(heat_colour(i / 64.0)), next = lightness(heat_colour((i + 1) / 64.0));
    INFO(i);
    CHECK(next > here);
    CHECK(std::abs(here - (low + (high - low) * i / 64)) < 4);
  }
  CHECK(heat_colour(-3) == heat_colour(0));
  CHECK(heat_colour(7) == heat_colour(1));
}

TEST_CASE("a line around patches is bright inside and dark outside, and goes around what they cover together") {
  const std::array selected{6, 7};  // squares of 8 pixels that overlap by 2: columns 12 to 26, rows 6 to 14
  const std::array opacities{0.75F, 0.75F};
  for (const int art : {0, 128, 255}) {
    Image image({28, 40, 3, PixelType::uint8});
    std::ranges::fill(image.bytes(), static_cast<std::uint8_t>(art));
    outline_patches(image, {.rows = 4, .columns = 4, .patch = 8, .stride = 6}, selected, opacities, {255, 255, 255}, 2, 0);
    for (int y = 0; y < 28; ++y)
      for (int x = 0; x < 40; ++x) {
        const int inside = std::min({x - 12, 25 - x, y - 6, 13 - y});  // from 0 at the border; negative outside
        const int truth = inside >= 2 || inside < -2 ? art : inside >= 0 ? 255 : 16;
        for (int channel = 0; channel < 3; ++channel)
          REQUIRE(int{image.bytes()[3 * (static_cast<std::size_t>(y) * 40 + x) + channel]} == truth);
      }
  }
}

TEST_CASE("the line around a patch is fainter for one of less importance, leaves room in a small one, and ends at the border") {
  Image image({20, 20, 3, PixelType::uint8});
  const std::array selected{0, 65};  // the corner, and column 10, row 12
  const std::array opacities{0.75F, 0.25F};
  outline_patches(image, {.rows = 10, .columns = 10, .patch = 2, .stride = 2}, selected, opacities, {255, 255, 255}, 1, 6);
  const auto at = [&](int y, int x) { return int{image.bytes()[3 * (static_cast<std::size_t>(y) * 20 + x)]}; };
  // Room for 6 pixels and the line make 8, of which 5 x 5 are on the image; the line closes along the image's border.
  CHECK(at(0, 0) == 255);
  CHECK(at(4, 4) == 255);
  CHECK(at(1, 1) == 0);
  CHECK(at(3, 3) == 0);
  CHECK(at(5, 5) == 16);
  // The other one's is 0.6 white.
  CHECK(at(9, 7) == 153);
  CHECK(at(16, 14) == 153);
  CHECK(at(10, 8) == 0);
  CHECK(at(15, 13) == 0);
  CHECK(at(8, 6) == 10);
  CHECK(at(17, 15) == 10);
  const std::array outside{100};
  const std::array one{1.0F};
  CHECK_THROWS_MATCHES(outline_patches(image, {10, 10, 2, 2}, outside, one, {}, 1, 0), Error,
                       MessageMatches(ContainsSubstring("patch 100")));
}

TEST_CASE("where several heads choose a patch, each of their colours is seen; what one head chooses looks as it does alone") {
  const PatchPlaces places{.rows = 4, .columns = 4, .patch = 12, .stride = 12};
  const auto drawn = [&](std::vector<std::vector<int>> chosen) {
    Image image({48, 48, 3, PixelType::uint8});
    std::ranges::fill(image.bytes(), std::uint8_t{40});
    constexpr std::array<Rgb8, 2> colours{{{255, 255, 255}, {255, 196, 61}}};
    std::vector<HeadPatches> heads;
    for (const auto& one : chosen) heads.push_back({places, one, std::vector(one.size(), 0.75F), colours[heads.size()]});
    overlay_heads(image, heads, 1, 0);
    return image;
  };
  const auto is = [](const Image& one, const Image& other, int y, int x) {
    const std::size_t at = 3 * (static_cast<std::size_t>(y) * 48 + x);
    return std::equal(&one.bytes()[at], &one.bytes()[at] + 3, &other.bytes()[at]);
  };
  // Patch 5 is chosen by both, 0 and 15 by one each.
  const Image both = drawn({{5, 0}, {5, 15}}), first = drawn({{5, 0}, {}}), second = drawn({{}, {5, 15}});
  int firsts = 0, seconds = 0;
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 48; ++x) {
      if (y >= 12 && y < 24 && x >= 12 && x < 24) {
        REQUIRE((is(both, first, y, x) || is(both, second, y, x)));
        firsts += is(both, first, y, x);
        seconds += is(both, second, y, x);
      } else if (std::min(x, y) < 11) {
        REQUIRE(is(both, first, y, x));
      } else if (std::max(x, y) > 24) {
        REQUIRE(is(both, second, y, x));
      }
    }
  CHECK(firsts + seconds == 144);
  CHECK(firsts == 72);

  // One head alone has the pictures of the two functions.
  Image plain({48, 48, 3, PixelType::uint8});
  std::ranges::fill(plain.bytes(), std::uint8_t{40});
  const std::array selected{5, 0};
  const std::array opacities{0.75F, 0.75F};
  overlay_patches(plain, places, selected, opacities, {255, 255, 255});
  outline_patches(plain, places, selected, opacities, {255, 255, 255}, 1, 0);
  CHECK(std::ranges::equal(drawn({{5, 0}}).bytes(), plain.bytes()));
  CHECK(std::ranges::equal(first.bytes(), plain.bytes()));
}
