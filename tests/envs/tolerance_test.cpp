#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>
import iap.core;
import iap.envs;
import iap.envs.dm_control;

using namespace iap;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
bool close(double a, double b) { return std::abs(a - b) < 1e-12; }

const std::vector<Sigmoid> all{Sigmoid::gaussian, Sigmoid::hyperbolic, Sigmoid::long_tail, Sigmoid::reciprocal,
                               Sigmoid::cosine,   Sigmoid::linear,     Sigmoid::quadratic, Sigmoid::tanh_squared};

}  // namespace

TEST_CASE("tolerance is one inside the bounds and nothing outside without a margin") {
  for (const double x : {1.0, 1.5, 2.0}) CHECK(tolerance(x, {.lower = 1, .upper = 2}) == 1);
  CHECK(tolerance(0.999, {.lower = 1, .upper = 2}) == 0);
  CHECK(tolerance(2.001, {.lower = 1, .upper = 2}) == 0);
  CHECK(tolerance(1e9, {.lower = 1, .upper = infinity}) == 1);
  CHECK(tolerance(0, {}) == 1);
}

TEST_CASE("every sigmoid falls from one to its value at the margin, on both sides") {
  for (const auto sigmoid : all) {
    for (const double value : {0.1, 0.5, 0.9}) {
      const ToleranceRange range{.lower = -1, .upper = 3, .margin = 2, .value_at_margin = value, .sigmoid = sigmoid};
      CAPTURE(static_cast<int>(sigmoid), value);
      CHECK(close(tolerance(5, range), value));
      CHECK(close(tolerance(-3, range), value));
      CHECK(std::abs(tolerance(3 + 1e-9, range) - 1) < 1e-8);
      double last = 1;
      for (double x = 3; x < 20; x += 0.25) {
        const double here = tolerance(x, range);
        CHECK(here <= last);
        CHECK(here >= 0);
        CHECK(close(here, tolerance(2 - x, range)));
        last = here;
      }
    }
  }
}

TEST_CASE("sigmoids have their closed forms") {
  const double v = 0.2, x = 0.7;
  const auto at = [&](Sigmoid sigmoid, double distance, double value) {
    return tolerance(distance, {.margin = 1, .value_at_margin = value, .sigmoid = sigmoid});
  };
  const auto square = [](double a) { return a * a; };
  const double gauss = std::sqrt(-2 * std::log(v)), tail = std::sqrt(1 / v - 1);
  CHECK(close(at(Sigmoid::gaussian, x, v), std::exp(-0.5 * square(x * gauss))));
  CHECK(close(at(Sigmoid::hyperbolic, x, v), 1 / std::cosh(x * std::acosh(1 / v))));
  CHECK(close(at(Sigmoid::long_tail, x, v), 1 / (square(x * tail) + 1)));
  CHECK(close(at(Sigmoid::reciprocal, x, v), 1 / (x * 4 + 1)));
  CHECK(close(at(Sigmoid::linear, x, v), 1 - 0.7 * 0.8));
  CHECK(close(at(Sigmoid::linear, 0.25, 0), 0.75));
  CHECK(at(Sigmoid::linear, 1.5, v) == 0);
  CHECK(close(at(Sigmoid::quadratic, x, v), 1 - 0.49 * 0.8));
  CHECK(at(Sigmoid::quadratic, 1.2, v) == 0);
  CHECK(close(at(Sigmoid::cosine, 0.5, 0), 0.5));
  CHECK(at(Sigmoid::cosine, 1.01, 0) == 0);
  CHECK(close(at(Sigmoid::tanh_squared, x, v), 1 - square(std::tanh(x * std::atanh(std::sqrt(1 - v))))));
}

TEST_CASE("tolerance refuses what makes no sense") {
  CHECK_THROWS_AS(tolerance(0, {.lower = 1, .upper = 0}), Error);
  CHECK_THROWS_AS(tolerance(0, {.margin = -1}), Error);
  CHECK_THROWS_AS(tolerance(0, {.margin = 1, .value_at_margin = 1}), Error);
  CHECK_THROWS_AS(tolerance(0, {.margin = 1, .value_at_margin = 0}), Error);
  CHECK_NOTHROW(tolerance(0, {.margin = 1, .value_at_margin = 0, .sigmoid = Sigmoid::linear}));
}
