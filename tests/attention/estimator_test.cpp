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

TEST_CASE("estimators are unbiased and have the closed-form errors; orthogonal projections are no worse") {
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
