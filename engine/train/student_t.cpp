module;
#include <cmath>
#include <limits>
module iap.train;
import iap.core;

namespace iap {
namespace {

/// The regularised incomplete beta function I_x(a, b) by its continued fraction (Abramowitz & Stegun 26.5.8) in Lentz's form;
/// it converges fast for x < (a + 1) / (a + b + 2), and I_x(a, b) = 1 - I_{1-x}(b, a) covers the rest.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x)) / a;
  constexpr double tiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double numerator = 1, denominator = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), fraction = denominator;
  for (int m = 1; m < 100000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    denominator = 1 / away_from_zero(1 + even * denominator);
    numerator = away_from_zero(1 + even / numerator);
    fraction *= denominator * numerator;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    denominator = 1 / away_from_zero(1 + odd * denominator);
    numerator = away_from_zero(1 + odd / numerator);
    const double change = denominator * numerator;
    fraction *= change;
    if (std::abs(change - 1) < 1e-15) break;
  }
  return front * fraction;
}

/// P(T > t) for t >= 0.
double upper_tail(double t, double degrees) { return 0.5 * incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + t * t)); }

}  // namespace

double student_t_quantile(double probability, double degrees) {
  if (!(probability > 0 && probability < 1))
    throw Error(text("student_t_quantile: probability must be in (0, 1), got ", probability));
  if (!(degrees > 0 && std::isfinite(degrees))) throw Error(text("student_t_quantile: degrees must be positive, got ", degrees));
  if (probability < 0.5) return -student_t_quantile(1 - probability, degrees);
  const double tail = 1 - probability;
  double low = 0, high = 1;
  while (upper_tail(high, degrees) > tail && high < std::numeric_limits<double>::max() / 4) high *= 2;
  for (;;) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) return middle;
    (upper_tail(middle, degrees) > tail ? low : high) = middle;
  }
}

}  // namespace iap
