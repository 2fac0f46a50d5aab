module;
#include <cmath>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import :axis;

namespace iap {
namespace {

double tick_step(double span, int count) {
  const double raw = span / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw) return factor * power;
  return 10 * power;
}

}  // namespace

std::vector<double> ticks(const Range& range, int count) {
  if (!(range.high > range.low)) return {};
  const double step = tick_step(range.high - range.low, count);
  std::vector<double> values;
  // By multiplication, so that no rounding errors add up; the slack keeps an end that is itself a tick.
  for (double i = std::ceil(range.low / step - 1e-9); i * step <= range.high + 1e-9 * step; ++i) values.push_back(i * step);
  return values;
}

std::string tick_label(double value) { return text(std::abs(value) < 1e-12 ? 0.0 : value); }

std::string share_label(int decade) { return decade == 0 ? "100%" : tick_label(std::pow(10.0, decade + 2)) + "%"; }

}  // namespace iap
