// What titles, numbers and labels need of a chart's room. Include canvas.hpp first, and import :axis.
#pragma once

namespace iap {

/// Where the first row of what stands below a title begins; a title in two lines takes `title_row` more.
inline constexpr double title_height = 46, title_row = 22, title_size = 17;

/// A title in one line or two that are no wider than `width`.
std::vector<std::string> title_lines(Canvas& canvas, const std::string& title, double width);
/// How much farther down the chart begins for the title's second line.
double title_growth(const std::vector<std::string>& lines);
void write_title(Canvas& canvas, double x, const std::vector<std::string>& lines);

/// Words around x, shortened to what the picture holds there.
void write_x_label(Canvas& canvas, double x, double y, const std::string& label);
/// Words that run upwards along the left edge around y, shortened to what the picture holds there.
void write_y_label(Canvas& canvas, double y, const std::string& label);

double widest(Canvas& canvas, const std::vector<std::string>& labels);
/// What an axis of such numbers needs on its left side, with a label that runs upwards beside them or none.
double left_margin(Canvas& canvas, const std::vector<std::string>& numbers, const std::string& label);

/// Whether the numbers along an axis of `length` pixels keep apart.
bool labels_fit(Canvas& canvas, const Axis& axis, double length);
/// Clears the numbers that would run into those before them.
void thin_labels(Canvas& canvas, Axis& axis, double length);

/// The axis that `make(count)` gives for as many intervals, `most` or fewer, as have room for their numbers in `length` pixels.
template <typename Make>
Axis axis_along(Canvas& canvas, int most, double length, const Make& make) {
  Axis axis = make(most);
  for (int count = most - 1; count > 0 && !labels_fit(canvas, axis, length); --count) axis = make(count);
  thin_labels(canvas, axis, length);
  return axis;
}

/// What the last number along an axis of `length` pixels needs behind the axis's end.
double end_margin(Canvas& canvas, const Axis& axis, double length);

}  // namespace iap
