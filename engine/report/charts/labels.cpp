module;
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import :axis;
#include "canvas.hpp"
#include "labels.hpp"

namespace iap {
namespace {

constexpr double edge = 4, between_numbers = 10;

/// Where label `i` stands along an axis of `length` pixels: its left and its right end.
struct Stretch {
  double begin, end;
};

Stretch stretch(Canvas& canvas, const Axis& axis, std::size_t i, double length) {
  const double middle = axis.share(axis.ticks[i]) * length, half = canvas.width_of(axis.labels[i]) / 2;
  return {middle - half, middle + half};
}

/// How wide words around `middle` may be in a picture of `size` pixels.
double room_around(double middle, double size) { return 2 * (std::min(middle, size - middle) - edge); }

}  // namespace

std::vector<std::string> title_lines(Canvas& canvas, const std::string& title, double width) {
  if (canvas.width_of(title, title_size) <= width) return {title};
  return canvas.wrapped(title, width, title_size, 2);
}

double title_growth(const std::vector<std::string>& lines) { return lines.size() > 1 ? title_row : 0; }

void write_title(Canvas& canvas, double x, const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i)
    canvas.write(x, title_height / 2 + title_row * static_cast<double>(i), lines[i], 0, title_size);
}

void write_x_label(Canvas& canvas, double x, double y, const std::string& label) {
  canvas.write(x, y, canvas.shortened(label, room_around(x, canvas.width())), .5);
}

void write_y_label(Canvas& canvas, double y, const std::string& label) {
  canvas.write_upwards(16, y, canvas.shortened(label, room_around(y, canvas.height())));
}

double widest(Canvas& canvas, const std::vector<std::string>& labels) {
  double width = 0;
  for (const auto& label : labels) width = std::max(width, canvas.width_of(label));
  return width;
}

double left_margin(Canvas& canvas, const std::vector<std::string>& numbers, const std::string& label) {
  constexpr double label_width = 28, tick = 8;
  return (label.empty() ? edge : label_width) + widest(canvas, numbers) + tick;
}

bool labels_fit(Canvas& canvas, const Axis& axis, double length) {
  for (std::size_t i = 1; i < axis.ticks.size(); ++i)
    if (stretch(canvas, axis, i, length).begin < stretch(canvas, axis, i - 1, length).end + between_numbers) return false;
  return true;
}

void thin_labels(Canvas& canvas, Axis& axis, double length) {
  double end = -length;
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const Stretch label = stretch(canvas, axis, i, length);
    if (label.begin < end + between_numbers)
      axis.labels[i].clear();
    else
      end = label.end;
  }
}

double end_margin(Canvas& canvas, const Axis& axis, double length) {
  double end = 0;
  for (std::size_t i = 0; i < axis.ticks.size(); ++i)
    if (!axis.labels[i].empty()) end = std::max(end, stretch(canvas, axis, i, length).end - length + edge);
  return end;
}

}  // namespace iap
