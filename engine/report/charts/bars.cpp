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

constexpr double least_left = 76, right = 22, foot = 48, share_of_slot = .7, label_row = 17, between = 8;

Range range_of(const BarChart& chart) {
  if (chart.bars.empty()) throw Error(text("chart '", chart.title, "': there is no bar to draw"));
  Range range;
  range.include(0);
  for (const Bar& bar : chart.bars) {
    if (!std::isfinite(bar.value) || bar.value < 0)
      throw Error(text("chart '", chart.title, "': bar '", bar.label, "' must not be negative, got ", bar.value));
    range.include(1.08 * bar.value);
  }
  return range;
}

class Drawing {
 public:
  explicit Drawing(const BarChart& chart) : chart_(chart), canvas_(chart.width, chart.height) {
    const Range range = range_of(chart);
    // The wider the numbers on the axis, the less room is left for words, and the lower the axis may be.
    for (double before = 0; before < left_;) {
      before = left_;
      place_title();
      place_labels();
      axis_ = linear_axis(range, std::max(3, static_cast<int>((floor_ - top_) / 60)));
      left_ = std::max(left_, left_margin(canvas_, axis_.labels, chart.y_label));
    }
  }

  Image draw() {
    const double end = chart_.width - right;
    for (std::size_t i = 0; i < axis_.ticks.size(); ++i) {
      const double y = map_y(axis_.ticks[i]);
      canvas_.line(left_, y, end, y, .88);
      canvas_.line(left_ - 4, y, left_, y, .25);
      canvas_.write(left_ - 8, y, axis_.labels[i], 1);
    }
    const bool with_values = values_fit();
    for (std::size_t i = 0; i < chart_.bars.size(); ++i) draw_bar(i, with_values);
    canvas_.line(left_, floor_, end, floor_, .25);
    canvas_.line(left_, top_, left_, floor_, .25);
    canvas_.colour({0, 0, 0});
    write_title(canvas_, left_, title_);
    write_y_label(canvas_, (top_ + floor_) / 2, chart_.y_label);
    return canvas_.image();
  }

 private:
  double plot_width() const { return chart_.width - left_ - right; }
  double slot() const { return plot_width() / static_cast<double>(chart_.bars.size()); }
  double middle(std::size_t bar) const { return left_ + (static_cast<double>(bar) + .5) * slot(); }
  double map_y(double value) const { return floor_ - axis_.share(value) * (floor_ - top_); }

  void place_title() {
    title_ = title_lines(canvas_, chart_.title, plot_width());
    top_ = title_height + title_growth(title_);
  }

  /// Below each bar in lines, as long as words have room there; else upwards, below every bar or every nth.
  void place_labels() {
    constexpr double least_slot = 90;
    constexpr std::size_t most_lines = 3;
    floor_ = chart_.height - foot;
    labels_.clear();
    upwards_ = false;
    std::vector<std::string> labels;
    for (const Bar& bar : chart_.bars) labels.push_back(bar.label);
    const double longest = widest(canvas_, labels);
    if (longest <= slot()) {
      for (const auto& label : labels) labels_.push_back({label});
    } else if (slot() >= least_slot) {
      std::size_t lines = 1;
      for (const auto& label : labels) {
        labels_.push_back(canvas_.wrapped(label, slot() - between, 14, most_lines));
        lines = std::max(lines, labels_.back().size());
      }
      floor_ -= label_row * static_cast<double>(lines - 1);
    } else {
      upwards_ = true;
      nth_ = static_cast<std::size_t>(std::ceil(label_row / slot()));
      const double room = std::min(longest, chart_.height / 3.0);
      for (const auto& label : cut_apart(labels, [&](const std::string& words) { return canvas_.shortened(words, room); }))
        labels_.push_back({label});
      floor_ = std::min(floor_, chart_.height - room - 2 * between);
    }
  }

  /// Three digits say how long a bar is, or all of those before the point: a number without a power of ten reads as exact. In the
  /// axis's notation, unless zeros before the first digit would hide how much shorter the bar is; then in its own.
  std::string value_label(double value) const {
    constexpr int digits = 3, most_zeros = 3, least_plain = -4, most_plain = 6;
    const int power = static_cast<int>(std::floor(std::log10(std::max(value, 1e-300))));
    int exponent = notation_of(axis_.ticks).exponent;
    if (exponent != 0 && exponent - power >= most_zeros) exponent = 0;
    if (exponent == 0 && (power < least_plain || power > most_plain)) exponent = power;
    return Notation{exponent, std::max(digits - 1 - power + exponent, 0)}.label(value);
  }

  bool values_fit() {
    std::vector<std::string> values;
    for (const Bar& bar : chart_.bars) values.push_back(value_label(bar.value));
    return widest(canvas_, values) <= slot();
  }

  void draw_bar(std::size_t i, bool with_value) {
    const double x = middle(i), height = map_y(chart_.bars[i].value);
    canvas_.colour(palette[0]);
    canvas_.rectangle(x - share_of_slot * slot() / 2, height, share_of_slot * slot(), floor_ - height);
    canvas_.colour({0, 0, 0});
    if (upwards_ && i % nth_ == 0) canvas_.write_upwards(x, floor_ + between, labels_[i].front(), 1);
    for (std::size_t line = 0; !upwards_ && line < labels_[i].size(); ++line)
      canvas_.write(x, floor_ + 18 + label_row * static_cast<double>(line), labels_[i][line], .5);
    if (with_value) canvas_.write(x, std::round(height) - 10, value_label(chart_.bars[i].value), .5);
  }

  const BarChart& chart_;
  Canvas canvas_;
  Axis axis_;
  std::vector<std::string> title_;
  std::vector<std::vector<std::string>> labels_;  ///< the lines of each
  bool upwards_ = false;
  std::size_t nth_ = 1;
  double left_ = least_left, top_ = title_height, floor_ = 0;
};

}  // namespace

void write_bars(const std::filesystem::path& path, const BarChart& chart) {
  check_picture_name(path, "a chart");
  write_png(path, Drawing(chart).draw().view());
}

}  // namespace iap
