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
namespace {

constexpr double left = 64, right = 92, top = 76, bottom = 58, gap = 26, row_gap = 66, bar_width = 16;

class Drawing {
 public:
  explicit Drawing(const HeatMaps& maps)
      : maps_(maps),
        canvas_(maps.width, maps.height),
        columns_(std::min(maps.panels_per_row, static_cast<int>(maps.panels.size()))),
        rows_((static_cast<int>(maps.panels.size()) + columns_ - 1) / columns_),
        panel_width_((maps.width - left - right - gap * (columns_ - 1)) / columns_),
        panel_height_((maps.height - top - bottom - row_gap * (rows_ - 1)) / rows_) {}

  Image draw() {
    canvas_.colour({0, 0, 0});
    canvas_.write(left, 22, maps_.title, 0, 17);
    for (int i = 0; i < static_cast<int>(maps_.panels.size()); ++i) {
      const int row = i / columns_, column = i % columns_;
      draw_panel(maps_.panels[static_cast<std::size_t>(i)], left + column * (panel_width_ + gap),
                 top + row * (panel_height_ + row_gap));
    }
    draw_scale();
    return canvas_.image();
  }

 private:
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
    canvas_.write(x + panel_width_ / 2, y - 14, panel.title, .5);
    for (const double value : ticks({maps_.x.low, maps_.x.high}, 5)) {
      const double at = x + (value - maps_.x.low) / (maps_.x.high - maps_.x.low) * panel_width_;
      canvas_.line(at, floor, at, floor + 5, .25);
      canvas_.write(at, floor + 16, tick_label(value), .5);
    }
    if (floor + bottom > maps_.height - 1) canvas_.write(x + panel_width_ / 2, maps_.height - 16, maps_.x_label, .5);
    for (const double value : ticks({maps_.y.low, maps_.y.high}, 6)) {
      const double at = floor - (value - maps_.y.low) / (maps_.y.high - maps_.y.low) * panel_height_;
      canvas_.line(x - 5, at, x, at, .25);
      if (x == left) canvas_.write(x - 9, at, tick_label(value), 1);
    }
    if (x == left) canvas_.write_upwards(16, y + panel_height_ / 2, maps_.y_label);
  }

  void draw_scale() {
    const double begin = maps_.width - right + 24, floor = maps_.height - bottom;
    canvas_.colour_bar(begin, top, bar_width, floor - top);
    canvas_.colour({0, 0, 0});
    canvas_.write(maps_.width - 8, top - 14, maps_.value_label, 1);
    for (const double value : ticks({maps_.value.low, maps_.value.high}, 6)) {
      const double y = floor - share(value) * (floor - top);
      canvas_.line(begin + bar_width, y, begin + bar_width + 5, y, .25);
      canvas_.write(begin + bar_width + 9, y, tick_label(value), 0);
    }
  }

  const HeatMaps& maps_;
  Canvas canvas_;
  int columns_, rows_;
  double panel_width_, panel_height_;
};

}  // namespace

void write_heat_maps(const std::filesystem::path& path, const HeatMaps& maps) {
  if (maps.panels.empty()) throw Error(text("chart '", maps.title, "': there is no heat map to draw"));
  for (const HeatMap& panel : maps.panels)
    if (panel.rows < 1 || panel.columns < 1 || panel.values.size() != static_cast<std::size_t>(panel.rows) * panel.columns)
      throw Error(text("chart '", maps.title, "': heat map '", panel.title, "' holds ", panel.values.size(), " values where ",
                       panel.rows, " x ", panel.columns, " were expected"));
  write_png(path, Drawing(maps).draw().view());
}

}  // namespace iap
