#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <filesystem>
#include <limits>

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

/// Bounding box of the pixels of the first series' colour (Okabe and Ito's blue), within the plot or outside it.
struct Box {
  int left = std::numeric_limits<int>::max(), right = -1, top = std::numeric_limits<int>::max(), bottom = -1;
};

Box blue_pixels(const Image& image) {
  Box box;
  for (int y = 0; y < image.shape().height; ++y)
    for (int x = 0; x < image.shape().width; ++x) {
      const auto* p = image.bytes().data() + 3 * (static_cast<std::size_t>(y) * image.shape().width + x);
      if (p[0] > 20 || p[1] < 100 || p[1] > 130 || p[2] < 160) continue;
      box = {std::min(box.left, x), std::max(box.right, x), std::min(box.top, y), std::max(box.bottom, y)};
    }
  return box;
}

}  // namespace

TEST_CASE("a line goes from its first to its last point and nowhere else") {
  const Chart chart{.title = "t", .x_label = "x", .y_label = "y", .series = {{.label = "", .x = {0, 10}, .y = {0, 100}}}};
  const Box box = blue_pixels(drawn(chart));
  // Plot area: 76 pixels from the left, 22 from the right, 58 from the bottom; the axis ends 5% above the highest point.
  CHECK(box.left >= 75);
  CHECK(box.right <= 900 - 22 + 1);
  CHECK(box.right >= 900 - 22 - 4);
  CHECK(box.bottom >= 540 - 58 - 4);
  CHECK(box.bottom <= 540 - 58 + 1);
}

TEST_CASE("points that are not finite are left out; a chart of nothing is an error") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Chart chart{.title = "t", .series = {{.label = "s", .x = {0, 5, 10}, .y = {nan, 50, 100}}}};
  CHECK(blue_pixels(drawn(chart)).bottom < 540 - 58 - 100);
  chart.series[0].y = {nan, nan, nan};
  CHECK_THROWS_WITH(drawn(chart), Catch::Matchers::ContainsSubstring("no finite point"));
}
