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
import :figures;
#include "canvas.hpp"
#include "labels.hpp"

namespace iap {
namespace {

constexpr double least_left = 64, least_right = 92, top = 76, bottom = 58, least_gap = 26, row_gap = 66, bar_width = 16,
                 least_scale_gap = 24, edge = 8;

Axis axis_of(const Interval& interval, int count) {
  Axis axis{.range = {interval.low, interval.high}};
  axis.ticks = ticks(axis.range, count);
  axis.labels = tick_labels(axis.ticks);
  return axis;
}

class Drawing {
 public:
  explicit Drawing(const HeatMaps& maps)
      : maps_(maps),
        canvas_(maps.width, maps.height),
        columns_(std::min(maps.panels_per_row, static_cast<int>(maps.panels.size()))),
        rows_((static_cast<int>(maps.panels.size()) + columns_ - 1) / columns_),
        y_(axis_of(maps.y, 6)),
        value_(axis_of(maps.value, 6)),
        left_(std::max(least_left, left_margin(canvas_, y_.labels, maps.y_label))),
        panel_height_((maps.height - top - bottom - row_gap * (rows_ - 1)) / rows_) {
    choose_x();
    // The numbers of neighbours keep apart, too, and the scale from the last ones.
    const double end = end_margin(canvas_, x_, panel_width_);
    gap_ = std::max(least_gap, end + begin_margin() + 4);
    scale_gap_ = std::max(least_scale_gap, end);
    choose_x();
    constexpr double least = 20;
    if (panel_width_ < least || panel_height_ < least)
      throw Error(text("chart '", maps.title, "': ", rows_, " x ", columns_, " heat maps have no room in ", maps.height, " x ",
                       maps.width, " pixels; make it larger, or change panels_per_row"));
  }

  Image draw() {
    canvas_.colour({0, 0, 0});
    const auto title = title_lines(canvas_, maps_.title, maps_.width - left_ - edge);
    for (std::size_t i = 0; i < title.size(); ++i) canvas_.write(left_, 22 + 19 * static_cast<double>(i), title[i], 0, title_size);
    for (int i = 0; i < static_cast<int>(maps_.panels.size()); ++i) {
      const int row = i / columns_, column = i % columns_;
      draw_panel(maps_.panels[static_cast<std::size_t>(i)], left_ + column * (panel_width_ + gap_),
                 top + row * (panel_height_ + row_gap));
    }
    draw_scale();
    return canvas_.image();
  }

 private:
  void choose_x() {
    right_ = std::max(least_right, scale_gap_ + bar_width + 9 + widest(canvas_, value_.labels) + edge);
    panel_width_ = (maps_.width - left_ - right_ - gap_ * (columns_ - 1)) / columns_;
    if (panel_width_ > 0) x_ = axis_along(canvas_, 5, panel_width_, [&](int count) { return axis_of(maps_.x, count); });
  }

  /// What the first number below a panel needs on the left of it.
  double begin_margin() {
    if (x_.ticks.empty()) return 0;
    return std::max(0.0, canvas_.width_of(x_.labels.front()) / 2 - x_.share(x_.ticks.front()) * panel_width_);
  }

  double share(double value) const { return (value - maps_.value.low) / (maps_.value.high - maps_.value.low); }

  void draw_panel(const HeatMap& panel, double x, double y) {
    const double floor = y + panel_height_;
    for (int row = 0; row < panel.rows; ++row)
      for (int column = 0; column < panel.columns; ++column) {
        const double value = panel.values[static_cast<std::size_t>(row) * panel.columns + column];
        if (std::isnan(value)) continue;
        // Cells end on whole pixels: neighbours neither overlap nor leave a gap.
        const double x0 = std::round(x + panel_width_ * column / panel.columns),
                     x1 = std::round(x + panel_width_ * (column + 1) / panel.columns),
                     y0 = std::round(floor - panel_height_ * (row + 1) / panel.rows),
                     y1 = std::round(floor - panel_height_ * row / panel.rows);
        canvas_.colour(heat_map_colour(share(value)));
        canvas_.rectangle(x0, y0, x1 - x0, y1 - y0);
      }
    draw_axes(panel, x, y);
  }

  void draw_axes(const HeatMap& panel, double x, double y) {
    const double floor = y + panel_height_;
    canvas_.colour({0, 0, 0});
    canvas_.write(x + panel_width_ / 2, y - 14, canvas_.shortened(panel.title, panel_width_), .5);
    for (std::size_t i = 0; i < x_.ticks.size(); ++i) {
      const double at = x + x_.share(x_.ticks[i]) * panel_width_;
      canvas_.line(at, floor, at, floor + 5, .25);
      canvas_.write(at, floor + 16, x_.labels[i], .5);
    }
    if (floor + bottom > maps_.height - 1)
      canvas_.write(x + panel_width_ / 2, maps_.height - 16, canvas_.shortened(maps_.x_label, panel_width_), .5);
    for (std::size_t i = 0; i < y_.ticks.size(); ++i) {
      const double at = floor - y_.share(y_.ticks[i]) * panel_height_;
      canvas_.line(x - 5, at, x, at, .25);
      if (x == left_) canvas_.write(x - 9, at, y_.labels[i], 1);
    }
    if (x == left_)
      canvas_.write_upwards(16, y + panel_height_ / 2, canvas_.shortened(maps_.y_label, panel_height_ + row_gap - edge));
  }

  void draw_scale() {
    const double begin = maps_.width - right_ + scale_gap_, floor = maps_.height - bottom;
    canvas_.colour_bar(begin, top, bar_width, floor - top);
    canvas_.colour({0, 0, 0});
    const auto& last = maps_.panels[static_cast<std::size_t>(columns_ - 1)].title;
    const double words = canvas_.width_of(canvas_.shortened(last, panel_width_));
    const double room = right_ - edge + (words > 0 ? (panel_width_ - words) / 2 - edge : panel_width_);
    canvas_.write(maps_.width - edge, top - 14, canvas_.shortened(maps_.value_label, room), 1);
    for (std::size_t i = 0; i < value_.ticks.size(); ++i) {
      const double y = floor - value_.share(value_.ticks[i]) * (floor - top);
      canvas_.line(begin + bar_width, y, begin + bar_width + 5, y, .25);
      canvas_.write(begin + bar_width + 9, y, value_.labels[i], 0);
    }
  }

  const HeatMaps& maps_;
  Canvas canvas_;
  int columns_, rows_;
  Axis x_, y_, value_;
  double left_, right_ = least_right, gap_ = least_gap, scale_gap_ = least_scale_gap, panel_width_ = 0, panel_height_;
};

}  // namespace

void write_heat_maps(const std::filesystem::path& path, const HeatMaps& maps) {
  if (maps.panels.empty()) throw Error(text("chart '", maps.title, "': there is no heat map to draw"));
  check_picture_name(path, "a chart");
  for (const HeatMap& panel : maps.panels) {
    if (panel.rows < 1 || panel.columns < 1)
      throw Error(text("chart '", maps.title, "': heat map '", panel.title, "' has no rows; give it at least one with a number"));
    if (panel.values.size() != static_cast<std::size_t>(panel.rows) * panel.columns)
      throw Error(text("chart '", maps.title, "': heat map '", panel.title, "' holds ", panel.values.size(), " values where ",
                       panel.rows, " x ", panel.columns, " were expected"));
  }
  write_png(path, Drawing(maps).draw().view());
}

}  // namespace iap
