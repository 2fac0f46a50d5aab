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
#include <string>
#include <vector>
module iap.report;
import iap.core;
import iap.render;
import :axis;
import :figures;
#include "canvas.hpp"
#include "cut_apart.hpp"
#include "labels.hpp"

namespace iap {
namespace {

constexpr double margin = 20, right = 52, legend_row = 20, sign = 12, foot = 58, caption_size = 13, caption_row = 18,
                 bar_height = 12, group_gap = 10, label_gap = 10, number_size = 11,
                 widest_label = .4;  // of the picture

void check(const BarGroups& chart) {
  if (chart.series.empty() || chart.groups.empty()) throw Error(text("chart '", chart.title, "': there is no bar to draw"));
  for (const auto& group : chart.groups) {
    if (group.values.size() != chart.series.size())
      throw Error(text("chart '", chart.title, "': group '", group.label, "' has ", group.values.size(), " values, there are ",
                       chart.series.size(), " series"));
    for (const double value : group.values)
      if (std::isinf(value) || value < 0)
        throw Error(text("chart '", chart.title, "': a bar of '", group.label, "' must not be negative or infinite, got ", value));
  }
}

struct LegendEntry {
  double x, y;
  std::string label;
};

/// A rectangle in the colour of a series: those that share a colour differ by white stripes, which rise, stand, or fall.
void sample(Canvas& canvas, std::size_t series, double x, double y, double width, double height) {
  canvas.colour(palette[series % palette.size()]);
  canvas.rectangle(x, y, width, height);
  const std::size_t round = series / palette.size();
  if (round == 0) return;
  constexpr std::array<double, 3> slopes{1, 0, -1};
  constexpr double apart = 5;
  const double lean = slopes[(round - 1) % slopes.size()] * height;
  cairo_t* cairo = canvas.get();
  cairo_save(cairo);
  cairo_rectangle(cairo, x, y, width, height);
  cairo_clip(cairo);
  canvas.colour({1, 1, 1});
  cairo_set_line_width(cairo, 1.5);
  for (double at = x - height; at < x + width + height; at += apart) {
    cairo_move_to(cairo, at, y + height);
    cairo_line_to(cairo, at + lean, y);
  }
  cairo_stroke(cairo);
  cairo_restore(cairo);
}

class Picture {
 public:
  explicit Picture(const BarGroups& chart) : chart_(chart), measure_(1, 1) {
    for (const auto& group : chart.groups) labels_.push_back(group.label);
    labels_ = cut_apart(labels_, [&](const std::string& label) { return measure_.shortened(label, widest_label * chart.width); });
    left_ = std::max(left_, margin + widest(measure_, labels_) + label_gap);
    end_ = chart.width - right;
    title_ = title_lines(measure_, chart.title, chart.width - 2 * margin);
    place_legend();
    caption_ = measure_.wrapped(chart.caption, chart.width - 2 * margin, caption_size);
    floor_ = top_ + static_cast<double>(chart.groups.size()) * group_height();
    Range range;
    range.include(0);
    for (const auto& group : chart.groups)
      for (const double value : group.values) range.include(value);
    if (chart.most > 0) range = {0, chart.most};
    axis_ = axis_along(measure_, std::max(3, static_cast<int>((end_ - left_) / 80)), end_ - left_,
                       [&](int count) { return linear_axis(range, count); });
  }

  Image draw() {
    const int height = static_cast<int>(floor_ + foot + caption_row * static_cast<double>(caption_.size()) + group_gap);
    Canvas canvas(chart_.width, height);
    for (std::size_t i = 0; i < axis_.ticks.size(); ++i) {
      const double x = map_x(axis_.ticks[i]);
      canvas.line(x, top_, x, floor_, .88);
      canvas.line(x, floor_, x, floor_ + 5, .25);
      canvas.write(x, floor_ + 17, axis_.labels[i], .5);
    }
    for (std::size_t i = 0; i < chart_.groups.size(); ++i) draw_group(canvas, i);
    canvas.line(left_, floor_, end_, floor_, .25);
    canvas.line(left_, top_, left_, floor_, .25);
    canvas.colour({0, 0, 0});
    write_title(canvas, margin, title_);
    write_x_label(canvas, (left_ + end_) / 2, floor_ + foot - 16, chart_.x_label);
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      sample(canvas, i, legend_[i].x, legend_[i].y - sign / 2, sign, sign);
      canvas.colour({0, 0, 0});
      canvas.write(legend_[i].x + sign + 8, legend_[i].y, legend_[i].label, 0);
    }
    canvas.colour({.3, .3, .3});
    for (std::size_t i = 0; i < caption_.size(); ++i)
      canvas.write(margin, floor_ + foot + caption_row * (static_cast<double>(i) + .3), caption_[i], 0, caption_size);
    return canvas.image();
  }

 private:
  double group_height() const { return bar_height * static_cast<double>(chart_.series.size()) + group_gap; }
  double map_x(double value) const { return left_ + axis_.share(value) * (end_ - left_); }

  void draw_group(Canvas& canvas, std::size_t index) {
    const auto& group = chart_.groups[index];
    const double top = top_ + static_cast<double>(index) * group_height() + group_gap / 2;
    canvas.colour({0, 0, 0});
    canvas.write(left_ - label_gap, top + (group_height() - group_gap) / 2, labels_[index], 1);
    for (std::size_t i = 0; i < group.values.size(); ++i) {
      const double y = top + static_cast<double>(i) * bar_height, value = group.values[i];
      const bool there = !std::isnan(value);
      const double end = map_x(there ? std::min(value, axis_.range.high) : 0);
      if (there) sample(canvas, i, left_, y + 1, end - left_, bar_height - 2);
      canvas.colour({.3, .3, .3});
      canvas.write(end + 5, y + bar_height / 2, there ? fixed_text(value, 2) : "–", 0, number_size);
    }
  }

  /// In rows between the title and the plot.
  void place_legend() {
    constexpr double gap = 24;
    double x = margin, y = title_height + title_growth(title_);
    const double room = chart_.width - 2 * margin - sign - 8;
    for (const auto& label : cut_apart(chart_.series, [&](const std::string& words) { return measure_.shortened(words, room); })) {
      const double width = sign + 8 + measure_.width_of(label);
      if (x > margin && x + width > chart_.width - margin) x = margin, y += legend_row;
      legend_.push_back({x, y, label});
      x += width + gap;
    }
    top_ = y + legend_row;
  }

  const BarGroups& chart_;
  Canvas measure_;
  Axis axis_;
  std::vector<LegendEntry> legend_;
  std::vector<std::string> labels_, title_, caption_;
  double left_ = margin, end_ = 0, top_ = 0, floor_ = 0;
};

}  // namespace

void write_bar_groups(const std::filesystem::path& path, const BarGroups& chart) {
  check_picture_name(path, "a chart");
  check(chart);
  const Image image = Picture(chart).draw();
  write_png(path, image.view());
}

}  // namespace iap
