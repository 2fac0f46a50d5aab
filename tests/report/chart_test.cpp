#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.render;
import iap.report;

using namespace iap;

namespace {

Image drawn(const Chart& chart) {
  const TemporaryFolder folder;
  write_chart(folder.path() / "chart.png", chart);
  return read_png(folder.path() / "chart.png");
}

const std::uint8_t* pixel(const Image& image, int y, int x) {
  return image.bytes().data() + 3 * (static_cast<std::size_t>(y) * image.shape().width + x);
}

/// Bounding box of the pixels of the first series' colour (Okabe and Ito's blue), within the plot or outside it.
struct Box {
  int left = std::numeric_limits<int>::max(), right = -1, top = std::numeric_limits<int>::max(), bottom = -1;
};

Box blue_pixels(const Image& image) {
  Box box;
  for (int y = 0; y < image.shape().height; ++y)
    for (int x = 0; x < image.shape().width; ++x) {
      const auto* p = pixel(image, y, x);
      if (p[0] > 20 || p[1] < 100 || p[1] > 130 || p[2] < 160) continue;
      box = {std::min(box.left, x), std::max(box.right, x), std::min(box.top, y), std::max(box.bottom, y)};
    }
  return box;
}

}  // namespace

TEST_CASE("a line goes from its first to its last point and nowhere else") {
  const Chart chart{.title = "t", .x_label = "x", .y_label = "y", .series = {{.label = "", .x = {0, 10}, .y = {0, 100}}}};
  const Box box = blue_pixels(drawn(chart));
  // Plot area: 76 pixels from the left, 22 from the right, 58 from the bottom, 46 from the top, where the axis ends with 100.
  CHECK(box.left >= 75);
  CHECK(box.right <= 900 - 22 + 1);
  CHECK(box.right >= 900 - 22 - 4);
  CHECK(box.bottom >= 540 - 58 - 4);
  CHECK(box.bottom <= 540 - 58 + 1);
  CHECK(box.top >= 45);
  CHECK(box.top <= 46 + 4);
}

TEST_CASE("lines beyond the palette's six colours differ by their dashes") {
  // Series 0, 6, 12 and 18 share the blue: whole, in long dashes, in short ones, and in long ones again.
  std::vector<double> shares;
  for (int wanted = 0; wanted < 24; wanted += 6) {
    Chart chart{.title = "t"};
    for (int i = 0; i < 24; ++i)
      chart.series.push_back({.label = "", .x = {0, 10}, .y = {50, i == wanted ? 50 : std::numeric_limits<double>::quiet_NaN()}});
    const Image image = drawn(chart);
    const Box box = blue_pixels(image);
    int blue = 0;
    for (int x = 76; x < 878; ++x) {
      const auto* p = pixel(image, box.top, x);
      blue += p[0] < 20 && p[2] > 160;
    }
    shares.push_back(blue / 802.0);
  }
  CHECK(shares[0] > 0.99);
  CHECK(std::abs(shares[1] - 0.7) < 0.1);
  CHECK(std::abs(shares[2] - 0.5) < 0.1);
  CHECK(shares[3] == shares[1]);
}

TEST_CASE("points beyond the palette's six colours differ by their shape") {
  // Series 0, 6, 12 and 18 share the blue: discs, squares, diamonds, and discs again.
  std::vector<double> shares;  // of the box around a point
  for (int wanted = 0; wanted < 24; wanted += 6) {
    Chart chart{.title = "t"};
    for (int i = 0; i < 24; ++i)
      chart.series.push_back(
          {.label = "", .x = {5}, .y = {i == wanted ? 50 : std::numeric_limits<double>::quiet_NaN()}, .dots = true, .line = false});
    const Image image = drawn(chart);
    const Box box = blue_pixels(image);
    int blue = 0;
    for (int y = box.top; y <= box.bottom; ++y)
      for (int x = box.left; x <= box.right; ++x) {
        const auto* p = pixel(image, y, x);
        blue += p[0] < 60 && p[2] > 160;
      }
    shares.push_back(blue / static_cast<double>((box.right - box.left + 1) * (box.bottom - box.top + 1)));
  }
  INFO(shares[0] << ' ' << shares[1] << ' ' << shares[2]);
  CHECK(shares[1] == 1);
  CHECK(shares[0] < 0.95);
  CHECK(shares[2] < 0.75 * shares[0]);
  CHECK(shares[3] == shares[0]);
}

TEST_CASE("the y axis ends on a tick, whatever the values are") {
  for (const double most : {0.00031, 0.7, 1.0, 3.3, 42.0, 118.0, 189.4, 1001.0, 7.2e6}) {
    INFO(most);
    const Image image = drawn({.title = "", .series = {{.label = "", .x = {0, 10}, .y = {0, most}}}});
    const auto grey = [&](int y, int x) { return int{*pixel(image, y, x)}; };
    std::vector<int> lines;  // rows of the grid, of which the curve hides at most one place
    for (int y = 0; y < 540; ++y) {
      int seen = 0;
      for (const int x : {200, 300, 500, 700, 860}) seen += grey(y, x) > 215 && grey(y, x) < 235;
      if (seen >= 4) lines.push_back(y);
    }
    // The lowest is the axis itself.
    REQUIRE(lines.size() >= 4);
    CHECK(lines.size() <= 11);
    CHECK(lines.front() == 46);
    const int step = lines[1] - lines[0];
    for (std::size_t i = 1; i < lines.size(); ++i) CHECK(std::abs(lines[i] - lines[i - 1] - step) <= 1);
    CHECK(std::abs(540 - 58 - lines.back() - step) <= 1);
    // No more than a step and a half is empty above the curve.
    CHECK(blue_pixels(image).top - 46 <= 1.5 * step);
  }
}

TEST_CASE("points on a logarithmic axis with whiskers fill the chart") {
  Chart chart{.title = "t", .log_x = true, .y_from_zero = false};
  chart.series = {
      {.label = "", .x = {0.02, 0.2}, .y = {105, 110}, .low = {100, 108}, .high = {120, 112}, .dots = true, .line = false}};
  const Box box = blue_pixels(drawn(chart));
  // From 0.02 to 0.2 and from 100 to 120, which are ticks; the caps of the whiskers reach 7 pixels to each side.
  CHECK(std::abs(box.left - (76 - 7)) <= 2);
  CHECK(std::abs(box.right - (900 - 22 + 7)) <= 2);
  CHECK(std::abs(box.top - 46) <= 2);
  CHECK(std::abs(box.bottom - (540 - 58)) <= 2);
  chart.series[0].x[0] = 0;
  CHECK_THROWS_WITH(drawn(chart), Catch::Matchers::ContainsSubstring("every x must be above 0"));
}

TEST_CASE("a caption stands below the chart, in lines that fit") {
  Chart chart{.title = "t", .series = {{.label = "", .x = {0, 10}, .y = {0, 100}}}};
  for (int i = 0; i < 40; ++i) chart.caption += "caption ";
  const Image image = drawn(chart);
  int words = 0;
  for (int y = 500; y < 540; ++y)
    for (int x = 0; x < 900; ++x) {
      const bool dark = *pixel(image, y, x) < 140;
      words += dark;
      if (dark) REQUIRE((x >= 70 && x <= 900 - 22 + 2));
    }
  CHECK(words > 500);
  CHECK(blue_pixels(image).bottom < 540 - 58 - 18);
}

TEST_CASE("points that are not finite are left out; a chart of nothing is an error") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Chart chart{.title = "t", .series = {{.label = "s", .x = {0, 5, 10}, .y = {nan, 50, 100}}}};
  CHECK(blue_pixels(drawn(chart)).bottom < 540 - 58 - 100);
  chart.series[0].y = {nan, nan, nan};
  CHECK_THROWS_WITH(drawn(chart), Catch::Matchers::ContainsSubstring("no finite point"));
}
