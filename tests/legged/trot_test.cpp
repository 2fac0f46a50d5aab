#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>

import iap.legged;

using namespace iap::legged;
using Catch::Matchers::WithinAbs;
using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

Vector3 plain(const Vector3d& v) { return {v[0], v[1], v[2]}; }
Vector3d vector(const Vector3& v) { return {v[0], v[1], v[2]}; }

/// A body on legs without mass over flat ground, by Newton's and Euler's laws in steps of 1 ms: a foot is where it landed until it
/// lifts. Gait, foot placement and stance control work together as they would on a robot.
class Trotter {
 public:
  explicit Trotter(const Robot& robot) : body_(standing_body(robot)), mpc_(body_) {
    const PerLeg<Vector3> feet = standing_feet(robot);
    for (int leg = 0; leg < leg_count; ++leg) rest_[leg] = vector(feet[leg]);
    for (int i = 0; i < 9; ++i) inertia_(i / 3, i % 3) = body_.inertia[i];
    height_ = -rest_[0][2];
    position = {0, 0, height_};
    for (int leg = 0; leg < leg_count; ++leg) feet_[leg] = {rest_[leg][0], rest_[leg][1], 0};
  }

  bool step(const GroundMotion& wanted) {
    const double heading = std::atan2(axes(1, 0), axes(0, 0));
    if (steps_ % 4 == 0 && !control(wanted, heading)) return false;
    Vector3d force = Vector3d::Zero(), torque = Vector3d::Zero();
    for (int leg = 0; leg < leg_count; ++leg) {
      const Vector3d push = vector(forces_[leg]);
      force += push;
      torque += (feet_[leg] - position).cross(push);
    }
    const Matrix3d world = axes * inertia_ * axes.transpose();
    velocity += dt * (force / body_.mass - Vector3d(0, 0, 9.81));
    turning += dt * world.inverse() * (torque - turning.cross(world * turning));
    position += dt * velocity;
    if (turning.norm() > 0) axes = Eigen::AngleAxisd(dt * turning.norm(), turning.normalized()).toRotationMatrix() * axes;
    turned += dt * turning[2];
    ++steps_;
    return true;
  }

  Vector3d position, velocity = Vector3d::Zero(), turning = Vector3d::Zero();
  Matrix3d axes = Matrix3d::Identity();
  double turned = 0;  // about z, whole turns included

 private:
  static constexpr double dt = 0.001;

  bool control(const GroundMotion& wanted, double heading) {
    gait_.update(steps_ * dt, {});
    const Matrix3d facing = Eigen::AngleAxisd(heading, Vector3d::UnitZ()).toRotationMatrix();
    const Vector3d along = facing.transpose() * velocity;
    PerLeg<bool> standing{};
    PerLeg<Vector3> feet{};
    for (int leg = 0; leg < leg_count; ++leg) {
      standing[leg] = gait_.desired()[leg] == LegState::stance;
      if (standing[leg] && !stood_[leg]) {
        feet_[leg] = position + facing * vector(place_(plain(rest_[leg]), {{along[0], along[1]}, turning[2]}, wanted,
                                                       gait_.stance_duration(leg), height_));
        feet_[leg][2] = 0;
      }
      feet[leg] = plain(feet_[leg] - position);
    }
    stood_ = standing;
    const Vector3d way = facing * Vector3d(wanted.velocity[0], wanted.velocity[1], 0);
    const BodyState state{
        {std::atan2(axes(2, 1), axes(2, 2)), -std::asin(axes(2, 0)), heading}, plain(position), plain(turning), plain(velocity)};
    const auto result = mpc_.solve(state, {.yaw_rate = wanted.yaw_rate, .height = height_, .velocity = plain(way)}, feet, standing);
    forces_ = result.forces;
    return result.status == QpStatus::solved;
  }

  Body body_;
  StanceMpc mpc_;
  Gait gait_;
  FootPlacement place_;
  PerLeg<Vector3d> rest_, feet_;
  Matrix3d inertia_;
  PerLeg<bool> stood_{true, true, true, true};
  PerLeg<Vector3> forces_{};
  double height_ = 0;
  int steps_ = 0;
};

}  // namespace

TEST_CASE("gait, foot placement and stance control together trot ahead, sideways and round, upright and as fast as asked") {
  for (const Robot& robot : robots())
    for (const GroundMotion& wanted : {GroundMotion{{0.3, 0}, 0}, GroundMotion{{-0.2, 0.1}, 0}, GroundMotion{{0.2, 0}, 0.4}}) {
      Trotter trotter(robot);
      const double height = trotter.position[2];
      constexpr int begin = 2000, end = 8000;
      Vector3d along = Vector3d::Zero();
      double turned = 0, highest = height, lowest = height, most_tilt = 0;
      for (int step = 0; step < end; ++step) {
        REQUIRE(trotter.step(wanted));
        if (step == begin) turned = trotter.turned;
        if (step < begin) continue;
        const double heading = std::atan2(trotter.axes(1, 0), trotter.axes(0, 0));
        along += Eigen::AngleAxisd(-heading, Vector3d::UnitZ()).toRotationMatrix() * trotter.velocity / (end - begin);
        highest = std::max(highest, trotter.position[2]);
        lowest = std::min(lowest, trotter.position[2]);
        most_tilt = std::max(most_tilt, std::acos(std::clamp(trotter.axes(2, 2), -1.0, 1.0)));
      }
      INFO(robot.name << " asked for " << wanted.velocity[0] << ", " << wanted.velocity[1] << ", " << wanted.yaw_rate);
      CHECK_THAT(along[0], WithinAbs(wanted.velocity[0], 0.045));
      CHECK_THAT(along[1], WithinAbs(wanted.velocity[1], 0.045));
      CHECK_THAT((trotter.turned - turned) / 6, WithinAbs(wanted.yaw_rate, 0.06));
      CHECK(highest < height + 0.03);
      CHECK(lowest > height - 0.03);
      CHECK(most_tilt < 0.1);
    }
}
