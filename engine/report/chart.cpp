module;
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import iap.train;
import iap.render;
import :axis;
#include "canvas.hpp"

namespace iap {
namespace {

constexpr double left = 76, right = 22, title_height = 46, legend_row = 20, sign_width = 30, bottom = 58;

class Plot {
 public:
  Plot(const Chart& chart) : chart_(chart), canvas_(chart.width, chart.height) {
    for (const auto& series : chart.series)
      for (std::size_t i = 0; i < series.y.size(); ++i) {
        if (!std::isfinite(series.y[i])) continue;
        x_.include(series.x[i]);
        y_.include(series.y[i]);
        if (!series.low.empty()) y_.include(series.low[i]), y_.include(series.high[i]);
      }
    if (x_.empty()) throw Error(text("chart '", chart.title, "': there is no finite point to draw"));
    y_.include(0);
    if (chart.from_zero) {
      x_.include(0);
      x_.high += 0.05 * (x_.high - x_.low);
    }
    if (x_.low == x_.high) x_.high = x_.low + 1;
    if (y_.low == y_.high) y_.high = y_.low + 1;
    y_.high += 0.05 * (y_.high - y_.low);
    place_legend();
  }

  Image draw() {
    draw_axes();
    for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_series(chart_.series[i], colour_of(i));
    draw_legend();
    return canvas_.image();
  }

 private:
  double map_x(double x) const { return left + (x - x_.low) / (x_.high - x_.low) * (chart_.width - left - right); }
  double map_y(double y) const {
    return chart_.height - bottom - (y - y_.low) / (y_.high - y_.low) * (chart_.height - top_ - bottom);
  }

  void draw_axes() {
    const double floor = chart_.height - bottom, end = chart_.width - right;
    for (const double y : ticks(y_, 7)) {
      canvas_.line(left, map_y(y), end, map_y(y), .88);
      cairo_set_source_rgb(canvas_.get(), .25, .25, .25);
      canvas_.write(left - 8, map_y(y), tick_label(y), 1);
    }
    for (const double x : ticks(x_, 10)) {
      canvas_.line(map_x(x), floor, map_x(x), floor + 5, .25);
      canvas_.write(map_x(x), floor + 17, tick_label(x), .5);
    }
    canvas_.line(left, floor, end, floor, .25);
    canvas_.line(left, top_, left, floor, .25);
    cairo_set_source_rgb(canvas_.get(), 0, 0, 0);
    canvas_.write(left, title_height / 2, chart_.title, 0, 17);
    canvas_.write((left + end) / 2, chart_.height - 16, chart_.x_label, .5);
    canvas_.write_upwards(16, (top_ + floor) / 2, chart_.y_label);
  }

  void draw_series(const Series& series, const Colour& colour) {
    cairo_t* cairo = canvas_.get();
    if (!series.low.empty()) {
      cairo_set_source_rgba(cairo, colour[0], colour[1], colour[2], .18);
      for (std::size_t i = 0; i < series.x.size(); ++i) cairo_line_to(cairo, map_x(series.x[i]), map_y(series.low[i]));
      for (std::size_t i = series.x.size(); i-- > 0;) cairo_line_to(cairo, map_x(series.x[i]), map_y(series.high[i]));
      cairo_close_path(cairo);
      cairo_fill(cairo);
    }
    cairo_set_source_rgb(cairo, colour[0], colour[1], colour[2]);
    cairo_set_line_width(cairo, 2);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (std::size_t i = 0; series.line && i < series.x.size(); ++i)
      if (std::isfinite(series.y[i])) cairo_line_to(cairo, map_x(series.x[i]), map_y(series.y[i]));
    cairo_stroke(cairo);
    for (std::size_t i = 0; series.dots && i < series.x.size(); ++i) {
      if (!std::isfinite(series.y[i])) continue;
      cairo_arc(cairo, map_x(series.x[i]), map_y(series.y[i]), 3.5, 0, 2 * std::acos(-1.0));
      cairo_fill(cairo);
    }
  }

  struct LegendEntry {
    std::size_t series;
    double x, y;
  };

  /// In rows between the title and the plot, where no point can lie.
  void place_legend() {
    constexpr double gap = 24;
    double x = left, y = title_height;
    cairo_set_font_size(canvas_.get(), 14);
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const std::string& label = chart_.series[i].label;
      if (label.empty()) continue;
      cairo_text_extents_t extents;
      cairo_text_extents(canvas_.get(), label.c_str(), &extents);
      const double width = sign_width + extents.x_advance;
      if (x > left && x + width > chart_.width - right) x = left, y += legend_row;
      legend_.push_back({i, x, y});
      x += width + gap;
    }
    if (!legend_.empty()) top_ = y + legend_row;
  }

  void draw_legend() {
    for (const auto& [i, x, y] : legend_) {
      canvas_.colour(colour_of(i));
      if (chart_.series[i].line)
        cairo_rectangle(canvas_.get(), x, y - 2, 22, 4);
      else
        cairo_arc(canvas_.get(), x + 11, y, 3.5, 0, 2 * std::acos(-1.0));
      cairo_fill(canvas_.get());
      canvas_.colour({0, 0, 0});
      canvas_.write(x + sign_width, y, chart_.series[i].label, 0);
    }
  }

  const Colour& colour_of(std::size_t series) const {
    const int own = chart_.series[series].colour;
    return palette[(own < 0 ? series : static_cast<std::size_t>(own)) % palette.size()];
  }

  const Chart& chart_;
  Canvas canvas_;
  Range x_, y_;
  std::vector<LegendEntry> legend_;
  double top_ = title_height;
};

}  // namespace

void write_chart(const std::filesystem::path& path, const Chart& chart) {
  const Image image = Plot(chart).draw();
  write_png(path, image.view());
}

void write_learning_curve(const std::filesystem::path& run, const std::filesystem::path& png) {
  const Metrics metrics = read_metrics(run / "metrics.csv");
  const auto iteration = metrics.column("iteration");
  Chart chart{.title = "Learning curve", .x_label = "iteration", .y_label = "return"};
  chart.series.push_back({.label = "population mean", .x = iteration, .y = metrics.column("return_mean")});
  chart.series.push_back({.label = "mean policy, evaluation", .x = iteration, .y = metrics.column("eval_mean"), .dots = true});
  write_chart(png, chart);
}

}  // namespace iap
