#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>
import iap.core;
import iap.attention;

using namespace iap;

namespace {

constexpr int d = 4;

struct Statistics {
  double error = 0, square = 0, fourth = 0;
  void add(double e) {
    error += e;
    square += e * e;
    fourth += e * e * e * e;
  }
  double bias_z() const { return error / std::sqrt(square); }
  double mse(int n) const { return square / n; }
  double mse_deviation(int n) const { return std::sqrt((fourth / n - mse(n) * mse(n)) / n); }
};

struct Point {
  std::vector<double> x, y;
  std::array<Statistics, 3> iid, orthogonal;
};

constexpr std::array kinds = {FeatureKind::trig, FeatureKind::exp, FeatureKind::hybrid};

// Pairs of vectors at a grid of angles and lengths, none along an axis.
std::vector<Point> grid_of_points() {
  const std::vector<double> e1 = {0.5, 0.5, 0.5, 0.5}, e2 = {0.5, -0.5, 0.5, -0.5};
  std::vector<Point> points;
  for (const auto& [a, b] : {std::pair{0.3, 0.3}, {0.6, 0.6}, {0.8, 0.8}, {0.5, 0.9}})
    for (const double t : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      Point point;
      for (int k = 0; k < d; ++k) {
        point.x.push_back(a * e1[k]);
        point.y.push_back(b * (std::cos(t * std::numbers::pi) * e1[k] + std::sin(t * std::numbers::pi) * e2[k]));
      }
      points.push_back(point);
    }
  return points;
}

void collect(std::vector<Point>& points, Ensemble ensemble, int m, int r, int draws) {
  for (int n = 0; n < draws; ++n) {
    const Projections projections = draw_projections(ensemble, d, m, r, 1000000 + n);
    for (Point& point : points)
      for (std::size_t k = 0; k < kinds.size(); ++k) {
        std::array<double, 64> a{}, b{};
        const auto count = static_cast<std::size_t>(feature_count(kinds[k], m, r));
        feature_map(kinds[k], projections, Side::query, point.x, {a.data(), count});
        feature_map(kinds[k], projections, Side::key, point.y, {b.data(), count});
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
        (ensemble == Ensemble::iid ? point.iid : point.orthogonal)[k].add(sum - softmax_kernel(point.x, point.y));
      }
  }
}

}  // namespace

TEST_CASE("estimators are unbiased and have the closed-form errors; orthogonal projections err no more for near vectors") {
  const int m = 4, r = 2, draws = 100000;
  std::vector<Point> points = grid_of_points();
  collect(points, Ensemble::iid, m, r, draws);
  collect(points, Ensemble::orthogonal, m, r, draws);
  for (const Point& point : points) {
    const std::array wanted = {mse_trig(point.x, point.y, m), mse_exp(point.x, point.y, m), mse_hyb(point.x, point.y, m, r)};
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      INFO("kind " << k << " x.y " << std::log(softmax_kernel(point.x, point.y)) << " mse " << wanted[k]);
      const Statistics &iid = point.iid[k], &orthogonal = point.orthogonal[k];
      if (wanted[k] < 1e-20) {
        CHECK(iid.mse(draws) < 1e-20);
        CHECK(orthogonal.mse(draws) < 1e-20);
        continue;
      }
      CHECK(std::abs(iid.bias_z()) < 4);
      CHECK(std::abs(orthogonal.bias_z()) < 4);
      CHECK(std::abs(iid.mse(draws) - wanted[k]) < 4 * iid.mse_deviation(draws));
      CHECK(orthogonal.mse(draws) < wanted[k] + 4 * orthogonal.mse_deviation(draws));
    }
  }
}

// All that counts is z = x - y: the estimate is exp(||z||^2 / 4) times a mean of cos(w . z) here. Integrated numerically, the
// covariance of two orthogonal rows' cosines is at most 0, but for z of about 3 to 5 where d is 3 to 20; most of all at d = 4,
// ||z|| = 3.45.
TEST_CASE("orthogonal trigonometric features err no more up to |x - y| = 2.9, and at most 1.5 % more beyond") {
  const std::vector<double> distances = {0.5, 1, 2, 2.5, 2.9, 3.45, 4, 5};
  const int m = 4, draws = 400000;
  std::vector<Statistics> found(distances.size());
  for (int n = 0; n < draws; ++n) {
    const Projections projections = draw_projections(Ensemble::orthogonal, d, m, 0, 3000000 + n);
    for (std::size_t at = 0; at < distances.size(); ++at) {
      double mean = 0;
      for (int i = 0; i < m; ++i) mean += std::cos(distances[at] * projections.omega[i * d]) / m;
      found[at].add(mean - std::exp(-distances[at] * distances[at] / 2));
    }
  }
  for (std::size_t at = 0; at < distances.size(); ++at) {
    const double z = distances[at], deviation = found[at].mse_deviation(draws);
    const std::vector<double> x = {z / 2, 0, 0, 0}, y = {-z / 2, 0, 0, 0};
    const double independent = mse_trig(x, y, m) * std::exp(-z * z / 2);
    INFO("|x - y| " << z << ", error in parts of independent projections' " << found[at].mse(draws) / independent);
    if (z <= 2.9)
      CHECK(found[at].mse(draws) < independent);
    else
      CHECK(found[at].mse(draws) < 1.0148 * independent + 4 * deviation);
    if (z == 3.45) CHECK(found[at].mse(draws) > independent + 3 * deviation);
  }
}
