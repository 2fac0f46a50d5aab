module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>
module iap.report;
import iap.core;
import :axis;

namespace iap {
namespace {

constexpr double slack = 1e-9;  // rounding errors, as a part of a step

/// The step that makes the number of intervals most like `count`; of two that do, the finer.
double tick_step(const Range& range, int count, bool whole) {
  const double span = range.high - range.low, power = std::pow(10.0, std::floor(std::log10(span / count)));
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (const double factor : {0.5, 1.0, 2.0, 2.5, 5.0, 10.0}) {
    const double step = factor * power;
    if ((factor == 2.5 && power == 1) || (whole && step < 1)) continue;
    const double intervals = std::ceil(range.high / step - slack) - std::floor(range.low / step + slack);
    const double away = std::abs(intervals - count);
    if (away < least) best = step, least = away;
  }
  return best > 0 ? best : 1;
}

}  // namespace

std::vector<double> ticks(const Range& range, int count, bool whole) {
  if (!(range.high > range.low)) return {};
  const double step = tick_step(range, count, whole);
  std::vector<double> values;
  // By multiplication, so that no rounding errors add up; the slack keeps an end that is itself a tick.
  for (double i = std::ceil(range.low / step - slack); i * step <= range.high + slack * step; ++i) values.push_back(i * step);
  return values;
}

std::string tick_label(double value) {
  const double size = std::abs(value);
  if (size < 1e-12) return "0";
  const bool plain = size >= 1e-7 && size < 1e7;
  // Six digits behind the point or the first zeros; then no zeros at the end.
  const int digits = std::clamp(5 - static_cast<int>(std::floor(std::log10(size))), 0, 12);
  std::string label = plain ? fixed_text(value, digits) : general_text(value, 6);
  if (plain && label.find('.') != std::string::npos) {
    label.erase(label.find_last_not_of('0') + 1);
    if (label.back() == '.') label.pop_back();
  }
  return label;
}

std::string power_label(int exponent) {
  constexpr std::array<std::string_view, 10> raised{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string label = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) label += raised[static_cast<std::size_t>(digit - '0')];
  return label;
}

Axis linear_axis(Range range, int count, bool whole) {
  if (!(range.high > range.low)) range.high = range.low + 1;
  const double step = tick_step(range, count, whole);
  Axis axis;
  const double first = std::floor(range.low / step + slack), last = std::ceil(range.high / step - slack);
  for (double i = first; i <= last; ++i) {
    axis.ticks.push_back(i * step);
    axis.labels.push_back(tick_label(i * step));
  }
  axis.range = {axis.ticks.front(), axis.ticks.back()};
  return axis;
}

Axis logarithmic_axis(const Range& range) {
  const int first = static_cast<int>(std::floor(std::log10(range.low) + slack));
  const int last = std::max(first + 1, static_cast<int>(std::ceil(std::log10(range.high) - slack)));
  const bool powers = last - first > 2, are_long = first < -4 || last > 6;
  Axis axis{.logarithmic = true};
  for (int exponent = first; exponent <= last; ++exponent)
    for (const double factor : {1.0, 2.0, 5.0}) {
      if ((powers && factor > 1) || (exponent == last && factor > 1)) continue;
      const double value = factor * std::pow(10.0, exponent);
      axis.ticks.push_back(value);
      axis.labels.push_back(powers && are_long ? power_label(exponent) : tick_label(value));
    }
  // Of 1, 2 and 5 only those that the range reaches.
  while (axis.ticks.size() > 2 && axis.ticks[1] <= range.low * (1 + slack))
    axis.ticks.erase(axis.ticks.begin()), axis.labels.erase(axis.labels.begin());
  while (axis.ticks.size() > 2 && axis.ticks[axis.ticks.size() - 2] >= range.high * (1 - slack))
    axis.ticks.pop_back(), axis.labels.pop_back();
  axis.range = {axis.ticks.front(), axis.ticks.back()};
  return axis;
}

}  // namespace iap
