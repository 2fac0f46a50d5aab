#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

import iap.core;
import iap.legged;

using namespace iap;
using namespace iap::legged;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

namespace {

Eigen::Matrix4d moved(double x, double y, double z) {
  Eigen::Matrix4d m = Eigen::Matrix4d::Identity();
  m(0, 3) = x, m(1, 3) = y, m(2, 3) = z;
  return m;
}

/// The standard homogeneous matrices, written out.
Eigen::Matrix4d about_x(double t) {
  Eigen::Matrix4d m;
  m << 1, 0, 0, 0, 0, std::cos(t), -std::sin(t), 0, 0, std::sin(t), std::cos(t), 0, 0, 0, 0, 1;
  return m;
}
Eigen::Matrix4d about_y(double t) {
  Eigen::Matrix4d m;
  m << std::cos(t), 0, std::sin(t), 0, 0, 1, 0, 0, -std::sin(t), 0, std::cos(t), 0, 0, 0, 0, 1;
  return m;
}

Vector3 chained(const LegGeometry& leg, const Vector3& q) {
  const Eigen::Matrix4d toe = moved(leg.origin[0], leg.origin[1], leg.origin[2]) * about_x(leg.axes[0] * q[0]) *
                              moved(0, leg.lateral, 0) * about_y(leg.axes[1] * q[1]) * moved(0, 0, -leg.thigh) *
                              about_y(leg.axes[2] * q[2]) * moved(0, 0, -leg.shank);
  return {toe(0, 3), toe(1, 3), toe(2, 3)};
}

double distance(const Vector3& a, const Vector3& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

Vector3 drawn(Random& random, const Vector3& low, const Vector3& high) {
  Vector3 out{};
  for (int i = 0; i < 3; ++i) out[i] = low[i] + (high[i] - low[i]) * random.uniform();
  return out;
}

/// The Jacobian at `q` is that of central differences.
void check_jacobian(const LegGeometry& leg, const Vector3& q) {
  constexpr double h = 1e-6;
  const Matrix3 jacobian = LegKinematics(leg).jacobian(q);
  for (int joint = 0; joint < 3; ++joint) {
    Vector3 more = q, less = q;
    more[joint] += h, less[joint] -= h;
    const Vector3 above = chained(leg, more), below = chained(leg, less);
    for (int row = 0; row < 3; ++row) CHECK_THAT(jacobian[3 * row + joint], WithinAbs((above[row] - below[row]) / (2 * h), 1e-9));
  }
}

}  // namespace

TEST_CASE("a leg's toe is where chained homogeneous transforms put it") {
  Random random(1);
  for (const Robot& robot : robots())
    for (const LegGeometry& leg : robot.legs)
      for (int i = 0; i < 200; ++i) {
        const Vector3 q = drawn(random, {-3, -3, -3}, {3, 3, 3});
        CHECK(distance(LegKinematics(leg).forward(q), chained(leg, q)) < 1e-14);
      }
}

TEST_CASE("the Jacobian is that of central differences") {
  Random random(2);
  for (const Robot& robot : robots())
    for (const LegGeometry& leg : robot.legs)
      for (int i = 0; i < 100; ++i) check_jacobian(leg, drawn(random, robot.lowest, robot.highest));
}

TEST_CASE("inverse kinematics finds the angles of every pose below the hip, and their knee") {
  Random random(3);
  for (const Robot& robot : robots())
    for (const LegGeometry& leg : robot.legs)
      for (int i = 0; i < 500; ++i) {
        // Joint limits and a hip within +-1.2 rad keep the toe below the hip, where the leg's plane is unique.
        const Vector3 q = drawn(random, {robot.lowest[0], -0.2, robot.lowest[2]}, {robot.highest[0], 1.2, -0.05});
        const Vector3 toe = chained(leg, q);
        const auto solution = LegKinematics(leg).inverse(toe);
        REQUIRE(solution.reached);
        for (int joint = 0; joint < 3; ++joint) CHECK_THAT(solution.joints[joint], WithinAbs(q[joint], 1e-7));
      }
}

TEST_CASE("both knees reach the same point, bent as asked") {
  Random random(4);
  int reached = 0;
  for (const Robot& robot : robots())
    for (const LegGeometry& leg : robot.legs)
      for (int i = 0; i < 500; ++i) {
        const Vector3 offset = drawn(random, {-0.6, -0.6, -0.6}, {0.6, 0.6, 0.6});
        const Vector3 target{leg.origin[0] + offset[0], leg.origin[1] + offset[1], leg.origin[2] + offset[2]};
        const auto backwards = LegKinematics(leg).inverse(target, Knee::backwards);
        const auto forwards = LegKinematics(leg).inverse(target, Knee::forwards);
        CHECK(backwards.joints[2] <= 0);
        CHECK(forwards.joints[2] >= 0);
        CHECK(backwards.reached == forwards.reached);
        CHECK(distance(chained(leg, backwards.joints), chained(leg, forwards.joints)) < 1e-9);
        for (const double angle : backwards.joints) CHECK(std::abs(angle) <= std::numbers::pi);
        if (!backwards.reached) continue;
        ++reached;
        CHECK(distance(chained(leg, backwards.joints), target) < 1e-9);
      }
  CHECK(reached > 500);
}

TEST_CASE("beyond its reach a toe goes to the nearest point that it has") {
  Random random(5);
  // Unequal lengths leave a hole about the hip, which A1's legs do not have.
  const LegGeometry uneven{{0.1, -0.05, 0}, -0.08, 0.25, 0.15, {1, 1, 1}};
  for (const LegGeometry& leg : {uneven, robots()[0].legs[1], LegGeometry{{0, 0, 0}, 0, 0.2, 0.2, {1, 1, 1}}}) {
    std::vector<Vector3> grid;
    for (double a = -3.15; a < 3.15; a += 0.07)
      for (double h = -3.15; h < 3.15; h += 0.07)
        for (double k = -3.15; k <= 0; k += 0.07) grid.push_back(chained(leg, {a, h, k}));
    int beyond = 0;
    for (int i = 0; i < 40; ++i) {
      const double span = i % 2 ? 0.8 : 0.15;
      const Vector3 offset = drawn(random, {-span, -span, -span}, {span, span, span});
      const Vector3 target{leg.origin[0] + offset[0], leg.origin[1] + offset[1], leg.origin[2] + offset[2]};
      const auto solution = LegKinematics(leg).inverse(target);
      if (solution.reached) continue;
      ++beyond;
      const double found = distance(chained(leg, solution.joints), target);
      // Of poses on a grid none is nearer, and some is nearly as near.
      double best = std::numeric_limits<double>::infinity();
      for (const Vector3& toe : grid) best = std::min(best, distance(toe, target));
      CHECK(found <= best + 1e-9);
      CHECK(found > best - 0.03);
    }
    CHECK(beyond > 5);
  }
  const LegKinematics centred(LegGeometry{{0, 0, 0}, 0, 0.25, 0.15, {1, 1, 1}});
  const Vector3 at_hip = centred.forward(centred.inverse({0, 0, 0}).joints);
  CHECK_THAT(at_hip[0], WithinAbs(0, 1e-9));
  CHECK_THAT(at_hip[2], WithinAbs(-0.1, 1e-9));
}

TEST_CASE("left and right legs are mirror images") {
  Random random(6);
  for (const Robot& robot : robots())
    for (const int right : {0, 2}) {
      const LegGeometry &one = robot.legs[right], &other = robot.legs[right + 1];
      for (int i = 0; i < 100; ++i) {
        const Vector3 q = drawn(random, robot.lowest, robot.highest);
        const Vector3 toe = LegKinematics(one).forward(q);
        // Mirrored, the leg turns the other way about x; where the joint's axis is mirrored too, the angle is the same.
        const double sign = one.axes[0] == other.axes[0] ? -1 : 1;
        const Vector3 mirrored = LegKinematics(other).forward({sign * q[0], q[1], q[2]});
        CHECK_THAT(mirrored[0], WithinAbs(toe[0], 1e-15));
        CHECK_THAT(mirrored[1], WithinAbs(-toe[1], 1e-15));
        CHECK_THAT(mirrored[2], WithinAbs(toe[2], 1e-15));
      }
    }
}

TEST_CASE("robots stand where their numbers say") {
  // By hand: z = -(thigh cos h + shank cos(h + k)); A1: .4 cos .9 = .24864; Laikago: .2522 cos .67 + .2510 cos .58 = .40765.
  CHECK_THAT(LegKinematics(find_robot("a1").legs[0]).forward({0, 0.9, -1.8})[2], WithinAbs(-0.248644, 1e-6));
  CHECK_THAT(LegKinematics(find_robot("laikago").legs[3]).forward({0, 0.67, -1.25})[2], WithinAbs(-0.03 - 0.407631, 1e-5));
  for (const Robot& robot : robots())
    for (int joint = 0; joint < 3; ++joint) {
      CHECK(robot.standing[joint] > robot.lowest[joint]);
      CHECK(robot.standing[joint] < robot.highest[joint]);
    }
  CHECK_THROWS_WITH(find_robot("a2"), ContainsSubstring("there is no robot 'a2'") && ContainsSubstring("a1"));
  CHECK_THROWS_WITH(LegKinematics({{}, 0, 0, 0.2}), ContainsSubstring("longer than 0, got 0 and 0.2"));
  CHECK_THROWS_WITH(LegKinematics({{}, 0, 0.1, 0.2, {1, 0, 1}}), ContainsSubstring("is 1 or -1, got 0"));
}

TEST_CASE("a standing leg's torques hold the force by virtual work and damp its rates") {
  Random random(7);
  const LegGeometry& leg = robots()[1].legs[2];
  const Vector3 q{0.1, 0.7, -1.3}, force{3, -5, 60}, damping{0.3, 2, 2}, rates{0.5, -1, 2};
  const Vector3 torques = stance_torques(LegKinematics(leg).jacobian(q), force, damping, rates);
  for (int i = 0; i < 3; ++i) {
    // The ground's work on a small motion of the toe is what the joint takes back.
    constexpr double h = 1e-6;
    Vector3 more = q, less = q;
    more[i] += h, less[i] -= h;
    const Vector3 above = chained(leg, more), below = chained(leg, less);
    double work = 0;
    for (int axis = 0; axis < 3; ++axis) work += force[axis] * (above[axis] - below[axis]) / (2 * h);
    CHECK_THAT(torques[i], WithinAbs(-work - damping[i] * rates[i], 1e-6));
  }
}

TEST_CASE("hips and knees may turn the other way about") {
  Random random(8);
  const LegGeometry leg{{0.1, -0.05, 0.02}, -0.08, 0.25, 0.2, {-1, -1, -1}};
  const LegKinematics own(leg);
  for (int i = 0; i < 100; ++i) {
    const Vector3 q = drawn(random, {-0.5, -1.2, 0.05}, {0.5, 0.2, 2});
    const Vector3 toe = chained(leg, q);
    CHECK(distance(own.forward(q), toe) < 1e-14);
    check_jacobian(leg, q);
    const auto solution = own.inverse(toe);
    REQUIRE(solution.reached);
    for (int joint = 0; joint < 3; ++joint) CHECK_THAT(solution.joints[joint], WithinAbs(q[joint], 1e-7));
  }
  for (int joint = 0; joint < 3; ++joint) {
    LegGeometry skewed = leg;
    skewed.axes[joint] = 0.5;
    CHECK_THROWS_AS(LegKinematics(skewed), Error);
  }
}
