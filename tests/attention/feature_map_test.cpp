#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "golden.hpp"

namespace {

std::vector<double> random_vector(Random& random, int d, double length) {
  std::vector<double> x(d);
  double square = 0;
  for (double& value : x) {
    value = random.normal();
    square += value * value;
  }
  for (double& value : x) value *= length / std::sqrt(square);
  return x;
}

double estimate(FeatureKind kind, const Projections& projections, const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> a(feature_count(kind, projections.m, projections.r)), b(a.size());
  feature_map(kind, projections, Side::query, x, a);
  feature_map(kind, projections, Side::key, y, b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

TEST_CASE("features multiply to the estimators they stand for") {
  Random random(41);
  for (int round = 0; round < 200; ++round) {
    const int d = 1 + static_cast<int>(random.below(9)), m = 1 + static_cast<int>(random.below(20)),
              r = 1 + static_cast<int>(random.below(8));
    const Projections projections = draw_projections(round % 2 ? Ensemble::iid : Ensemble::orthogonal, d, m, r, round);
    const auto x = random_vector(random, d, random.uniform(0.1, 2)), y = random_vector(random, d, random.uniform(0.1, 2));
    const Golden wanted = golden(projections, x, y);
    const auto close = [](double a, double b, double scale) { return std::abs(a - b) <= 1e-12 * scale; };
    const double scale = std::exp(4.0) + wanted.exp;
    REQUIRE(close(estimate(FeatureKind::exp, projections, x, y), wanted.exp, scale));
    REQUIRE(close(estimate(FeatureKind::trig, projections, x, y), wanted.trig, scale));
    REQUIRE(close(estimate(FeatureKind::hybrid, projections, x, y), wanted.hybrid(), scale));
  }
}

TEST_CASE("the hybrid estimator is exact at angles 0 and pi between vectors of equal length") {
  Random random(42);
  for (int round = 0; round < 100; ++round) {
    const int d = 1 + static_cast<int>(random.below(8));
    const Projections projections = draw_projections(Ensemble::orthogonal, d, 10, 5, round);
    const auto x = random_vector(random, d, 1.3);
    auto opposite = x;
    for (double& value : opposite) value = -value;
    REQUIRE(std::abs(estimate(FeatureKind::hybrid, projections, x, x) / softmax_kernel(x, x) - 1) < 1e-12);
    REQUIRE(std::abs(estimate(FeatureKind::hybrid, projections, x, opposite) / softmax_kernel(x, opposite) - 1) < 1e-12);
  }
}

TEST_CASE("trigonometric features of normalised inputs all have one norm; the sign of zero is +1") {
  const Projections projections = draw_projections(Ensemble::iid, 3, 7, 2, 5);
  Random random(43);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> phi(14);
    feature_map(FeatureKind::trig, projections, Side::key, random_vector(random, 3, 1.2), phi);
    double square = 0;
    for (const double value : phi) square += value * value;
    REQUIRE(std::abs(square - std::exp(1.44)) < 1e-12);
  }
  const std::vector<double> zero(3);
  CHECK(std::abs(estimate(FeatureKind::hybrid, projections, zero, zero) - 1) < 1e-12);
}
