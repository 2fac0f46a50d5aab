#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.render;
import iap.report;
#include "pixels.hpp"

using namespace iap;

TEST_CASE("labels of many bars keep apart") {
  BarChart chart{.title = "t", .bars = {}};
  for (int i = 1; i <= 60; ++i) chart.bars.push_back({"bar number " + std::to_string(i), 1000.0 * i});
  const Image image = drawn_by(write_bars, chart);
  CHECK(has_white_edges(image));
  // Upright words with white between them, below an axis that moved up.
  int stripes = 0;
  for (int x = 60; x < 880; ++x) stripes += blank(image, 440, 538, x, x + 1) && !blank(image, 440, 538, x + 1, x + 2);
  CHECK(stripes == 30);
}

TEST_CASE("the number above a bar keeps the digits before its point, and a short bar's says how short it is") {
  // The width of the number above bar `i` of two, and its pixels, wherever it stands.
  const auto words = [](double one, double other, int i) {
    const Image image = drawn_by(write_bars, BarChart{.title = "", .bars = {{"a", one}, {"b", other}}});
    const int middle = 76 + (900 - 22 - 76) * (2 * i + 1) / 4;
    int left = 900, right = 0;
    std::string pixels;
    for (int y = 46; y < 490; ++y)
      for (int x = middle - 150; x < middle + 150; ++x) {
        const auto* p = pixel(image, y, x);
        if (p[0] > 90 || p[1] > 90 || p[2] > 90) continue;
        left = std::min(left, x);
        right = std::max(right, x);
        pixels += text(x - middle, ",");
      }
    return std::pair(right - left + 1, pixels);
  };
  CHECK(words(1234.6, 1226, 0).second != words(1234.6, 1226, 1).second);
  CHECK(words(1234.6, 1226, 0).second == words(1235, 1226, 0).second);
  CHECK(words(1, 0.12345, 0).second == words(1, 0.5, 0).second);
  CHECK(words(1, 0.1234, 1).second == words(1, 0.123, 1).second);
  CHECK(words(1, 0.123, 1).second != words(1, 0.12, 1).second);
  CHECK(words(1e8, 1e-7, 1).second == words(1e-7, 1e-7, 1).second);
  CHECK(words(1e8, 1e-7, 1).first < 60);
  CHECK(words(1e9, 2.5e6, 1).second == words(2.5e6, 2.5e6, 1).second);
  CHECK(words(1e8, 250, 1).second == words(250, 250, 1).second);
  CHECK(words(3e12, 1e8, 1).second == words(1e8, 1e8, 1).second);
}

TEST_CASE("bars of series that share a colour differ by their stripes") {
  BarGroups chart{.title = "t", .most = 1};
  chart.groups = {{"group", {}}};
  for (int i = 0; i < 24; ++i) {
    chart.series.push_back("s" + std::to_string(i));
    chart.groups[0].values.push_back(0.8);
  }
  const Image image = drawn_by(write_bar_groups, chart);
  // Bars are 12 pixels high, from top to bottom; those of series 0, 6, 12 and 18 are blue.
  std::vector<std::vector<std::uint8_t>> bars;
  const auto all_blue = [&](int row) {
    for (int x = 300; x < 400; ++x)
      if (pixel(image, row, x)[0] > 20 || pixel(image, row, x)[2] < 160) return false;
    return true;
  };
  int top = 0;
  while (!all_blue(top)) ++top;
  for (const int series : {0, 6, 12, 18}) {
    std::vector<std::uint8_t> bar;
    for (int row = top + 12 * series; row < top + 12 * series + 10; ++row)
      for (int x = 300; x < 400; ++x) bar.push_back(*pixel(image, row, x));
    bars.push_back(bar);
  }
  CHECK(std::ranges::all_of(bars[0], [](int red) { return red < 20; }));
  for (std::size_t i = 1; i < bars.size(); ++i) {
    CHECK(std::ranges::count_if(bars[i], [](int red) { return red > 150; }) > 100);
    for (std::size_t j = 0; j < i; ++j) CHECK(bars[i] != bars[j]);
  }
}

TEST_CASE("bars of groups end where their values do on an axis that was given, and are not negative") {
  const auto width_of = [](double most) {
    BarGroups chart{.title = "t", .series = {"s"}, .groups = {{"g", {0.5}}}, .most = most};
    const Image image = drawn_by(write_bar_groups, chart);
    int blue = 0, widest = 0;
    for (int y = 0; y < image.shape().height; ++y, blue = 0) {
      for (int x = 0; x < image.shape().width; ++x) blue += pixel(image, y, x)[0] < 20 && pixel(image, y, x)[2] > 160;
      widest = std::max(widest, blue);
    }
    return widest;
  };
  CHECK(std::abs(2 * width_of(1) - width_of(0)) < 6);
  CHECK_THROWS_WITH(drawn_by(write_bar_groups, BarGroups{.title = "t", .series = {"s"}, .groups = {{"g", {-0.5}}}}),
                    Catch::Matchers::ContainsSubstring("must not be negative or infinite, got -0.5"));
}
