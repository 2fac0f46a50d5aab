module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
module iap.attention;

namespace iap {
namespace {

double dot(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

// ||x + sign y||^2
double square_of_sum(std::span<const double> x, std::span<const double> y, double sign) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] + sign * y[i]) * (x[i] + sign * y[i]);
  return sum;
}

// The product of an error and its weight: an error that overflows does not count where its weight is 0.
double weighted(double weight, double error) { return weight == 0 ? 0 : weight * error; }

}  // namespace

double softmax_kernel(std::span<const double> x, std::span<const double> y) { return std::exp(dot(x, y)); }

double mse_trig(std::span<const double> x, std::span<const double> y, int m) {
  const double rho = -std::expm1(-square_of_sum(x, y, -1));
  if (rho == 0) return 0;  // however long the vectors are
  return std::exp(square_of_sum(x, y, 1) - 2 * dot(x, y)) * rho * rho / (2.0 * m);
}

double mse_exp(std::span<const double> x, std::span<const double> y, int m) {
  const double square = square_of_sum(x, y, 1);
  return std::exp(square + 2 * dot(x, y)) * -std::expm1(-square) / m;
}

double mse_hyb(std::span<const double> x, std::span<const double> y, int m, int r) {
  const double xx = dot(x, x), yy = dot(y, y), sm = softmax_kernel(x, y);
  const double t = std::acos(std::clamp(dot(x, y) / std::sqrt(xx * yy), -1.0, 1.0)) / std::numbers::pi;
  const double exp_error = mse_exp(x, y, m), trig_error = mse_trig(x, y, m);
  const double own = weighted(t * t, exp_error) + weighted((1 - t) * (1 - t), trig_error);
  // What is subtracted below is the smaller part, also where it overflows.
  if (std::isinf(own)) return own;
  const double factor = 2 * (1 - 1.0 / r) / m, difference = 1 - std::cos(xx - yy);
  const double shared = factor == 0 || difference == 0 ? 0 : factor * sm * sm * difference;
  return own + weighted(t * (1 - t), (exp_error + trig_error) / r - shared);
}

double hash_bits(double epsilon, double p, double patches, double steps) {
  return 2 / (epsilon * epsilon) * std::log(2 * patches * steps / p);
}

double projections_trig_stated(double epsilon, double p, int d, double radius) {
  const double root = std::sqrt(static_cast<double>(d)), square = radius * radius;
  const double logarithm = 10 + std::log(square * root / (p * epsilon * epsilon)) + square / root;
  return 4 * (d + 2) * std::max(0.0, logarithm) / (epsilon * epsilon);
}

double projections_trig(double epsilon, double p, int d, double radius) {
  const double root = std::sqrt(static_cast<double>(d)), square = radius * radius;
  const double tolerance = epsilon / std::exp(square / root);
  const double covering = 256 * d * (4 * square / root) / (tolerance * tolerance);
  return 4 * (d + 2) * std::max(0.0, std::log(covering / p)) / (tolerance * tolerance);
}

double projections_exp(double epsilon, double p, int d, double alpha, double unimportant, double steps) {
  const double root = std::sqrt(static_cast<double>(d)), sine = std::sin(alpha / 2);
  return unimportant * unimportant * steps / (p * epsilon * epsilon) * std::exp(8 * root * sine * sine - 2 * root) *
         -std::expm1(-4 * root * sine * sine);
}

}  // namespace iap
