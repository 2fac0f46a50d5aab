module;
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import iap.train;
import iap.render;
import :axis;
#include "canvas.hpp"

namespace iap {
namespace {

constexpr double left = 76, right = 22, title_height = 46, legend_row = 20, sign_width = 30, foot = 58, caption_size = 13,
                 caption_row = 18;

class Plot {
 public:
  explicit Plot(const Chart& chart) : chart_(chart), canvas_(chart.width, chart.height) {
    Range x, y;
    bool whole = true;
    for (const auto& series : chart.series)
      for (std::size_t i = 0; i < series.y.size(); ++i) {
        if (!std::isfinite(series.y[i])) continue;
        x.include(series.x[i]);
        whole = whole && series.x[i] == std::round(series.x[i]);
        y.include(series.y[i]);
        if (!series.low.empty()) y.include(series.low[i]), y.include(series.high[i]);
      }
    if (x.empty()) throw Error(text("chart '", chart.title, "': there is no finite point to draw"));
    if (chart.log_x && !(x.low > 0))
      throw Error(text("chart '", chart.title, "': a logarithmic x axis has no place for ", x.low, "; every x must be above 0"));
    place_legend();
    caption_ = canvas_.wrapped(chart.caption, chart.width - left - right, caption_size);
    bottom_ = foot + caption_row * static_cast<double>(caption_.size());
    choose_axes(x, y, whole);
  }

  Image draw() {
    draw_axes();
    for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_band(chart_.series[i], colour_of(i));
    for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_series(i);
    draw_legend();
    return canvas_.image();
  }

 private:
  double map_x(double x) const { return left + x_.share(x) * (chart_.width - left - right); }
  double map_y(double y) const { return chart_.height - bottom_ - y_.share(y) * (chart_.height - top_ - bottom_); }

  void choose_axes(Range x, Range y, bool whole) {
    constexpr double pixels_per_x = 80, pixels_per_y = 60;
    const int across = std::max(2, static_cast<int>((chart_.width - left - right) / pixels_per_x));
    const int upwards = std::max(3, static_cast<int>((chart_.height - top_ - bottom_) / pixels_per_y));
    if (chart_.y_from_zero) y.include(0);
    y_ = linear_axis(y, upwards);
    if (chart_.log_x) {
      x_ = logarithmic_axis(x);
    } else if (chart_.from_zero) {
      x.include(0);
      x_ = linear_axis(x, across, whole);
    } else {
      // Curves fill the plot from side to side.
      if (x.low == x.high) x.high = x.low + 1;
      x_.range = x;
      x_.ticks = ticks(x, across, whole);
      for (const double value : x_.ticks) x_.labels.push_back(tick_label(value));
    }
  }

  void draw_axes() {
    const double floor = chart_.height - bottom_, end = chart_.width - right;
    for (std::size_t i = 0; i < y_.ticks.size(); ++i) {
      const double y = map_y(y_.ticks[i]);
      canvas_.line(left, y, end, y, .88);
      canvas_.line(left - 4, y, left, y, .25);
      canvas_.write(left - 8, y, y_.labels[i], 1);
    }
    for (std::size_t i = 0; i < x_.ticks.size(); ++i) {
      const double x = map_x(x_.ticks[i]);
      canvas_.line(x, floor, x, floor + 5, .25);
      canvas_.write(x, floor + 17, x_.labels[i], .5);
    }
    canvas_.line(left, floor, end, floor, .25);
    canvas_.line(left, top_, left, floor, .25);
    canvas_.colour({0, 0, 0});
    canvas_.write(left, title_height / 2, chart_.title, 0, 17);
    canvas_.write((left + end) / 2, floor + foot - 16, chart_.x_label, .5);
    canvas_.write_upwards(16, (top_ + floor) / 2, chart_.y_label);
    canvas_.colour({.3, .3, .3});
    for (std::size_t i = 0; i < caption_.size(); ++i)
      canvas_.write(left, floor + foot + caption_row * (static_cast<double>(i) + .3), caption_[i], 0, caption_size);
  }

  void draw_series(std::size_t number) {
    const Series& series = chart_.series[number];
    cairo_t* cairo = canvas_.get();
    canvas_.colour(colour_of(number));
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (std::size_t i = 0; series.line && i < series.x.size(); ++i)
      if (std::isfinite(series.y[i])) cairo_line_to(cairo, map_x(series.x[i]), map_y(series.y[i]));
    stroke(number, 2);
    for (std::size_t i = 0; series.dots && i < series.x.size(); ++i) {
      if (!std::isfinite(series.y[i])) continue;
      dot(number, map_x(series.x[i]), map_y(series.y[i]), series.line ? 3.5 : 4.5);
    }
    if (!series.low.empty() && !series.line) draw_whiskers(series);
  }

  /// Before all lines, which it would tint.
  void draw_band(const Series& series, const Colour& colour) {
    if (series.low.empty() || !series.line) return;
    cairo_t* cairo = canvas_.get();
    std::vector<std::size_t> there;
    for (std::size_t i = 0; i < series.x.size(); ++i)
      if (std::isfinite(series.low[i]) && std::isfinite(series.high[i])) there.push_back(i);
    if (there.empty()) return;
    for (const std::size_t i : there) cairo_line_to(cairo, map_x(series.x[i]), map_y(series.low[i]));
    for (auto i = there.rbegin(); i != there.rend(); ++i) cairo_line_to(cairo, map_x(series.x[*i]), map_y(series.high[*i]));
    cairo_close_path(cairo);
    cairo_set_source_rgba(cairo, colour[0], colour[1], colour[2], .18);
    cairo_fill(cairo);
  }

  /// In the colour that is set.
  void draw_whiskers(const Series& series) {
    constexpr double end = 7;
    cairo_t* cairo = canvas_.get();
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!std::isfinite(series.low[i]) || !std::isfinite(series.high[i])) continue;
      const double x = map_x(series.x[i]), low = map_y(series.low[i]), high = map_y(series.high[i]);
      cairo_move_to(cairo, x, low);
      cairo_line_to(cairo, x, high);
      for (const double y : {low, high}) {
        cairo_move_to(cairo, x - end, y);
        cairo_line_to(cairo, x + end, y);
      }
    }
    cairo_stroke(cairo);
  }

  struct LegendEntry {
    std::size_t series;
    double x, y;
  };

  /// In rows between the title and the plot, where no point can lie.
  void place_legend() {
    constexpr double gap = 24;
    double x = left, y = title_height;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const std::string& label = chart_.series[i].label;
      if (label.empty()) continue;
      const double width = sign_width + canvas_.width_of(label);
      if (x > left && x + width > chart_.width - right) x = left, y += legend_row;
      legend_.push_back({i, x, y});
      x += width + gap;
    }
    if (!legend_.empty()) top_ = y + legend_row;
  }

  void draw_legend() {
    for (const auto& [i, x, y] : legend_) {
      cairo_t* cairo = canvas_.get();
      canvas_.colour(colour_of(i));
      if (chart_.series[i].line) {
        cairo_move_to(cairo, x, y);
        cairo_line_to(cairo, x + 22, y);
        stroke(i, 4);
      } else {
        dot(i, x + 11, y, 4.5);
      }
      canvas_.colour({0, 0, 0});
      canvas_.write(x + sign_width, y, chart_.series[i].label, 0);
    }
  }

  std::size_t place_in_palette(std::size_t series) const {
    const int own = chart_.series[series].colour;
    return own < 0 ? series : static_cast<std::size_t>(own);
  }
  const Colour& colour_of(std::size_t series) const { return palette[place_in_palette(series) % palette.size()]; }
  /// How many series before this one have its colour, where each has its own place.
  std::size_t round_of(std::size_t series) const { return place_in_palette(series) / palette.size(); }

  /// A point of a series: points that share a colour differ by their shape (disc, square, diamond), all of the same area.
  void dot(std::size_t series, double x, double y, double radius) {
    constexpr double circle = 2 * std::numbers::pi;
    const double square = std::sqrt(std::numbers::pi) * radius, diagonal = std::sqrt(std::numbers::pi / 2) * radius;
    cairo_t* cairo = canvas_.get();
    switch (round_of(series) % 3) {
      case 0: cairo_arc(cairo, x, y, radius, 0, circle); break;
      case 1: cairo_rectangle(cairo, x - square / 2, y - square / 2, square, square); break;
      default:
        for (const double side : {-diagonal, diagonal}) {
          cairo_line_to(cairo, x + side, y);
          cairo_line_to(cairo, x, y + side);
        }
        cairo_close_path(cairo);
    }
    cairo_fill(cairo);
  }

  /// The path, as the line of a series: lines that share a colour differ by their dashes.
  void stroke(std::size_t series, double width) {
    constexpr std::array<std::array<double, 2>, 2> patterns{{{7, 3}, {2, 2}}};
    const std::size_t round = round_of(series);
    if (round > 0) cairo_set_dash(canvas_.get(), patterns[(round - 1) % patterns.size()].data(), 2, 0);
    cairo_set_line_width(canvas_.get(), width);
    cairo_stroke(canvas_.get());
    cairo_set_dash(canvas_.get(), nullptr, 0, 0);
  }

  const Chart& chart_;
  Canvas canvas_;
  Axis x_, y_;
  std::vector<LegendEntry> legend_;
  std::vector<std::string> caption_;
  double top_ = title_height, bottom_ = foot;
};

}  // namespace

void write_chart(const std::filesystem::path& path, const Chart& chart) {
  const Image image = Plot(chart).draw();
  write_png(path, image.view());
}

void write_learning_curve(const std::filesystem::path& run, const std::filesystem::path& png) {
  const Table metrics = read_table(run / "metrics.csv");
  const auto iteration = metrics.column("iteration");
  Chart chart{.title = "Learning curve", .x_label = "iteration", .y_label = "return"};
  chart.series.push_back({.label = "population mean", .x = iteration, .y = metrics.column("return_mean")});
  Series evaluation{.label = "mean policy, evaluation", .x = iteration, .y = metrics.column("eval_mean"), .dots = true};
  const auto deviations = metrics.column("eval_std");
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    evaluation.low.push_back(evaluation.y[i] - deviations[i]);
    evaluation.high.push_back(evaluation.y[i] + deviations[i]);
  }
  chart.series.push_back(std::move(evaluation));
  chart.caption = "Band: one standard deviation between the evaluation's episodes.";
  write_chart(png, chart);
}

}  // namespace iap
