module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>
module iap.attention;
import iap.core;
import :internal;

namespace iap {
namespace {

// FAVOR++ (Likhosherstov et al. 2022, Chefs' Random Tables): exp(x . y) = E f(w, x) f(w, y) with
// f(w, x) = (1 - 4 A)^(d/4) exp(A ||w||^2 + sqrt(1 - 4 A) w . x - ||x||^2 / 2) for any A < 1/8. With u = 1 - 8 A the second moment
// of the product is ((1 + u) / 2)^d u^(-d/2) exp((1 + 1/u) ||x + y||^2 - ||x||^2 - ||y||^2), which is least where d u^2 - (d + 2
// ||x + y||^2) u - 2 ||x + y||^2 = 0. A = 0, u = 1, is FAVOR+.
double best_u(double d, double spread) {
  const double half = (d + 2 * spread) / 2;
  return (half + std::sqrt(half * half + 2 * d * spread)) / d;
}

// Queries and keys of the normalised kind that are orthogonal to each other have ||x + y||^2 = 2 sqrt(d).
double read_u(Options& options, int d) {
  return best_u(d, options.number_in("spread", 0, 1e6, 2 * std::sqrt(static_cast<double>(d))));
}

Shaping shape(Options& options, int d) {
  const double u = read_u(options, d), stretch = std::sqrt((1 + u) / 2);
  return [a = (1 - u) / 8, stretch, constant = d / 2.0 * std::log(stretch)](Projections& drawn) {
    drawn.offset.resize(static_cast<std::size_t>(drawn.m));
    for (int i = 0; i < drawn.m; ++i) {
      double square = 0;
      for (float& value : std::span(drawn.omega).subspan(static_cast<std::size_t>(i) * drawn.d, drawn.d)) {
        square += static_cast<double>(value) * value;
        value = static_cast<float>(stretch * value);
      }
      drawn.offset[i] = static_cast<float>(a * square + constant);
    }
  };
}

double mse(Options& options, std::span<const double> x, std::span<const double> y, int m, int) {
  const auto d = static_cast<double>(x.size());
  const double u = read_u(options, static_cast<int>(x.size()));
  double sum = 0, squares = 0, product = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += (x[i] + y[i]) * (x[i] + y[i]);
    squares += x[i] * x[i] + y[i] * y[i];
    product += x[i] * y[i];
  }
  const double second = d * std::log((1 + u) / 2) - d / 2 * std::log(u) + (1 + 1 / u) * sum - squares;
  const double variance = std::exp(2 * product) * std::expm1(second - 2 * product) / m;
  // Of long vectors one factor overflows where the other is 0.
  return std::isnan(variance) ? std::exp(second) * -std::expm1(2 * product - second) / m : variance;
}

}  // namespace

KernelEntry favor_plus_plus_kernel() {
  return random_features_kernel("favor++",
                                "softmax kernel by m optimal positive features for queries and keys of a given spread (FAVOR++)",
                                {FeatureKind::exp, 15, shape, mse});
}

}  // namespace iap
