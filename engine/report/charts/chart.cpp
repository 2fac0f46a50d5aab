module;
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
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
import :figures;
import :run_data;
#include "canvas.hpp"
#include "cut_apart.hpp"
#include "labels.hpp"

namespace iap {
namespace {

constexpr double least_left = 76, least_right = 22, legend_row = 20, sign_width = 30, foot = 58, caption_size = 13,
                 caption_row = 18;

/// In how many ways lines, and points, of one colour are drawn.
constexpr std::size_t looks = 6;

/// Whether point `i` of a line or a band has a place in the plot.
bool is_there(const Series& series, std::size_t i) { return std::isfinite(series.x[i]) && std::isfinite(series.y[i]); }
bool has_band(const Series& series, std::size_t i) {
  return is_there(series, i) && std::isfinite(series.low[i]) && std::isfinite(series.high[i]);
}
/// No line leads from such a point to another.
bool is_alone(const Series& series, std::size_t i) {
  return is_there(series, i) && !(i > 0 && is_there(series, i - 1)) && !(i + 1 < series.x.size() && is_there(series, i + 1));
}

class Plot {
 public:
  /// `marks`: places on the x axis at which something begins.
  Plot(const Chart& chart, std::vector<double> marks)
      : chart_(chart), canvas_(chart.width, chart.height), marks_(std::move(marks)) {
    Range x, y;
    bool whole = true;
    for (const auto& series : chart.series)
      for (std::size_t i = 0; i < series.y.size(); ++i) {
        if (!is_there(series, i)) continue;
        x.include(series.x[i]);
        whole = whole && series.x[i] == std::round(series.x[i]);
        y.include(series.y[i]);
        if (!series.low.empty()) y.include(series.low[i]), y.include(series.high[i]);
      }
    if (x.empty()) throw Error(text("chart '", chart.title, "': there is no finite point to draw"));
    if (chart.log_x && !(x.low > 0))
      throw Error(text("chart '", chart.title, "': a logarithmic x axis has no place for ", x.low, "; every x must be above 0"));
    if (chart.log_x && chart.from_zero)
      throw Error(text("chart '", chart.title, "': a logarithmic x axis has no 0 to begin at; leave out log_x or from_zero"));
    lay_out(y);
    choose_x(x, whole);
  }

  Image draw() {
    draw_axes();
    draw_marks();
    for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_band(chart_.series[i], colour_of(i));
    for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_series(i);
    draw_legend();
    return canvas_.image();
  }

 private:
  double plot_width() const { return chart_.width - left_ - right_; }
  double map_x(double x) const { return left_ + x_.share(x) * plot_width(); }
  double map_y(double y) const { return chart_.height - bottom_ - y_.share(y) * (chart_.height - top_ - bottom_); }

  /// The wider the numbers of the y axis, the less room is left for words, and the lower the axis may be.
  void lay_out(const Range& y) {
    for (double before = 0; before < left_;) {
      before = left_;
      place_words();
      choose_y(y);
      left_ = std::max(left_, left_margin(canvas_, y_.labels, chart_.y_label));
    }
  }

  void place_words() {
    title_ = title_lines(canvas_, chart_.title, plot_width());
    top_ = title_height + title_growth(title_);
    place_legend();
    caption_ = canvas_.wrapped(chart_.caption, plot_width(), caption_size);
    bottom_ = foot + caption_row * static_cast<double>(caption_.size());
    constexpr double least = 40;
    if (chart_.height - top_ - bottom_ < least)
      throw Error(text("chart '", chart_.title, "': title, legend and caption leave no room for the plot in ", chart_.height,
                       " pixels of height; make it higher, or shorten them"));
  }

  void choose_y(Range y) {
    constexpr double pixels_per_y = 60;
    if (chart_.y_from_zero) y.include(0);
    y_ = linear_axis(y, std::max(3, static_cast<int>((chart_.height - top_ - bottom_) / pixels_per_y)));
  }

  void choose_x(Range x, bool whole) {
    constexpr double pixels_per_x = 80;
    const int most = std::max(2, static_cast<int>(plot_width() / pixels_per_x));
    if (chart_.from_zero) x.include(0);
    x_ = axis_along(canvas_, most, plot_width(), [&](int count) {
      if (chart_.log_x) return logarithmic_axis(x);
      if (chart_.from_zero) return linear_axis(x, count, whole);
      // Curves fill the plot from side to side.
      Axis axis{.range = widened(x)};
      axis.ticks = ticks(axis.range, count, whole);
      axis.labels = tick_labels(axis.ticks);
      return axis;
    });
    right_ = std::max(right_, end_margin(canvas_, x_, plot_width()));
  }

  void draw_axes() {
    const double floor = chart_.height - bottom_, end = chart_.width - right_;
    for (std::size_t i = 0; i < y_.ticks.size(); ++i) {
      const double y = map_y(y_.ticks[i]);
      canvas_.line(left_, y, end, y, .88);
      canvas_.line(left_ - 4, y, left_, y, .25);
      canvas_.write(left_ - 8, y, y_.labels[i], 1);
    }
    for (std::size_t i = 0; i < x_.ticks.size(); ++i) {
      const double x = map_x(x_.ticks[i]);
      canvas_.line(x, floor, x, floor + 5, .25);
      canvas_.write(x, floor + 17, x_.labels[i], .5);
    }
    canvas_.line(left_, floor, end, floor, .25);
    canvas_.line(left_, top_, left_, floor, .25);
    canvas_.colour({0, 0, 0});
    write_title(canvas_, left_, title_);
    write_x_label(canvas_, (left_ + end) / 2, floor + foot - 16, chart_.x_label);
    write_y_label(canvas_, (top_ + floor) / 2, chart_.y_label);
    canvas_.colour({.3, .3, .3});
    for (std::size_t i = 0; i < caption_.size(); ++i)
      canvas_.write(left_, floor + foot + caption_row * (static_cast<double>(i) + .3), caption_[i], 0, caption_size);
  }

  void draw_marks() {
    for (const double mark : marks_)
      if (const double share = x_.share(mark); share >= 0 && share <= 1)
        canvas_.line(map_x(mark), top_, map_x(mark), chart_.height - bottom_, .55);
  }

  void draw_series(std::size_t number) {
    const Series& series = chart_.series[number];
    cairo_t* cairo = canvas_.get();
    canvas_.colour(colour_of(number));
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (std::size_t i = 0; series.line && i < series.x.size(); ++i) {
      if (is_there(series, i))
        cairo_line_to(cairo, map_x(series.x[i]), map_y(series.y[i]));
      else
        cairo_new_sub_path(cairo);
    }
    stroke(number, 2);
    for (std::size_t i = 0; i < series.x.size(); ++i)
      if (series.dots ? is_there(series, i) : series.line && is_alone(series, i))
        dot(number, map_x(series.x[i]), map_y(series.y[i]), series.line ? 3.5 : 4.5);
    if (!series.low.empty() && !series.line) draw_whiskers(series);
  }

  /// Before all lines, which it would tint.
  void draw_band(const Series& series, const Colour& colour) {
    if (series.low.empty() || !series.line) return;
    cairo_t* cairo = canvas_.get();
    for (std::size_t begin = 0; begin < series.x.size(); ++begin) {
      std::size_t end = begin;
      while (end < series.x.size() && has_band(series, end)) ++end;
      if (end == begin) continue;
      for (std::size_t i = begin; i < end; ++i) cairo_line_to(cairo, map_x(series.x[i]), map_y(series.low[i]));
      for (std::size_t i = end; i-- > begin;) cairo_line_to(cairo, map_x(series.x[i]), map_y(series.high[i]));
      cairo_close_path(cairo);
      cairo_new_sub_path(cairo);
      begin = end;
    }
    cairo_set_source_rgba(cairo, colour[0], colour[1], colour[2], .18);
    cairo_fill(cairo);
  }

  /// In the colour that is set.
  void draw_whiskers(const Series& series) {
    constexpr double end = 7;
    cairo_t* cairo = canvas_.get();
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!has_band(series, i)) continue;
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
    std::string label;
  };

  /// In rows between the title and the plot, where no point can lie.
  void place_legend() {
    constexpr double gap = 24;
    legend_.clear();
    double x = left_, y = top_;
    std::vector<std::string> labels;
    for (const auto& series : chart_.series) labels.push_back(series.label);
    labels = cut_apart(labels, [&](const std::string& label) { return canvas_.shortened(label, plot_width() - sign_width); });
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::string& label = labels[i];
      if (label.empty()) continue;
      const double width = sign_width + canvas_.width_of(label);
      if (x > left_ && x + width > chart_.width - right_) x = left_, y += legend_row;
      legend_.push_back({i, x, y, label});
      x += width + gap;
    }
    if (!legend_.empty()) top_ = y + legend_row;
  }

  void draw_legend() {
    for (const auto& [i, x, y, label] : legend_) {
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
      canvas_.write(x + sign_width, y, label, 0);
    }
  }

  std::size_t place_in_palette(std::size_t series) const {
    const int own = chart_.series[series].colour;
    return own < 0 ? series : static_cast<std::size_t>(own);
  }
  const Colour& colour_of(std::size_t series) const { return palette[place_in_palette(series) % palette.size()]; }
  /// How many series before this one have its colour, where each has its own place.
  std::size_t round_of(std::size_t series) const { return place_in_palette(series) / palette.size(); }

  /// A point of a series: points that share a colour differ by their shape, all of the same area.
  void dot(std::size_t series, double x, double y, double radius) {
    cairo_t* cairo = canvas_.get();
    const auto polygon = [&](int corners, double first) {
      const double turn = 2 * std::numbers::pi / corners, size = radius * std::sqrt(turn / std::sin(turn));
      for (int i = 0; i < corners; ++i)
        cairo_line_to(cairo, x + size * std::cos(first + i * turn), y + size * std::sin(first + i * turn));
      cairo_close_path(cairo);
    };
    constexpr double up = -std::numbers::pi / 2, right_up = -std::numbers::pi / 4;
    switch (round_of(series) % looks) {
      case 0: cairo_arc(cairo, x, y, radius, 0, 2 * std::numbers::pi); break;
      case 1: polygon(4, right_up); break;
      case 2: polygon(4, up); break;
      case 3: polygon(3, up); break;
      case 4: polygon(3, -up); break;
      default: cross(x, y, radius);
    }
    cairo_fill(cairo);
  }

  /// Two bars across each other.
  void cross(double x, double y, double radius) {
    const double thick = radius * std::sqrt(std::numbers::pi / 5), reach = 1.5 * thick;
    for (const auto& [wide, high] : {std::pair(reach, thick / 2), std::pair(thick / 2, reach)})
      cairo_rectangle(canvas_.get(), x - wide, y - high, 2 * wide, 2 * high);
  }

  /// The path, as the line of a series: lines that share a colour differ by their dashes.
  void stroke(std::size_t series, double width) {
    static const std::array<std::vector<double>, looks> patterns{{{}, {7, 3}, {2, 2}, {14, 4}, {9, 3, 2, 3}, {8, 2, 2, 2, 2, 2}}};
    const std::vector<double>& pattern = patterns[round_of(series) % looks];
    cairo_set_dash(canvas_.get(), pattern.data(), static_cast<int>(pattern.size()), 0);
    cairo_set_line_width(canvas_.get(), width);
    cairo_stroke(canvas_.get());
    cairo_set_dash(canvas_.get(), nullptr, 0, 0);
  }

  const Chart& chart_;
  Canvas canvas_;
  std::vector<double> marks_;
  Axis x_, y_;
  std::vector<LegendEntry> legend_;
  std::vector<std::string> title_, caption_;
  double left_ = least_left, right_ = least_right, top_ = title_height, bottom_ = foot;
};

void write_plot(const std::filesystem::path& path, const Chart& chart, std::vector<double> marks) {
  check_picture_name(path, "a chart");
  const Image image = Plot(chart, std::move(marks)).draw();
  write_png(path, image.view());
}

}  // namespace

void write_chart(const std::filesystem::path& path, const Chart& chart) { write_plot(path, chart, {}); }

void write_learning_curve(const std::filesystem::path& run, const std::filesystem::path& png) {
  const auto file = run_file(run, "metrics.csv");
  const Table metrics = read_table(file);
  check_metrics(metrics, file, {"iteration", "return_mean", "eval_mean", "eval_std"});
  const auto iteration = metrics.column("iteration");
  Chart chart{.title = "Learning curve", .x_label = "iteration", .y_label = "return"};
  chart.series.push_back({.label = "population mean", .x = iteration, .y = metrics.column("return_mean")});
  Series evaluation{.label = "mean policy, evaluation", .dots = true};
  const auto means = metrics.column("eval_mean"), deviations = metrics.column("eval_std");
  for (std::size_t i = 0; i < means.size(); ++i) {
    // Between evaluations there is nothing missing.
    if (std::isnan(means[i])) continue;
    evaluation.x.push_back(iteration[i]);
    evaluation.y.push_back(means[i]);
    evaluation.low.push_back(means[i] - deviations[i]);
    evaluation.high.push_back(means[i] + deviations[i]);
  }
  evaluation.dots = evaluation.x.size() <= most_dots;
  chart.series.push_back(std::move(evaluation));
  // A single episode has none.
  if (std::ranges::any_of(deviations, [](double deviation) { return std::isfinite(deviation); }))
    chart.caption = "Band: one standard deviation between the evaluation's episodes.";
  const auto stages = stage_starts(metrics);
  chart.caption = with_stages(chart.caption, stages);
  write_plot(png, chart, stages);
}

}  // namespace iap
