module;
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>
/// What the axes of charts have in common.
module iap.report:axis;

namespace iap {

/// The interval that holds all finite values it has met.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

/// Multiples of 1, 2 or 5 times a power of ten inside `range`, about `count` of them.
std::vector<double> ticks(const Range& range, int count);
/// Up to six digits.
std::string tick_label(double value);
/// 10^decade as a share: "0.1%" for -3.
std::string share_label(int decade);

}  // namespace iap
