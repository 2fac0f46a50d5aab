#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numbers>
#include <vector>
import iap.attention;

using namespace iap;

namespace {
bool close(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }
}  // namespace

TEST_CASE("errors of the estimators at points where the formulas collapse") {
  const std::vector<double> x = {1, 0}, y = {0, 1}, minus = {-1, 0}, zero = {0, 0};
  CHECK(mse_trig(x, x, 5) == 0);
  CHECK(mse_exp(x, minus, 5) == 0);
  CHECK(mse_exp(x, zero, 3) == mse_exp(zero, x, 3));
  // Orthogonal unit vectors: SM = 1, delta(x + y) = e^2, rho(x +- y) = 1 - e^-2.
  const double e2 = std::exp(2.0);
  CHECK(close(mse_exp(x, y, 4), (e2 - 1) / 4));
  CHECK(close(mse_trig(x, y, 4), e2 * (1 - 1 / e2) * (1 - 1 / e2) / 8));
  const double a = mse_exp(x, y, 4), b = mse_trig(x, y, 4);
  CHECK(close(mse_hyb(x, y, 4, 1), (a + b) / 2));
  CHECK(close(mse_hyb(x, y, 4, 2), 3 * (a + b) / 8));
  CHECK(std::abs(mse_hyb(x, x, 4, 3)) < 1e-15);
  CHECK(std::abs(mse_hyb(x, minus, 4, 3)) < 1e-15);
}

TEST_CASE("errors that are 0 stay 0 for vectors whose kernel no double holds") {
  for (const double length : {11.0, 20.0, 40.0}) {
    const std::vector<double> x = {length, 0}, minus = {-length, 0};
    CHECK(mse_trig(x, x, 5) == 0);
    CHECK(mse_exp(x, minus, 5) == 0);
    for (const int r : {1, 3}) {
      CHECK(mse_hyb(x, x, 4, r) == 0);
      CHECK(mse_hyb(x, minus, 4, r) == 0);
    }
  }
  // At an angle of 0 only the trigonometric estimator counts, whatever the other one errs.
  const std::vector<double> x = {11}, y = {20};
  CHECK(std::isinf(mse_exp(x, y, 4)));
  CHECK(std::isfinite(mse_trig(x, y, 4)));
  CHECK(mse_hyb(x, y, 4, 3) == mse_trig(x, y, 4));
  // And where both do, what is too large is infinite.
  CHECK(std::isinf(mse_hyb(std::vector<double>{30, 0}, std::vector<double>{29, 5}, 4, 3)));
}

TEST_CASE("a bound that any number of projections keeps is 0") {
  CHECK(projections_trig(100, 0.5, 4, 1e-3) == 0);
  CHECK(projections_trig_stated(100, 0.5, 4, 1e-3) == 0);
}

TEST_CASE("bounds on projections and hash bits invert the failure probabilities they come from") {
  const double bits = hash_bits(0.1, 0.05, 19200, 1000);
  CHECK(close(2 * std::exp(-bits * 0.1 * 0.1 / 2) * 19200 * 1000, 0.05));

  const int d = 4;
  const double radius = 1.5, tau = std::exp(radius * radius / 2), epsilon = 0.2, p = 0.1;
  const double m = projections_trig(epsilon, p, d, radius);
  const double diameter = 2 * radius / std::sqrt(2.0), fraction = 2 * diameter * tau / epsilon;
  CHECK(close(256 * fraction * fraction * std::exp(-m * epsilon * epsilon / (tau * tau * 4 * (d + 2))), p));
  CHECK(close(projections_trig_stated(0.5, 0.1, 4, 1), 4 * 6 * (10 + std::log(2 / 0.025) + 0.5) / 0.25));

  // Chebyshev with the positive estimator's error at the worst allowed angle, pi - alpha, and a union over |P|^2 steps.
  const double alpha = 0.7, length = std::pow(d, 0.25);
  const std::vector<double> x = {length, 0},
                            y = {length * std::cos(std::numbers::pi - alpha), length * std::sin(std::numbers::pi - alpha)};
  CHECK(std::abs(projections_exp(epsilon, p, d, alpha, 3, 7) / (9 * 7 * mse_exp(x, y, 1) / (p * epsilon * epsilon)) - 1) < 1e-9);
}
