#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "interior_point.hpp"
import iap.core;
import iap.legged;

using namespace iap;
using namespace iap::legged;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr PerLeg<bool> everyone{true, true, true, true};

struct Standing {
  explicit Standing(const Robot& robot)
      : body(standing_body(robot)), weight(body.mass * StanceOptions{}.gravity), feet(standing_feet(robot)) {
    state.position[2] = goal.height = -feet[0][2];
  }
  Body body;
  double weight;
  PerLeg<Vector3> feet;
  BodyState state;
  BodyGoal goal;
};

double distance(const Vector3& a, const Vector3& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

Vector3 total(const StanceMpc::Result& result) {
  Vector3 sum{};
  for (const auto& force : result.forces)
    for (int i = 0; i < 3; ++i) sum[i] += force[i];
  return sum;
}

Vector3 torque(const StanceMpc::Result& result, const PerLeg<Vector3>& feet) {
  Vector3 sum{};
  for (int leg = 0; leg < leg_count; ++leg) {
    const auto &r = feet[leg], &f = result.forces[leg];
    sum[0] += r[1] * f[2] - r[2] * f[1];
    sum[1] += r[2] * f[0] - r[0] * f[2];
    sum[2] += r[0] * f[1] - r[1] * f[0];
  }
  return sum;
}

}  // namespace

TEST_CASE("a standing robot is carried: forces sum to its weight, without torque, alike left and right") {
  for (const Robot& robot : robots()) {
    Standing standing(robot);
    // Exactly symmetric, as the robots are but for a few tenths of a millimetre.
    for (int leg = 0; leg < leg_count; ++leg) standing.feet[leg][1] = (is_right(leg) ? -1 : 1) * 0.12;
    for (const int i : {1, 3, 5, 7}) standing.body.inertia[i] = 0;
    // With the usual weight on forces a plan that spares its last ones begins with more than the weight.
    StanceMpc usual(standing.body);
    const auto planned = usual.solve(standing.state, standing.goal, standing.feet, everyone);
    REQUIRE(planned.status == QpStatus::solved);
    CHECK_THAT(total(planned)[2] / standing.weight, WithinAbs(1, 0.05));
    StanceOptions options;
    options.force_weight = 1e-10;
    StanceMpc mpc(standing.body, options);
    const auto result = mpc.solve(standing.state, standing.goal, standing.feet, everyone);
    REQUIRE(result.status == QpStatus::solved);
    CHECK_THAT(total(result)[2] / standing.weight, WithinAbs(1, 1e-4));
    CHECK_THAT(total(result)[1] / standing.weight, WithinAbs(0, 1e-9));
    CHECK_THAT(total(result)[0] / standing.weight, WithinAbs(0, 1e-3));
    CHECK_THAT(torque(result, standing.feet)[0], WithinAbs(0, 1e-6));
    CHECK_THAT(torque(result, standing.feet)[1] / standing.weight, WithinAbs(0, 1e-3));
    for (const int right : {0, 2}) {
      CHECK_THAT(result.forces[right][0] - result.forces[right + 1][0], WithinAbs(0, 1e-6));
      CHECK_THAT(result.forces[right][1] + result.forces[right + 1][1], WithinAbs(0, 1e-6));
      CHECK_THAT(result.forces[right][2] - result.forces[right + 1][2], WithinAbs(0, 1e-6));
    }
    CHECK(mpc.plan().size() == 120);
  }
}

TEST_CASE("pushes and tilts are met by forces and torques of the right sign") {
  const Standing rest(find_robot("laikago"));
  StanceMpc mpc(rest.body);
  const auto solve = [&](const BodyState& state, const BodyGoal& goal) { return mpc.solve(state, goal, rest.feet, everyone); };
  const auto still = solve(rest.state, rest.goal);
  for (int axis = 0; axis < 3; ++axis)
    for (const double sign : {-1.0, 1.0}) {
      BodyState state = rest.state;
      state.velocity[axis] = 0.3 * sign;  // pushed: braked
      auto result = solve(state, rest.goal);
      REQUIRE(result.status == QpStatus::solved);
      CHECK(sign * (total(result)[axis] - total(still)[axis]) < -1);

      BodyGoal goal = rest.goal;
      goal.velocity[axis] = 0.3 * sign;  // asked to move: driven
      result = solve(rest.state, goal);
      CHECK(sign * (total(result)[axis] - total(still)[axis]) > 1);

      state = rest.state;
      state.angular_velocity[axis] = 0.5 * sign;
      CHECK(sign * (torque(solve(state, rest.goal), rest.feet)[axis] - torque(still, rest.feet)[axis]) < -0.1);
    }
  for (const double sign : {-1.0, 1.0}) {
    BodyState state = rest.state;
    state.position[2] += 0.03 * sign;
    CHECK(sign * (total(solve(state, rest.goal))[2] - total(still)[2]) < -1);
    for (int axis = 0; axis < 2; ++axis) {
      state = rest.state;
      state.roll_pitch_yaw[axis] = 0.1 * sign;
      CHECK(sign * (torque(solve(state, rest.goal), rest.feet)[axis] - torque(still, rest.feet)[axis]) < -0.1);
    }
    BodyGoal goal = rest.goal;
    goal.yaw_rate = 0.5 * sign;
    CHECK(sign * torque(solve(rest.state, goal), rest.feet)[2] > 0.1);
  }
}

TEST_CASE("plans obey friction and bounds, and are those of an interior point method") {
  Random random(1);
  const StanceOptions options;
  int at_bounds = 0;
  for (int run = 0; run < 40; ++run) {
    const Standing rest(robots()[run % 2]);
    StanceMpc mpc(rest.body, options);
    CondensedStance condensed(rest.body, options);
    BodyState state = rest.state;
    BodyGoal goal = rest.goal;
    const auto drawn = [&](double size) { return size * (2 * random.uniform() - 1); };
    state.roll_pitch_yaw = {drawn(0.25), drawn(0.4), drawn(3)};
    state.angular_velocity = {drawn(2), drawn(2), drawn(2)};
    state.velocity = {drawn(1), drawn(1), drawn(0.5)};
    state.position[2] += drawn(0.08);
    goal.velocity = {drawn(0.5), drawn(0.3), 0};
    PerLeg<bool> standing{};
    for (int i = 0; i < 1 + run % 4; ++i) standing[run % 3 == 0 ? 3 - i : i] = true;
    const auto result = mpc.solve(state, goal, rest.feet, standing);
    REQUIRE(result.status == QpStatus::solved);

    std::vector<Vector3> feet;
    for (int leg = 0; leg < leg_count; ++leg) {
      if (standing[leg]) feet.push_back(rest.feet[leg]);
      if (!standing[leg]) CHECK(distance(result.forces[leg], {}) == 0);
    }
    const int n = condensed.variables(static_cast<int>(feet.size()));
    REQUIRE(mpc.plan().size() == static_cast<std::size_t>(n));
    for (int i = 0; i < n; i += 3) {
      const double fx = mpc.plan()[i], fy = mpc.plan()[i + 1], fz = mpc.plan()[i + 2];
      CHECK(fz >= 0.1 * rest.weight - 1e-6);
      CHECK(fz <= 10 * rest.weight + 1e-6);
      CHECK(std::abs(fx) <= 0.45 * fz + 1e-6);
      CHECK(std::abs(fy) <= 0.45 * fz + 1e-6);
      at_bounds += std::abs(fx) > 0.45 * fz - 1e-6;
    }
    if (run >= 12) continue;
    std::vector<double> factor(static_cast<std::size_t>(n) * n), gradient(n);
    MatrixXd hessian(n, n);
    condensed.build(state, goal, feet, factor, gradient);
    condensed.hessian({hessian.data(), factor.size()});
    MatrixXd rows = MatrixXd::Zero(2 * n, n);
    VectorXd bounds = VectorXd::Zero(2 * n);
    for (int foot = 0; foot < n / 3; ++foot) {
      rows.block<6, 3>(6 * foot, 3 * foot) << -1, 0, 0.45, 1, 0, 0.45, 0, -1, 0.45, 0, 1, 0.45, 0, 0, 1, 0, 0, -1;
      bounds[6 * foot + 4] = 0.1 * rest.weight;
      bounds[6 * foot + 5] = -10 * rest.weight;
    }
    // In units of 10 N and with the cost in parts of its largest coefficient the oracle's steps are well scaled.
    const double unit = 10, scale = hessian.cwiseAbs().maxCoeff() * unit * unit;
    const auto [other, residual] =
        interior_point(hessian * (unit * unit / scale), Eigen::Map<const VectorXd>(gradient.data(), n) * (unit / scale),
                       MatrixXd(0, n), VectorXd(0), rows, bounds / unit);
    CHECK(residual < 1e-6);
    for (int i = 0; i < n; ++i) CHECK_THAT(mpc.plan()[i], WithinAbs(unit * other[i], 0.01));
  }
  CHECK(at_bounds > 20);
}

TEST_CASE("states far from the goal are solved, too") {
  Random random(2);
  for (int run = 0; run < 600; ++run) {
    const Standing rest(robots()[run % 2]);
    StanceMpc mpc(rest.body);
    const double size = std::pow(10, 2 * random.uniform());
    const auto drawn = [&](double most) { return size * most * (2 * random.uniform() - 1); };
    BodyState state{{drawn(0.05), drawn(0.05), drawn(1)},
                    {0, 0, rest.goal.height + drawn(0.05)},
                    {drawn(1), drawn(1), drawn(1)},
                    {drawn(1), drawn(1), drawn(1)}};
    PerLeg<Vector3> feet = rest.feet;
    for (auto& foot : feet) foot = {foot[0] + drawn(0.002), foot[1] + drawn(0.002), foot[2] + drawn(0.002)};
    PerLeg<bool> standing{};
    for (int leg = 0; leg < leg_count; ++leg) standing[leg] = (run + 1) >> leg & 1;
    INFO("run " << run << ", size " << size);
    const auto result = mpc.solve(state, rest.goal, feet, standing);
    REQUIRE(result.status == QpStatus::solved);
    for (int leg = 0; leg < leg_count; ++leg) {
      const auto& [fx, fy, fz] = result.forces[leg];
      CHECK(fz >= (standing[leg] ? 0.1 * rest.weight - 1e-4 : 0));
      CHECK(fz <= 10 * rest.weight + 1e-4);
      CHECK(std::max(std::abs(fx), std::abs(fy)) <= 0.45 * fz + 1e-4);
    }
  }
}

TEST_CASE("held by its own forces a toppled and pushed body comes back to rest") {
  // The nonlinear body, integrated in steps of 1 ms under forces renewed at 250 Hz; feet stay where they are.
  const Standing rest(find_robot("laikago"));
  StanceMpc mpc(rest.body);
  Eigen::Matrix<double, 3, 3, Eigen::RowMajor> inertia;
  for (int i = 0; i < 9; ++i) inertia(i / 3, i % 3) = rest.body.inertia[i];
  Eigen::Matrix3d axes = Eigen::AngleAxisd(0.15, Eigen::Vector3d(1, 1, 0).normalized()).toRotationMatrix();
  Eigen::Vector3d position(0, 0, rest.goal.height - 0.04), velocity(0.3, -0.2, 0), turning(0.5, 0.5, 0.5);
  StanceMpc::Result result;
  PerLeg<Vector3> feet{};
  for (int step = 0; step < 3000; ++step) {
    for (int leg = 0; leg < leg_count; ++leg)
      feet[leg] = {rest.feet[leg][0] - position[0], rest.feet[leg][1] - position[1], -position[2]};
    if (step % 4 == 0) {
      BodyState state;
      state.roll_pitch_yaw = {std::atan2(axes(2, 1), axes(2, 2)), -std::asin(axes(2, 0)), std::atan2(axes(1, 0), axes(0, 0))};
      state.position = {position[0], position[1], position[2]};
      state.angular_velocity = {turning[0], turning[1], turning[2]};
      state.velocity = {velocity[0], velocity[1], velocity[2]};
      // Places have no weight: the way back is asked for as a velocity.
      BodyGoal goal = rest.goal;
      goal.velocity = {-position[0], -position[1], 0};
      result = mpc.solve(state, goal, feet, everyone);
      REQUIRE(result.status == QpStatus::solved);
    }
    const Vector3 force = total(result), moment = torque(result, feet);
    const Eigen::Matrix3d world = axes * inertia * axes.transpose();
    constexpr double dt = 0.001;
    velocity += dt * Eigen::Vector3d(force[0] / rest.body.mass, force[1] / rest.body.mass, force[2] / rest.body.mass - 9.81);
    turning += dt * world.inverse() * (Eigen::Vector3d(moment[0], moment[1], moment[2]) - turning.cross(world * turning));
    position += dt * velocity;
    if (turning.norm() > 0) axes = Eigen::AngleAxisd(dt * turning.norm(), turning.normalized()).toRotationMatrix() * axes;
  }
  CHECK_THAT(position[2], WithinAbs(rest.goal.height, 0.01));
  CHECK(position.head<2>().norm() < 0.03);
  CHECK(velocity.norm() < 0.03);
  CHECK(turning.norm() < 0.05);
  CHECK(std::abs(axes(2, 0)) < 0.03);
  CHECK(std::abs(axes(2, 1)) < 0.03);
}

TEST_CASE("nothing stands, nothing to solve; what is not finite is reported; answers do not depend on what came before") {
  const Standing rest(find_robot("a1"));
  StanceMpc mpc(rest.body);
  const auto flying = mpc.solve(rest.state, rest.goal, rest.feet, {});
  CHECK(flying.status == QpStatus::solved);
  CHECK(distance(total(flying), {}) == 0);
  CHECK(mpc.plan().empty());
  BodyState wrong = rest.state;
  wrong.velocity[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK(mpc.solve(wrong, rest.goal, rest.feet, everyone).status == QpStatus::not_finite);
  PerLeg<Vector3> far = rest.feet;
  far[1][0] = std::numeric_limits<double>::infinity();
  CHECK(mpc.solve(rest.state, rest.goal, far, everyone).status == QpStatus::not_finite);
  BodyState pushed = rest.state;
  pushed.velocity = {0.5, 0.4, 0};
  for (const PerLeg<bool>& standing : {everyone, PerLeg<bool>{true, false, false, true}}) {
    mpc.solve(pushed, rest.goal, rest.feet, {true, true, false, false});
    const auto again = mpc.solve(pushed, rest.goal, rest.feet, standing);
    const auto first = StanceMpc(rest.body).solve(pushed, rest.goal, rest.feet, standing);
    for (int leg = 0; leg < leg_count; ++leg)
      for (int i = 0; i < 3; ++i) CHECK(again.forces[leg][i] == first.forces[leg][i]);
  }
  const auto with = [&](auto change) {
    StanceOptions options;
    change(options);
    return StanceMpc(rest.body, options);
  };
  CHECK_THROWS_WITH(with([](StanceOptions& o) { o.friction = 0; }), ContainsSubstring("option 'friction' is 0"));
  CHECK_THROWS_WITH(with([](StanceOptions& o) { o.least_force = 11; }), ContainsSubstring("are 11 and 10"));
  CHECK_THROWS_WITH(with([](StanceOptions& o) { o.gravity = 0; }), ContainsSubstring("option 'gravity' is 0"));
}
