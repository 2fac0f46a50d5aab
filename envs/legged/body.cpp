module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.sim;
#include "body.hpp"

namespace iap {

double read_timestep(Options& options) { return options.number_in("timestep", 1e-5, .01, .001); }

RobotWorld make_world(const LeggedRobot& robot, Options& options) {
  return RobotWorld(
      robot.description,
      {.engine = options.choice("engine", robot_engines(), "bullet"), .timestep = read_timestep(options), .joints = robot.joints});
}

void jitter_joints(const LeggedRobot& robot, double jitter, Random& random, std::vector<double>& angles) {
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const RobotLink& link = *std::ranges::find(robot.description.links, robot.joints[i], &RobotLink::joint);
    angles[i] += random.uniform(-jitter, jitter);
    if (link.kind != JointKind::continuous) angles[i] = std::clamp(angles[i], link.lower, link.upper);
  }
}

/// @lua options robots.body
/// A robot on four legs and its simulation. Joints and legs are in the order FR, FL, RR, RL, of each abduction, hip, knee.
/// @option engine "bullet"|"mujoco" = "bullet" - Bullet's multibody (Featherstone, float64) or MuJoCo
/// @option timestep number 1e-5..0.01 = 0.001 - seconds of a physics step
/// @option physics_steps integer 1..1000 = 4 - physics steps in a step of the policy: 250 Hz
/// @option friction number 0..10 = 1 - between robot and ground
/// @option jitter number 0..1 = 0.05 - uniform noise on each joint when an episode begins, radians, as far as the
/// joint's limits allow
/// @option largest_roll number 0..3.2 = 0.8 - beyond it the robot has fallen, which ends the episode, radians
/// @option largest_pitch number 0..3.2 = 1 - likewise
/// @option lowest number 0..10 = 0.15 - height of the base above the ground, metres, below which it has fallen
/// @use env.common
/// @see robots.md
LeggedBody::LeggedBody(LeggedRobot robot, double lowest, Options& options)
    : robot_(std::move(robot)),
      world_(make_world(robot_, options)),
      motors_(robot_.motors()),
      physics_steps_(static_cast<int>(options.integer_in("physics_steps", 1, 1000, 4))),
      friction_(options.number_in("friction", 0, 10, 1)),
      jitter_(options.number_in("jitter", 0, 1, .05)),
      largest_roll_(options.number_in("largest_roll", 0, 3.2, .8)),
      largest_pitch_(options.number_in("largest_pitch", 0, 3.2, 1)),
      lowest_(options.number_in("lowest", 0, 10, lowest)) {
  world_.set_terrain({.friction = friction_});
}

void LeggedBody::reset(RobotState start, Random& random, double floor) {
  jitter_joints(robot_, jitter_, random, start.angles);
  start.position[2] = std::max(start.position[2], floor + robot_.touching_height(start.angles));
  world_.reset(start);
}

double LeggedBody::step(std::span<const double> targets) {
  const double from = world_.state().position[0];
  motors_.step(world_, targets, physics_steps_);
  return world_.state().position[0] - from;
}

bool LeggedBody::fallen(double floor) const {
  const auto [roll, pitch, yaw] = roll_pitch_yaw(world_.base_rotation());
  return std::abs(roll) > largest_roll_ || std::abs(pitch) > largest_pitch_ || world_.state().position[2] - floor < lowest_;
}

float* LeggedBody::write_state(float* at, bool velocities) const {
  const auto [roll, pitch, yaw] = roll_pitch_yaw(world_.base_rotation());
  const auto rates = world_.angular_velocity_in_base();
  const std::array<double, imu> gyro{roll, pitch, rates[0], rates[1]};
  const auto& state = world_.state();
  const auto write = [&at](std::span<const double> values) {
    for (const double value : values) *at++ = static_cast<float>(value);
  };
  write(gyro);
  write(state.angles);
  if (velocities) write(state.velocities);
  return at;
}

std::vector<std::string> LeggedBody::state_names() const {
  constexpr std::array<const char*, 3> parts{"abduction", "hip", "knee"};
  std::vector<std::string> all{"roll", "pitch", "roll rate", "pitch rate"};
  for (const char* kind : {"angle", "velocity"})
    for (const auto& leg : robot_.legs)
      for (const char* part : parts) all.push_back(text(kind, " of ", leg.name, ' ', part));
  return all;
}

}  // namespace iap
