module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>
/// What the axes of charts have in common.
module iap.report:axis;

namespace iap {

/// Of a learning curve, so many evaluations are told apart by dots; more of them would hide the line.
inline constexpr std::size_t most_dots = 100;

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

/// `range` as an axis can show it: one of no width, or of no more than rounding errors, is widened upwards. @throws Error for one
/// whose width no number holds.
Range widened(Range range);

/// Multiples inside `range` of 1, 2, 2.5 or 5 times a power of ten (of 2.5 itself never: who counts wants whole numbers), as near
/// to `count` intervals as they come. With `whole`, only whole numbers.
std::vector<double> ticks(const Range& range, int count, bool whole = false);

/// Up to six digits, and no exponent from a ten-millionth to ten million.
std::string tick_label(double value);

/// How the numbers on an axis are written: all of them with the same power of ten, and with as many digits as tell its ticks apart.
struct Notation {
  int exponent = 0;  ///< of the power of ten behind each number; 0: none
  int digits = 0;    ///< behind the point, at most
  /// "1.5", or "1.5·10⁷".
  std::string label(double value) const;
};

/// No power of ten where the largest of `ticks`, which are evenly spaced, lies between 0.0001 and ten million, nor where the
/// numbers differ in their last digits alone.
Notation notation_of(const std::vector<double>& ticks);
/// In the notation of all.
std::vector<std::string> tick_labels(const std::vector<double>& ticks);

/// "10⁻³".
std::string power_label(int exponent);

/// Where `value` lies on an axis that is linear from -`linear` to `linear` and logarithmic beyond, in decades from 0; the linear
/// part has the width of two.
double signed_decades(double value, double linear);
/// The value that lies there.
double from_signed_decades(double decades, double linear);

/// An axis that begins and ends on a tick.
struct Axis {
  Range range;
  bool logarithmic = false;
  double linear = 0;  ///< positive: as in `signed_decades`, whatever `logarithmic` says
  std::vector<double> ticks;
  std::vector<std::string> labels;  ///< one for each

  /// Where `value` lies: 0 at the beginning, 1 at the end.
  double share(double value) const {
    if (linear > 0) {
      const double begin = signed_decades(range.low, linear);
      return (signed_decades(value, linear) - begin) / (signed_decades(range.high, linear) - begin);
    }
    // Of the logarithms, as no number may hold the ratio of two ends.
    if (logarithmic) return (std::log(value) - std::log(range.low)) / (std::log(range.high) - std::log(range.low));
    return (value - range.low) / (range.high - range.low);
  }
};

/// The caption of a chart with a vertical line at each of `starts`, where a run's stages begin.
std::string with_stages(std::string caption, const std::vector<double>& starts);

/// Around `range`, with ticks as `ticks`.
Axis linear_axis(Range range, int count, bool whole = false);
/// Around `range` (positive), with ticks at powers of ten, or where those are fewer than three, at 1, 2 and 5 times them. Labels
/// are powers of ten where the numbers would be long.
Axis logarithmic_axis(const Range& range);
/// From the beginning of `range` to its end, as in `signed_decades`, with about `count` ticks: 0 and powers of ten of both signs.
/// `linear` is a power of ten. Labels as those of `logarithmic_axis`.
Axis signed_axis(const Range& range, double linear, int count);

}  // namespace iap
