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

TEST_CASE("exponential features of long inputs follow from their whole exponent") {
  const std::vector<double> x = {40};  // ||x||^2 / 2 is 800
  Projections projections{.d = 1, .m = 4, .r = 1, .omega = {30, -30, 20, 60}, .xi = {1}};
  const auto exp_features = [&](FeatureKind kind) {
    std::vector<double> phi(feature_count(kind, projections.m, projections.r));
    feature_map(kind, projections, Side::key, x, phi);
    const auto first = phi.begin() + (kind == FeatureKind::hybrid ? 2 * projections.m : 0);
    return std::vector<double>(first, first + projections.m);
  };
  const auto close = [](double a, double b) { return std::abs(a - b) <= 1e-12 * b; };
  for (const auto kind : {FeatureKind::exp, FeatureKind::hybrid}) {
    const auto phi = exp_features(kind);
    const double factor = (kind == FeatureKind::hybrid ? std::sqrt(0.5) : 1) / 2;
    CHECK(close(phi[0], factor * std::exp(400.0)));
    CHECK(phi[1] == 0);
    CHECK(close(phi[2], factor));
    CHECK(std::isinf(phi[3]));
  }
  projections.offset = {-350, 0, 10, -750};
  const auto phi = exp_features(FeatureKind::exp);
  CHECK(close(phi[0], std::exp(50.0) / 2));
  CHECK(close(phi[2], std::exp(10.0) / 2));
  CHECK(std::isinf(phi[3]));
  // An exponent beyond doubles before ||x||^2 / 2 is subtracted, which alone is within.
  projections.omega = {30, 30, 30, 30};
  projections.offset = {};
  const std::vector<double> shorter = {30};
  std::vector<double> four(4);
  feature_map(FeatureKind::exp, projections, Side::key, shorter, four);
  CHECK(close(four[0], std::exp(450.0) / 2));
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
