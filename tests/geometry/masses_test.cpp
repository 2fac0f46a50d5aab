#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>
import iap.core;
import iap.geometry;

using namespace iap;
using namespace iap::geometry;

namespace {

struct Point {
  double mass;
  Vector3 at;
};

struct Sum {
  double mass = 0;
  Vector3 centre{};
  Matrix3 inertia{};
};

/// Of points, by the definitions.
Sum sum_of(const std::vector<Point>& points) {
  Sum sum;
  for (const auto& point : points) sum.mass += point.mass;
  for (const auto& point : points)
    for (int i = 0; i < 3; ++i) sum.centre[i] += point.mass * point.at[i] / sum.mass;
  for (const auto& point : points) {
    const double x = point.at[0] - sum.centre[0], y = point.at[1] - sum.centre[1], z = point.at[2] - sum.centre[2], m = point.mass;
    const Matrix3 one{m * (y * y + z * z), -m * x * y, -m * x * z, -m * x * y,         m * (x * x + z * z),
                      -m * y * z,          -m * x * z, -m * y * z, m * (x * x + y * y)};
    for (int i = 0; i < 9; ++i) sum.inertia[i] += one[i];
  }
  return sum;
}

double off(const Matrix3& a, const Matrix3& b) {
  double most = 0;
  for (int i = 0; i < 9; ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace

TEST_CASE("bodies joined to one have the mass, centre and inertia of all their points") {
  Random random(1);
  for (int trial = 0; trial < 50; ++trial) {
    CompositeBody whole;
    std::vector<Point> all;
    for (int body = 0; body < 4; ++body) {
      const Placement place{{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)},
                            rotation_of(random.uniform(-3, 3), random.uniform(-1, 1), random.uniform(-3, 3))};
      std::vector<Point> own;
      for (int i = 0; i < 5; ++i)
        own.push_back({random.uniform(.1, 2), {random.uniform(-.3, .3), random.uniform(-.3, .3), random.uniform(-.3, .3)}});
      const Sum part = sum_of(own);
      whole.add(part.mass, part.centre, part.inertia, place);
      for (const auto& point : own) all.push_back({point.mass, place * point.at});
    }
    const Sum truth = sum_of(all);
    CHECK(std::abs(whole.mass() - truth.mass) < 1e-12);
    for (int i = 0; i < 3; ++i) CHECK(std::abs(whole.centre()[i] - truth.centre[i]) < 1e-12);
    CHECK(off(whole.inertia(), truth.inertia) < 1e-12);
  }
}

TEST_CASE("a turned inertia is that of the turned points") {
  Random random(2);
  const std::vector<Point> points{{1, {.1, .2, .3}}, {2, {-.2, .1, 0}}, {1.5, {.3, -.1, -.2}}};
  for (int trial = 0; trial < 50; ++trial) {
    const Matrix3 r = rotation_of(random.uniform(-3, 3), random.uniform(-1, 1), random.uniform(-3, 3));
    std::vector<Point> moved;
    for (const auto& point : points) moved.push_back({point.mass, r * point.at});
    CHECK(off(turned(sum_of(points).inertia, r), sum_of(moved).inertia) < 1e-14);
  }
}
