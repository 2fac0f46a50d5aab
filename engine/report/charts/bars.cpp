module;
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import iap.render;
import :axis;
#include "canvas.hpp"

namespace iap {

void write_bars(const std::filesystem::path& path, const BarChart& chart) {
  constexpr double left = 76, right = 22, top = 46, bottom = 48, share_of_slot = .7;
  Range range;
  range.include(0);
  for (const Bar& bar : chart.bars) {
    if (!std::isfinite(bar.value) || bar.value < 0)
      throw Error(text("chart '", chart.title, "': bar '", bar.label, "' must not be negative, got ", bar.value));
    range.include(1.08 * bar.value);
  }
  if (chart.bars.empty()) throw Error(text("chart '", chart.title, "': there is no bar to draw"));
  Canvas canvas(chart.width, chart.height);
  const double floor = chart.height - bottom, end = chart.width - right;
  const Axis axis = linear_axis(range, std::max(3, static_cast<int>((floor - top) / 60)));
  const auto map_y = [&](double value) { return floor - axis.share(value) * (floor - top); };
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const double y = map_y(axis.ticks[i]);
    canvas.line(left, y, end, y, .88);
    canvas.line(left - 4, y, left, y, .25);
    canvas.write(left - 8, y, axis.labels[i], 1);
  }
  const double slot = (end - left) / static_cast<double>(chart.bars.size());
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const double middle = left + (static_cast<double>(i) + .5) * slot, height = map_y(chart.bars[i].value);
    canvas.colour(palette[0]);
    canvas.rectangle(middle - share_of_slot * slot / 2, height, share_of_slot * slot, floor - height);
    canvas.colour({0, 0, 0});
    canvas.write(middle, floor + 18, chart.bars[i].label, .5);
    const double digits = std::pow(10.0, 2 - std::floor(std::log10(std::max(chart.bars[i].value, 1e-300))));
    canvas.write(middle, height - 10, tick_label(std::round(chart.bars[i].value * digits) / digits), .5);
  }
  canvas.line(left, floor, end, floor, .25);
  canvas.line(left, top, left, floor, .25);
  canvas.colour({0, 0, 0});
  canvas.write(left, top / 2, chart.title, 0, 17);
  canvas.write_upwards(16, (top + floor) / 2, chart.y_label);
  write_png(path, canvas.image().view());
}

}  // namespace iap
