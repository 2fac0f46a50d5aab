#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <vector>

import iap.legged;

using namespace iap::legged;
using Catch::Matchers::WithinAbs;

namespace {

struct Point {
  double mass;
  Vector3 at;
};

/// Six points with the part's mass, centre and principal moments, in the frame of its joint.
std::vector<Point> points(const Part& part) {
  std::vector<Point> out;
  const double half = (part.inertia[0] + part.inertia[1] + part.inertia[2]) / 2;
  for (int axis = 0; axis < 3; ++axis)
    for (const double sign : {-1.0, 1.0}) {
      Vector3 at = part.centre;
      at[axis] += sign * std::sqrt(3 * std::max(0.0, half - part.inertia[axis]) / part.mass);
      out.push_back({part.mass / 6, at});
    }
  return out;
}

Vector3 turned_x(double t, const Vector3& v) {
  return {v[0], std::cos(t) * v[1] - std::sin(t) * v[2], std::sin(t) * v[1] + std::cos(t) * v[2]};
}
Vector3 turned_y(double t, const Vector3& v) {
  return {std::cos(t) * v[0] + std::sin(t) * v[2], v[1], -std::sin(t) * v[0] + std::cos(t) * v[2]};
}
Vector3 sum(const Vector3& a, const Vector3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

}  // namespace

TEST_CASE("the parts of each robot weigh what it weighs") {
  for (const Robot& robot : robots()) {
    double mass = robot.base.mass;
    for (const auto& leg : robot.parts) mass += leg.hip.mass + leg.thigh.mass + leg.shank.mass + leg.toe.mass;
    CHECK_THAT(mass, WithinAbs(robot.mass, 0.006));
  }
}

TEST_CASE("a composite body's mass, centre and inertia are those of its points") {
  // A real part obeys the triangle inequality of moments, which six points need; Laikago's do.
  const Robot& robot = find_robot("laikago");
  const PerLeg<Vector3> pose{Vector3{0.2, 0.6, -1.2}, Vector3{-0.1, 0.8, -1.5}, Vector3{0.3, 0.1, -0.4}, robot.standing};
  std::vector<Point> all = points(robot.base);
  for (int leg = 0; leg < leg_count; ++leg) {
    const auto& [origin, lateral, thigh, shank, axes] = robot.legs[leg];
    const double a = axes[0] * pose[leg][0], h = axes[1] * pose[leg][1], k = axes[2] * pose[leg][2];
    const double thigh_length = thigh, offset = lateral;
    const Vector3 base = origin;
    const auto from_hip = [&](const Vector3& v) { return sum(base, turned_x(a, v)); };
    const auto from_thigh = [&](const Vector3& v) { return from_hip(sum({0, offset, 0}, turned_y(h, v))); };
    const auto from_shank = [&](const Vector3& v) { return from_thigh(sum({0, 0, -thigh_length}, turned_y(k, v))); };
    for (const auto& [mass, at] : points(robot.parts[leg].hip)) all.push_back({mass, from_hip(at)});
    for (const auto& [mass, at] : points(robot.parts[leg].thigh)) all.push_back({mass, from_thigh(at)});
    for (const auto& [mass, at] : points(robot.parts[leg].shank)) all.push_back({mass, from_shank(at)});
    all.push_back({robot.parts[leg].toe.mass, from_shank(robot.parts[leg].toe.centre)});
    const Vector3 toe = from_shank({0, 0, -shank}), expected = LegKinematics(robot.legs[leg]).forward(pose[leg]);
    for (int i = 0; i < 3; ++i) CHECK_THAT(toe[i], WithinAbs(expected[i], 1e-12));
  }
  double mass = 0;
  Vector3 centre{};
  for (const auto& point : all) mass += point.mass;
  for (const auto& point : all)
    for (int i = 0; i < 3; ++i) centre[i] += point.mass * point.at[i] / mass;
  Matrix3 inertia{};
  for (const auto& point : all) {
    const Vector3 r{point.at[0] - centre[0], point.at[1] - centre[1], point.at[2] - centre[2]};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        inertia[3 * i + j] += point.mass * ((i == j ? r[0] * r[0] + r[1] * r[1] + r[2] * r[2] : 0) - r[i] * r[j]);
  }
  const Body body = composite_body(robot, pose);
  CHECK_THAT(body.mass, WithinAbs(mass, 1e-12));
  for (int i = 0; i < 3; ++i) CHECK_THAT(body.centre[i], WithinAbs(centre[i], 1e-9));
  for (int i = 0; i < 9; ++i) CHECK_THAT(body.inertia[i], WithinAbs(inertia[i], 1e-9));
}

TEST_CASE("standing robots are balanced from left to right and weigh what they should") {
  for (const Robot& robot : robots()) {
    const Body body = standing_body(robot);
    CHECK_THAT(body.mass, WithinAbs(robot.mass, 1e-12));
    CHECK_THAT(body.centre[1], WithinAbs(0, 0.001));
    CHECK_THAT(body.inertia[1], WithinAbs(0, 1e-3));
    CHECK(body.inertia[0] < body.inertia[4]);
  }
  // By hand, as in the kinematics' test: A1's toe hangs .4 cos .9 below its abduction joint, under its hip.
  const Vector3 centre = standing_body(find_robot("a1")).centre, foot = standing_feet(find_robot("a1"))[3];
  CHECK_THAT(foot[0] + centre[0], WithinAbs(-0.183, 1e-9));
  CHECK_THAT(foot[1] + centre[1], WithinAbs(0.047 + 0.08505, 1e-9));
  CHECK_THAT(foot[2] + centre[2], WithinAbs(-0.248644, 1e-6));
}
