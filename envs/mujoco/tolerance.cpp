module;
#include <cmath>
#include <numbers>
#include <string>
module iap.envs.mujoco;
import iap.core;

namespace iap {
namespace {

double square(double x) { return x * x; }

// The value at `x` margins; each is scaled so that it is 1 at 0 and `v` at 1.
double fall(double x, double v, Sigmoid sigmoid) {
  switch (sigmoid) {
    case Sigmoid::gaussian: return std::exp(x * x * std::log(v));
    case Sigmoid::hyperbolic: return 1 / std::cosh(x * std::acosh(1 / v));
    case Sigmoid::long_tail: return 1 / (x * x * (1 / v - 1) + 1);
    case Sigmoid::reciprocal: return 1 / (x * (1 / v - 1) + 1);
    case Sigmoid::cosine: {
      const double angle = x * std::acos(2 * v - 1);
      return angle < std::numbers::pi ? (1 + std::cos(angle)) / 2 : 0;
    }
    case Sigmoid::linear: return std::fmax(0, 1 - x * (1 - v));
    case Sigmoid::quadratic: return std::fmax(0, 1 - x * x * (1 - v));
    case Sigmoid::tanh_squared: return 1 - square(std::tanh(x * std::atanh(std::sqrt(1 - v))));
  }
  throw Error(text("tolerance: there is no sigmoid ", static_cast<int>(sigmoid)));
}

bool reaches_zero(Sigmoid sigmoid) {
  return sigmoid == Sigmoid::cosine || sigmoid == Sigmoid::linear || sigmoid == Sigmoid::quadratic;
}

}  // namespace

double tolerance(double x, const ToleranceRange& range) {
  const auto& [lower, upper, margin, value, sigmoid] = range;
  if (std::isnan(lower) || std::isnan(upper))
    throw Error(text("tolerance: the bounds must be numbers, got lower = ", lower, " and upper = ", upper));
  if (!(lower <= upper)) throw Error(text("tolerance: the lower bound ", lower, " lies above the upper bound ", upper));
  if (!(margin >= 0)) throw Error(text("tolerance: the margin must not be negative, got ", margin));
  if (!(value < 1 && (value > 0 || (value == 0 && reaches_zero(sigmoid)))))
    throw Error(text("tolerance: value_at_margin must be in (0, 1), or 0 where the sigmoid reaches it; got ", value));
  if (lower <= x && x <= upper) return 1;
  if (margin == 0) return 0;
  return fall((x < lower ? lower - x : x - upper) / margin, value, sigmoid);
}

}  // namespace iap
