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

Range widened(Range range) {
  constexpr double narrow = 1e-12, share = 1e-6;
  const double size = std::max(std::abs(range.low), std::abs(range.high)), span = range.high - range.low;
  if (std::isinf(span)) throw Error(text("values from ", range.low, " to ", range.high, " are too far apart for an axis"));
  if (!(span > std::max(narrow * size, 1e-290))) range.high = range.low + std::max(1.0, share * size);
  return range;
}

std::vector<double> ticks(const Range& range, int count, bool whole) {
  // Where steps are rounding errors, adding one to another leads nowhere.
  if (!(range.high > range.low) || widened(range).high != range.high) return {};
  const double step = tick_step(range, count, whole);
  std::vector<double> values;
  // By multiplication, so that no rounding errors add up; the slack keeps an end that is itself a tick.
  for (double i = std::ceil(range.low / step - slack); i * step <= range.high + slack * step; ++i) values.push_back(i * step);
  return values;
}

namespace {

/// Without zeros at the end of what stands behind the point.
void trim_zeros(std::string& number) {
  if (number.find('.') == std::string::npos) return;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
}

/// The fewest digits behind the point that give each of `values` but for a thousandth of a step.
int digits_for(const std::vector<double>& values, double step) {
  constexpr int most = 17;
  int digits = 0;
  for (const double value : values)
    while (digits < most && std::abs(std::round(value * std::pow(10.0, digits)) / std::pow(10.0, digits) - value) > 0.001 * step)
      ++digits;
  return digits;
}

}  // namespace

std::string tick_label(double value) {
  const double size = std::abs(value);
  if (size < 1e-12) return "0";
  const bool plain = size >= 1e-7 && size < 1e7;
  // Six digits behind the point or the first zeros; then no zeros at the end.
  const int digits = std::clamp(5 - static_cast<int>(std::floor(std::log10(size))), 0, 12);
  std::string label = plain ? fixed_text(value, digits) : general_text(value, 6);
  if (plain) trim_zeros(label);
  return label;
}

std::string Notation::label(double value) const {
  std::string number = fixed_text(value / std::pow(10.0, exponent), digits);
  trim_zeros(number);
  if (number == "-0") number = "0";
  return exponent == 0 || number == "0" ? number : text(number, "·", power_label(exponent));
}

Notation notation_of(const std::vector<double>& ticks) {
  constexpr double least_plain = 1e-4, most_plain = 1e7, most_whole = 1e15;
  constexpr int most_digits = 6;
  double largest = 0;
  for (const double tick : ticks) largest = std::max(largest, std::abs(tick));
  if (largest == 0) return {};
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 0.001 * largest;
  const Notation plain{0, digits_for(ticks, step)};
  if (largest >= least_plain && largest < most_plain) return plain;
  const int exponent = static_cast<int>(std::floor(std::log10(largest)));
  std::vector<double> scaled;
  for (const double tick : ticks) scaled.push_back(tick / std::pow(10.0, exponent));
  const Notation powers{exponent, digits_for(scaled, step / std::pow(10.0, exponent))};
  return powers.digits > most_digits && largest >= most_plain && largest < most_whole ? plain : powers;
}

std::vector<std::string> tick_labels(const std::vector<double>& ticks) {
  const Notation notation = notation_of(ticks);
  std::vector<std::string> labels;
  for (const double tick : ticks) labels.push_back(notation.label(tick));
  return labels;
}

std::string power_label(int exponent) {
  constexpr std::array<std::string_view, 10> raised{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string label = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) label += raised[static_cast<std::size_t>(digit - '0')];
  return label;
}

std::string with_stages(std::string caption, const std::vector<double>& starts) {
  if (starts.empty()) return caption;
  return text(caption, caption.empty() ? "" : " ", "Vertical lines: a new stage begins.");
}

Axis linear_axis(Range range, int count, bool whole) {
  range = widened(range);
  const double step = tick_step(range, count, whole);
  Axis axis;
  const double first = std::floor(range.low / step + slack), last = std::ceil(range.high / step - slack);
  for (double i = first; i <= last; ++i) axis.ticks.push_back(i * step);
  axis.labels = tick_labels(axis.ticks);
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
      if (value == 0 || std::isinf(value)) continue;  // a power beyond all numbers
      axis.ticks.push_back(value);
      if (are_long)
        axis.labels.push_back(factor > 1 ? text(factor, "·", power_label(exponent)) : power_label(exponent));
      else
        axis.labels.push_back(tick_label(value));
    }
  // Of 1, 2 and 5 only those that the range reaches.
  while (axis.ticks.size() > 2 && axis.ticks[1] <= range.low * (1 + slack))
    axis.ticks.erase(axis.ticks.begin()), axis.labels.erase(axis.labels.begin());
  while (axis.ticks.size() > 2 && axis.ticks[axis.ticks.size() - 2] >= range.high * (1 - slack))
    axis.ticks.pop_back(), axis.labels.pop_back();
  axis.range = {std::min(axis.ticks.front(), range.low), std::max(axis.ticks.back(), range.high)};
  return axis;
}

double signed_decades(double value, double linear) {
  const double size = std::abs(value) / linear;
  return std::copysign(size <= 1 ? size : 1 + std::log10(size), value);
}

double from_signed_decades(double decades, double linear) {
  const double size = std::abs(decades);
  return std::copysign(linear * (size <= 1 ? size : std::pow(10.0, size - 1)), decades);
}

Axis signed_axis(const Range& range, double linear, int count) {
  Axis axis{.range = range, .linear = linear};
  const int least = static_cast<int>(std::lround(std::log10(linear)));
  const double begin = signed_decades(range.low, linear), end = signed_decades(range.high, linear);
  const int most = least - 1 + static_cast<int>(std::floor(std::max(-begin, end) + slack));
  // Ticks stand as far from 0 as from each other.
  const int every = std::max(1, static_cast<int>(std::ceil((end - begin) / count)));
  const bool are_long = least < -4 || most > 6;
  const auto add = [&](double tick, const std::string& label) {
    if (const double at = signed_decades(tick, linear); at < begin - slack || at > end + slack) return;
    axis.ticks.push_back(tick);
    axis.labels.push_back(label);
  };
  const auto add_power = [&](int step, bool negative) {
    const int exponent = least - 1 + step * every;
    const double size = std::pow(10.0, exponent);
    add(negative ? -size : size, (negative ? "-" : "") + (are_long ? power_label(exponent) : tick_label(size)));
  };
  const int steps = (most - least + 1) / every;
  for (int step = steps; step >= 1; --step) add_power(step, true);
  add(0, "0");
  for (int step = 1; step <= steps; ++step) add_power(step, false);
  return axis;
}

}  // namespace iap
