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
#include "pixels.hpp"

using namespace iap;

namespace {

Image drawn(const Chart& chart) {
  const TemporaryFolder folder;
  write_chart(folder.path() / "chart.png", chart);
  return read_png(folder.path() / "chart.png");
}

/// Bounding box of the pixels of the first series' colour (Okabe and Ito's blue), within the plot or outside it.
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

constexpr double absent = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

const std::string long_words =
    "words that are much longer than the picture is wide, because somebody wrote down the whole experiment with all of its "
    "settings "
    "and the date of it, and then some more";

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
  // Series 0, 6, 12 ... share the blue: whole, in dashes, in short ones, in long ones, in dashes with a dot and with two between,
  // and whole again.
  std::vector<double> shares;
  std::vector<int> dashes;
  for (int wanted = 0; wanted < 42; wanted += 6) {
    Chart chart{.title = "t"};
    for (int i = 0; i < 42; ++i) {
      const double y = i == wanted ? 50 : absent;
      chart.series.push_back({.label = "", .x = {0, 10}, .y = {y, y}});
    }
    const Image image = drawn(chart);
    const Box box = blue_pixels(image);
    int blue = 0, begins = 0;
    bool before = false;
    for (int x = 76; x < 878; ++x) {
      const auto* p = pixel(image, box.top, x);
      const bool is_blue = p[0] < 128 && p[2] > 160;
      blue += is_blue;
      begins += is_blue && !before;
      before = is_blue;
    }
    shares.push_back(blue / 802.0);
    dashes.push_back(begins);
  }
  CHECK(shares[0] > 0.99);
  const std::vector<double> drawn_shares{1, 0.7, 0.5, 14.0 / 18, 11.0 / 17, 12.0 / 18}, periods{0, 10, 4, 18, 17.0 / 2, 18.0 / 3};
  for (std::size_t i = 1; i < 6; ++i) {
    INFO("round " << i << ": " << shares[i] << ", " << dashes[i]);
    CHECK(std::abs(shares[i] - drawn_shares[i]) < 0.1);
    CHECK(std::abs(dashes[i] - 802 / periods[i]) < 3);
  }
  CHECK(shares[6] == shares[0]);
}

TEST_CASE("points beyond the palette's six colours differ by their shape") {
  // Series 0, 6, 12 ... share the blue: discs, squares, diamonds, triangles that stand and that hang, crosses, and discs again.
  std::vector<double> shares;  // of the box around a point
  std::vector<int> areas, upper;
  for (int wanted = 0; wanted < 42; wanted += 6) {
    Chart chart{.title = "t"};
    for (int i = 0; i < 42; ++i)
      chart.series.push_back(
          {.label = "", .x = {5}, .y = {i == wanted ? 50 : std::numeric_limits<double>::quiet_NaN()}, .dots = true, .line = false});
    const Image image = drawn(chart);
    const Box box = blue_pixels(image);
    int blue = 0, above = 0;
    for (int y = box.top; y <= box.bottom; ++y)
      for (int x = box.left; x <= box.right; ++x) {
        const auto* p = pixel(image, y, x);
        blue += p[0] < 60 && p[2] > 160;
        above += 2 * y < box.top + box.bottom && p[0] < 60 && p[2] > 160;
      }
    areas.push_back(blue);
    upper.push_back(above);
    shares.push_back(blue / static_cast<double>((box.right - box.left + 1) * (box.bottom - box.top + 1)));
  }
  INFO(shares[0] << ' ' << shares[1] << ' ' << shares[2]);
  CHECK(shares[1] == 1);
  CHECK(shares[0] < 0.95);
  CHECK(shares[2] < 0.75 * shares[0]);
  CHECK(upper[3] < 0.4 * areas[3]);
  CHECK(upper[4] > 0.5 * areas[4]);
  CHECK(shares[5] < 0.8);
  for (const int area : areas) CHECK(std::abs(area - areas[0]) < 0.35 * areas[0]);
  CHECK(shares[6] == shares[0]);
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

TEST_CASE("a logarithmic axis keeps its points in the picture, however far apart they are") {
  for (const auto& ends : {std::vector{1e-200, 1e200}, std::vector{5e-324, std::numeric_limits<double>::max()}}) {
    const Chart chart{.title = "t", .series = {{.label = "", .x = ends, .y = {1, 2}}}, .log_x = true};
    const Box box = blue_pixels(drawn(chart));
    CHECK((box.left >= 70 && box.left < 90));
    CHECK((box.right > 850 && box.right < 890));
  }
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
  Chart chart{.title = "t", .series = {{.label = "s", .x = {0, 5, 10}, .y = {absent, 50, 100}}}};
  CHECK(blue_pixels(drawn(chart)).bottom < 540 - 58 - 100);
  chart.series[0].y = {absent, absent, absent};
  CHECK_THROWS_WITH(drawn(chart), Catch::Matchers::ContainsSubstring("no finite point"));
}

TEST_CASE("a point that is not finite leaves a gap") {
  for (const double missing : {absent, infinity}) {
    Chart chart{.title = "t", .series = {{.label = "", .x = {1, 2, 3, 4, 5}, .y = {1, 2, missing, 2, 1}}}};
    CHECK(blank(drawn(chart), 60, 470, 76 + 220, 76 + 580) == false);  // the grid
    const auto blue_between = [&](const Image& image) {
      int count = 0;
      for (int x = 76 + 210; x < 76 + 590; ++x)
        for (int y = 0; y < 480; ++y) count += pixel(image, y, x)[0] < 60 && pixel(image, y, x)[2] > 160;
      return count;
    };
    CHECK(blue_between(drawn(chart)) == 0);
    // Of x as of y; what has no x has no part in the y axis either.
    chart.series[0].y[2] = 3000;
    chart.series[0].x[2] = missing;
    const Image image = drawn(chart);
    CHECK(blue_between(image) == 0);
    const Box box = blue_pixels(image);
    CHECK(box.left >= 75);
    CHECK(box.right <= 900 - 22 + 1);
    CHECK(box.top >= 45);
    CHECK(box.top <= 46 + 60);
    // So does a band.
    chart.series[0].x[2] = 3;
    chart.series[0].y = {1, 2, 2, 2, 1};
    chart.series[0].low = {0, 1, missing, 1, 0};
    chart.series[0].high = {2, 3, missing, 3, 2};
    CHECK(pixel(drawn(chart), 300, 76 + 300)[0] > 225);
    CHECK(pixel(drawn(chart), 300, 76 + 100)[0] < 225);
    // And where it is the line that has one, whose band is whole.
    chart.series[0].y[2] = missing;
    chart.series[0].low[2] = 1;
    chart.series[0].high[2] = 3;
    CHECK(pixel(drawn(chart), 300, 76 + 300)[0] > 225);
    CHECK(pixel(drawn(chart), 300, 76 + 100)[0] < 225);
  }
}

TEST_CASE("a point between gaps is marked") {
  const Box first = blue_pixels(drawn({.title = "t", .series = {{.label = "", .x = {1}, .y = {3}}}}));
  CHECK(first.right - first.left >= 4);
  const Box box = blue_pixels(
      drawn({.title = "t",
             .series = {{.label = "", .x = {1, 2, 3}, .y = {absent, 50, absent}}, {.label = "", .x = {0, 4}, .y = {0, 100}}}}));
  CHECK(box.right - box.left >= 4);
  CHECK(box.bottom - box.top >= 4);
}

TEST_CASE("numbers on the y axis have room, whatever their size") {
  for (const double size : {1e6, 1e-6, -250000.0, 7.5e6, 3e7, 1e20, 1e-12, 1e300}) {
    INFO(size);
    const Image image =
        drawn({.title = "t", .y_label = "return", .series = {{.label = "", .x = {1, 2, 3}, .y = {size, 0.5 * size, 1.3 * size}}}});
    CHECK(has_white_edges(image));
    // Between the label and the numbers runs a white stripe.
    bool apart = false;
    for (int x = 20; x < 40; ++x) apart = apart || blank(image, 40, 490, x, x + 1);
    CHECK(apart);
  }
}

TEST_CASE("ticks of a narrow range read differently") {
  for (const double base : {1e6, 1e9, 123456789012.0}) {
    const Image image = drawn(
        {.title = "", .series = {{.label = "", .x = {1, 2, 3}, .y = {base + 0.1, base + 0.2, base + 0.3}}}, .y_from_zero = false});
    // The numbers stand left of the axis, beside the grid's lines.
    const auto is_axis = [&](int x) {
      for (int y = 100; y < 400; ++y)
        if (*pixel(image, y, x) > 100) return false;
      return true;
    };
    int axis = 0;
    while (!is_axis(axis)) ++axis;
    std::vector<std::vector<std::uint8_t>> numbers;
    for (int y = 40; y < 485; ++y) {
      const int grey = *pixel(image, y, 870), next = *pixel(image, y, 860);
      if (grey < 215 || grey > 235 || next != grey) continue;
      std::vector<std::uint8_t> number;
      for (int row = y - 7; row < y + 8; ++row)
        for (int x = 0; x < axis - 6; ++x) number.push_back(*pixel(image, row, x));
      numbers.push_back(number);
    }
    REQUIRE(numbers.size() >= 4);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) CHECK((numbers[i] != numbers[j]));
  }
  // Where steps are lost in rounding, the axis is wider than its points.
  CHECK_NOTHROW(
      drawn({.title = "", .series = {{.label = "", .x = {1e17, 1e17 + 16}, .y = {1e17, 1e17 + 16}}}, .y_from_zero = false}));
  CHECK_THROWS_WITH(drawn({.title = "", .series = {{.label = "", .x = {1, 2}, .y = {-1.7e308, 1.7e308}}}}),
                    Catch::Matchers::ContainsSubstring("too far apart"));
}

TEST_CASE("words that are longer than the picture stay in it") {
  Chart chart{.title = long_words, .x_label = long_words, .y_label = long_words};
  chart.series = {{.label = long_words, .x = {1e6, 23e6}, .y = {1, 2}}};
  CHECK(has_white_edges(drawn(chart)));
  chart.width = chart.height = 300;
  CHECK(has_white_edges(drawn(chart)));
  CHECK(has_white_edges(
      drawn_by(write_bars, BarChart{.title = long_words, .y_label = long_words, .bars = {{"a", 1}, {long_words, 2}}})));
  CHECK(has_white_edges(
      drawn_by(write_bar_groups,
               BarGroups{.title = long_words, .x_label = long_words, .series = {long_words}, .groups = {{long_words, {1}}}})));
  CHECK(has_white_edges(drawn_by(write_heat_maps, HeatMaps{.title = long_words,
                                                           .x_label = long_words,
                                                           .y_label = long_words,
                                                           .value_label = long_words,
                                                           .value = {1e6, 2e6},
                                                           .panels = {{long_words, 1, 1, {1e6}}, {long_words, 1, 1, {2e6}}}})));
  // A line feed or a tab is a space.
  const auto titled = [&](const std::string& words) {
    return drawn({.title = words, .series = {{.label = "", .x = {0, 1}, .y = {0, 1}}}});
  };
  CHECK(std::ranges::equal(titled("a\nb\tc").bytes(), titled("a b c").bytes()));
  chart.height = 200;
  for (int i = 0; i < 40; ++i) chart.caption += long_words;
  CHECK_THROWS_WITH(drawn(chart), Catch::Matchers::ContainsSubstring("leave no room for the plot in 200 pixels"));
}

TEST_CASE("a chart is a .png") {
  const TemporaryFolder folder;
  for (const char* name : {"c.jpg", "c", ".png"}) {
    const auto path = folder.path() / name;
    const auto refused =
        Catch::Matchers::ContainsSubstring(std::string(name) + "': a chart is a picture; its name must end in .png");
    CHECK_THROWS_WITH(write_chart(path, {.title = "t", .series = {{.label = "", .x = {0, 1}, .y = {0, 1}}}}), refused);
    CHECK_THROWS_WITH(write_bars(path, {.title = "t", .bars = {{"a", 1}}}), refused);
    CHECK_THROWS_WITH(write_bar_groups(path, {.title = "t", .series = {"s"}, .groups = {{"g", {1}}}}), refused);
    CHECK_THROWS_WITH(write_heat_maps(path, {.panels = {{"p", 1, 1, {0.0}}}}), refused);
    CHECK_FALSE(std::filesystem::exists(path));
  }
  CHECK_NOTHROW(write_bars(folder.path() / "c.PNG", {.title = "t", .bars = {{"a", 1}}}));
}

TEST_CASE("a learning curve marks where the stages of a curriculum begin") {
  const TemporaryFolder folder;
  const auto drawn_with = [&](const std::vector<int>& stages) {
    std::string metrics = text("iteration,return_mean,eval_mean,eval_std", stages.empty() ? "" : ",stage", "\n");
    for (int i = 0; i <= 8; ++i)
      metrics +=
          text(i, i > 0 ? ",5" : ",", ",", i, ",1", stages.empty() ? "" : text(",", stages.at(static_cast<std::size_t>(i))), "\n");
    write_file_atomic(folder.path() / "metrics.csv", metrics);
    write_learning_curve(folder.path(), folder.path() / "curve.png");
    return read_png(folder.path() / "curve.png");
  };
  /// The columns in which more than half of all rows are of this grey.
  const auto upright = [](const Image& image, double grey) {
    std::vector<int> columns;
    for (int x = 0; x < image.shape().width; ++x) {
      int rows = 0;
      for (int y = 0; y < image.shape().height; ++y) {
        const auto* p = pixel(image, y, x);
        rows += std::abs(p[0] - 255 * grey) < 3 && p[1] == p[0] && p[2] == p[0];
      }
      if (rows > image.shape().height / 2) columns.push_back(x);
    }
    return columns;
  };
  constexpr double mark = .55, axis = .25;
  CHECK(upright(drawn_with({}), mark).empty());
  CHECK(upright(drawn_with({1, 1, 1, 1, 1, 1, 1, 1, 1}), mark).empty());
  CHECK(upright(drawn_with({1, 1, 1, 1, 1, 1, 1, 1, 2}), mark).size() == 1);  // at the plot's edge
  const Image image = drawn_with({1, 1, 1, 2, 2, 2, 2, 3, 3});
  const auto marks = upright(image, mark), axes = upright(image, axis);
  REQUIRE(marks.size() == 2);
  REQUIRE(axes.size() == 1);
  // At iterations 3 and 7, which are the first of their stages.
  CHECK(std::abs((marks[0] - axes[0]) / 3.0 - (marks[1] - axes[0]) / 7.0) < 1);
  CHECK(std::abs((marks[1] - marks[0]) - 4 * (marks[0] - axes[0]) / 3.0) < 2);
}

TEST_CASE("the band of a learning curve reaches as far below its line as above") {
  const TemporaryFolder folder;
  std::string metrics = "iteration,return_mean,eval_mean,eval_std\n";
  for (int i = 0; i <= 8; ++i) metrics += text(i, ",,5,1\n");
  write_file_atomic(folder.path() / "metrics.csv", metrics);
  write_learning_curve(folder.path(), folder.path() / "curve.png");
  const Image image = read_png(folder.path() / "curve.png");
  const int x = image.shape().width / 2 + 20;
  int first = -1, last = -1, line = -1, least = 256;
  for (int y = 80; y < image.shape().height; ++y) {
    const auto* p = pixel(image, y, x);
    if (std::abs(p[0] - p[2]) < 20) continue;
    if (first < 0) first = y;
    last = y;
    if (p[2] < least) least = p[2], line = y;
  }
  REQUIRE(line > first + 20);
  CHECK(2 * (last - line) < 3 * (line - first));
  CHECK(2 * (line - first) < 3 * (last - line));
}
