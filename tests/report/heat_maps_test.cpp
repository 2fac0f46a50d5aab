#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.render;
import iap.report;
#include "pixels.hpp"

using namespace iap;

TEST_CASE("numbers of neighbouring heat maps keep apart") {
  HeatMaps maps{.title = "t", .x_label = "x", .y_label = "y", .x = {-1000, 1000}, .y = {0, 1e-5}, .panels_per_row = 3};
  for (int i = 0; i < 3; ++i) maps.panels.push_back({"p", 1, 1, {0.0}});
  const Image image = drawn_by(write_heat_maps, maps);
  CHECK(has_white_edges(image));
  // The dark panels, and the row of numbers below them.
  const auto is_dark = [&](int x) { return pixel(image, 200, x)[1] < 20 && pixel(image, 200, x)[2] > 60; };
  std::vector<int> ends;
  for (int x = 1; x < 1100; ++x)
    if (is_dark(x) != is_dark(x - 1)) ends.push_back(x);
  REQUIRE(ends.size() >= 6);
  for (const int i : {1, 3}) {
    bool apart = false;
    for (int x = ends[static_cast<std::size_t>(i)]; x < ends[static_cast<std::size_t>(i) + 1]; ++x)
      apart = apart || blank(image, 348, 366, x, x + 4);
    CHECK(apart);
  }
  maps.panels[1] = {"empty", 0, 0, {}};
  CHECK_THROWS_WITH(drawn_by(write_heat_maps, maps), Catch::Matchers::ContainsSubstring("heat map 'empty' has no rows"));
}

TEST_CASE("the first row of a heat map lies at the bottom, what is no number is left out, and the scale rises") {
  HeatMaps maps{.title = "t", .x = {0, 1}, .y = {0, 1}, .value = {0, 1e6}, .panels_per_row = 1};
  maps.panels.push_back({"p", 2, 2, {0.0, 1e6, std::numeric_limits<double>::quiet_NaN(), 0.0}});
  const Image image = drawn_by(write_heat_maps, maps);
  const int height = image.shape().height, width = image.shape().width;
  const auto box_of = [&](const auto& holds, int from, int to) {
    Box box;
    for (int y = 80; y < height - 60; ++y)
      for (int x = from; x < to; ++x)
        if (holds(pixel(image, y, x)))
          box = {std::min(box.left, x), std::max(box.right, x), std::min(box.top, y), std::max(box.bottom, y)};
    return box;
  };
  const auto is_low = [](const std::uint8_t* p) { return p[1] < 20 && p[2] > 60; };
  const auto is_high = [](const std::uint8_t* p) { return p[0] > 240 && p[1] > 200 && p[2] < 60; };
  const Box high = box_of(is_high, 0, width - 130), left = box_of(is_low, 0, high.left),
            above = box_of(is_low, high.left, width - 130);
  REQUIRE(high.right > high.left);
  CHECK(std::abs(left.top - high.top) < 3);
  CHECK(above.bottom < high.top);
  CHECK(blank(image, high.top - 40, high.top - 20, high.left - 40, high.left - 20));
  // "0" stands below "1000000".
  const auto last_ink = [&](int top, int bottom) {
    int x = width - 1;
    while (x > 0 && blank(image, top, bottom, x, x + 1)) --x;
    return x;
  };
  CHECK(last_ink(71, 82) > last_ink(height - 63, height - 53) + 20);
}
