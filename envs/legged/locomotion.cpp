module;
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.geometry;
import iap.legged;
import iap.sim;
#include "legs.hpp"
#include "standing_legs.hpp"
#include "walking_body.hpp"

namespace iap {
namespace {

using legged::leg_count;
using legged::LegState;
using legged::PerLeg;
using namespace geometry;

constexpr int joints = 3;
// Faster targets come of a landing place that has changed.
constexpr double fastest_target = 12;  // rad/s

PerLeg<legged::LegKinematics> kinematics(const LeggedRobot& robot) {
  const auto of = [&](int i) { return legged::LegKinematics(robot.legs[i].geometry); };
  return {of(0), of(1), of(2), of(3)};
}

// Of a robot's legs, in parts of A1's, but no more than 1: longer ones walk well as they are.
double leg_size(const LeggedRobot& robot) {
  constexpr double usual_length = .4;  // m
  double longest = 0;
  for (const Leg& leg : robot.legs) longest = std::max(longest, leg.geometry.thigh + leg.geometry.shank);
  return std::min(1., longest / usual_length);
}

// Forces grow with the mass, what they miss of the goal does not: one weight for all would let the heavy ones sink. It was chosen
// with A1 and Laikago, and is the same from one to the other.
legged::StanceOptions stance_options(legged::StanceOptions own, double mass, double gravity) {
  constexpr double lightest = 12, heaviest = 25.6;  // kg
  const double share = std::clamp(mass, lightest, heaviest) / mass;
  own.force_weight *= share * share;
  own.gravity = gravity;
  return own;
}

void check(const LocomotionOptions& options) {
  if (options.physics_steps < 1) throw Error(text("locomotion: physics_steps is ", options.physics_steps, "; use at least 1"));
  for (const double value : {options.stance_damping, options.placement_gain, options.hold, options.slack, options.settle})
    if (!(value >= 0 && std::isfinite(value)))
      throw Error(text("locomotion: stance_damping, placement_gain, hold, slack and settle must not be negative, one is ", value));
}

}  // namespace

struct Locomotion::Impl {
  Impl(const LeggedRobot& of, RobotWorld& world, const LocomotionOptions& given)
      : robot(of),
        options(given),
        legs(kinematics(of)),
        weights(of, world.options().gravity),
        body(walking_body(of, world)),
        mpc(body, stance_options(given.stance, body.mass, world.options().gravity)),
        gait(given.gait),
        swing(given.swing),
        place(given.placement_gain),
        dt(given.physics_steps * world.options().timestep),
        size(leg_size(of)),
        torques(of.joints.size()) {
    for (int leg = 0; leg < leg_count; ++leg) {
      const Vector3 standing = own_angles(leg, of.standing);
      rest[leg] = legs[leg].forward(standing);
      knees[leg] = of.legs[leg].geometry.axes[2] * standing[2] > 0 ? legged::Knee::forwards : legged::Knee::backwards;
    }
    if (given.centred) centre_feet();
  }

  // So that their middle is under the centre of mass: elsewhere a trot's two feet tip the robot over.
  void centre_feet() {
    for (int i = 0; i < 2; ++i) {
      double aside = body.centre[i];
      for (const Vector3& foot : rest) aside -= foot[i] / leg_count;
      for (Vector3& foot : rest) foot[i] += aside;
    }
  }

  // As the kinematics take them.
  Vector3 own_angles(int leg, std::span<const double> all) const {
    return model_angles(robot.legs[leg], all.subspan(joints * leg, joints));
  }

  void sense(const RobotWorld& world) {
    const RobotState& state = world.state();
    axes = world.base_rotation();
    attitude = roll_pitch_yaw(axes);
    position = state.position;
    cosine = std::cos(attitude[2]);
    sine = std::sin(attitude[2]);
    forward = {cosine * state.velocity[0] + sine * state.velocity[1], -sine * state.velocity[0] + cosine * state.velocity[1]};
    // Contacts are known from the first step of physics on; a robot begins with its toes on the ground.
    touches.fill(world.time() == 0);
    for (const auto& contact : world.contacts())
      for (int leg = 0; leg < leg_count; ++leg) touches[leg] = touches[leg] || contact.link == robot.legs[leg].toe;
    for (int leg = 0; leg < leg_count; ++leg) {
      angles[leg] = own_angles(leg, state.angles);
      toes[leg] = legs[leg].forward(angles[leg]);
      feet[leg] = position + axes * toes[leg];
    }
  }

  std::array<double, 2> turned(const std::array<double, 2>& v) const {
    return {cosine * v[0] - sine * v[1], sine * v[0] + cosine * v[1]};
  }

  // Moves the place and heading where the robot should be, never further than the slack from where it is.
  void lead(const WalkCommand& command) {
    const auto way = turned(command.velocity);
    std::array<double, 2> behind{};
    for (int i = 0; i < 2; ++i) behind[i] = led[i] + way[i] * dt - position[i];
    const double distance = std::hypot(behind[0], behind[1]);
    if (distance > options.slack)
      for (double& part : behind) part *= options.slack / distance;
    for (int i = 0; i < 2; ++i) {
      led[i] = position[i] + behind[i];
      goal.velocity[i] = way[i] + options.hold * behind[i];
    }
    const double aside =
        std::clamp(std::remainder(heading + command.twist * dt - attitude[2], 2 * std::numbers::pi), -options.slack, options.slack);
    heading = attitude[2] + aside;
    goal.yaw_rate = command.twist + options.hold * aside;
    goal.roll = command.roll;
    goal.pitch = command.pitch;
    goal.height = command.height + body.centre[2];
  }

  void feel(bool at_once) {
    double mean = 0;
    for (int leg = 0; leg < leg_count; ++leg) {
      if (at_once || (touches[leg] && bears[leg])) footing[leg] = feet[leg][2] - robot.legs[leg].toe_radius;
      mean += footing[leg] / leg_count;
    }
    ground = at_once || options.settle <= dt ? mean : ground + (mean - ground) * dt / options.settle;
  }

  double until_landing(int leg) const {
    const double left = options.swing.land_phase - (gait.desired()[leg] == LegState::swing ? gait.phases()[leg] : 0);
    return until_lift(leg) + std::max(0.0, left) * gait.swing_duration(leg);
  }

  double until_lift(int leg) const {
    return gait.desired()[leg] == LegState::swing ? 0 : (1 - gait.phases()[leg]) * gait.stance_duration(leg);
  }

  void choose_landings(const RobotWorld& world, const WalkCommand& command) {
    const legged::GroundMotion actual{forward, world.state().angular_velocity[2]}, wanted{command.velocity, command.twist};
    for (int leg = 0; leg < leg_count; ++leg) {
      const double left = until_landing(leg);
      const auto foot = place(rest[leg], actual, wanted, gait.stance_duration(leg), command.height);
      const auto& offset = command.offsets[leg];
      const auto way = turned({foot[0] + forward[0] * left, foot[1] + forward[1] * left});
      const auto shift = turned({offset[0], offset[1]});
      landings[leg] = {position[0] + way[0], position[1] + way[1], ground + robot.legs[leg].toe_radius};
      targets[leg] = landings[leg] + Vector3{shift[0], shift[1], offset[2]};
    }
  }

  double clearance(const WalkCommand& command, int leg) const {
    constexpr double usual = .06;  // m
    return command.clearances[leg] < 0 ? usual * size : command.clearances[leg];
  }

  Vector3 in_base(const Vector3& point) const { return transposed(axes) * (point - position); }

  void aim(int leg, const WalkCommand& command) {
    const bool swings = gait.desired()[leg] == LegState::swing;
    if (swings && !swung[leg]) lifts[leg] = feet[leg];
    // A foot that found no ground feels for it further down.
    const Vector3 point = swings ? swing.at(gait.phases()[leg], lifts[leg], targets[leg], clearance(command, leg)).position
                                 : feet[leg] + Vector3{0, 0, -options.swing.press};
    const Vector3 next = legs[leg].inverse(in_base(point), knees[leg]).joints;
    for (int i = 0; i < joints; ++i) {
      rates[leg][i] = aimed[leg] ? std::clamp((next[i] - aims[leg][i]) / dt, -fastest_target, fastest_target) : 0;
      aims[leg][i] = next[i];
    }
    aimed[leg] = swings;
    swung[leg] = swings;
  }

  bool plan(const RobotWorld& world, const WalkCommand& command) {
    const RobotState& state = world.state();
    const Vector3 arm = axes * body.centre;
    const Vector3 centre = position + arm;
    PerLeg<Vector3> around{};
    for (int leg = 0; leg < leg_count; ++leg) {
      bears[leg] = command.stand || gait.bears(leg);
      around[leg] = feet[leg] - centre;
      around[leg][2] -= robot.legs[leg].toe_radius;
    }
    feel(false);
    lead(command);
    const auto result = mpc.solve({.roll_pitch_yaw = attitude,
                                   .position = {centre[0], centre[1], centre[2] - ground},
                                   .angular_velocity = state.angular_velocity,
                                   .velocity = state.velocity + cross(state.angular_velocity, arm)},
                                  goal, around, bears);
    if (result.status != legged::QpStatus::solved) return false;
    choose_landings(world, command);
    for (int leg = 0; leg < leg_count; ++leg) {
      pushes[leg] = weights.torques(world, leg);
      if (bears[leg])
        stand(leg, result.forces[leg], state);
      else
        aim(leg, command);
    }
    return true;
  }

  void stand(int leg, const Vector3& force, const RobotState& state) {
    const Matrix3 jacobian = legs[leg].jacobian(angles[leg]);
    pushes[leg] = pushes[leg] + legged::stance_torques(jacobian, transposed(axes) * force, {}, {});
    // What the goal asks of the joints is not braked, nor are heaving, rolling and pitching, which the plan sees to.
    const Vector3 velocity{goal.velocity[0], goal.velocity[1], state.velocity[2]};
    const Vector3 turning{state.angular_velocity[0], state.angular_velocity[1], goal.yaw_rate};
    rates[leg] = standing_rates(jacobian, toes[leg], transposed(axes) * velocity, transposed(axes) * turning, size);
    swung[leg] = swung[leg] && gait.desired()[leg] == LegState::swing;
    aimed[leg] = false;
  }

  void drive(RobotWorld& world) {
    const RobotState& state = world.state();
    for (int step = 0; step < options.physics_steps; ++step) {
      const double ahead = step * world.options().timestep;
      for (int leg = 0; leg < leg_count; ++leg)
        for (int i = 0; i < joints; ++i) {
          const int at = joints * leg + i;
          const double rate = state.velocities[at];
          const double held =
              bears[leg] ? options.stance_damping * robot.kd[at] * (rates[leg][i] - rate)
                         : robot.kp[at] * (aims[leg][i] - robot.legs[leg].zero[i] + rates[leg][i] * ahead - state.angles[at]) +
                               robot.kd[at] * (rates[leg][i] - rate);
          torques[at] = limited_torque(pushes[leg][i] + held, rate, robot.torque_limits[at], robot.velocity_limits[at]);
        }
      world.step(torques, 1);
    }
  }

  LeggedRobot robot;
  LocomotionOptions options;
  PerLeg<legged::LegKinematics> legs;
  LegWeights weights;
  legged::Body body;
  legged::StanceMpc mpc;
  legged::Gait gait;
  legged::SwingTrajectory swing;
  legged::FootPlacement place;
  double dt = 0, size = 1, time = 0;
  PerLeg<Vector3> rest{};
  PerLeg<legged::Knee> knees{};

  // Of the robot, as sensed.
  Matrix3 axes{};
  Vector3 attitude{}, position{};
  double cosine = 1, sine = 0;
  std::array<double, 2> forward{};  // velocity in the heading's axes
  PerLeg<Vector3> angles{}, toes{}, feet{};
  PerLeg<bool> touches{};
  PerLeg<double> footing{};
  double ground = 0;

  std::array<double, 2> led{};
  double heading = 0;
  legged::BodyGoal goal;
  PerLeg<bool> bears{}, swung{}, aimed{};
  PerLeg<Vector3> landings{}, targets{}, lifts{}, aims{};
  PerLeg<Vector3> pushes{}, rates{};  // torques; what the joints' rates are held to
  std::vector<double> torques;
};

LocomotionOptions usual_locomotion(const LeggedRobot& robot) {
  const double size = leg_size(robot);
  LocomotionOptions options;
  // Short legs tip over, as pendulums do, in times that go by the root of their length.
  for (double& stance : options.gait.stance) stance *= std::sqrt(size);
  options.swing.press *= size;
  return options;
}

Locomotion::Locomotion(const LeggedRobot& robot, RobotWorld& world) : Locomotion(robot, world, usual_locomotion(robot)) {}
Locomotion::Locomotion(const LeggedRobot& robot, RobotWorld& world, const LocomotionOptions& options) {
  check(options);
  impl_ = std::make_unique<Impl>(robot, world, options);
  reset(world);
}
Locomotion::~Locomotion() = default;
Locomotion::Locomotion(Locomotion&&) noexcept = default;
Locomotion& Locomotion::operator=(Locomotion&&) noexcept = default;

const LocomotionOptions& Locomotion::options() const { return impl_->options; }
const legged::Gait& Locomotion::gait() const { return impl_->gait; }
const PerLeg<Vector3>& Locomotion::toes() const { return impl_->toes; }
const PerLeg<Vector3>& Locomotion::landings() const { return impl_->landings; }
const PerLeg<Vector3>& Locomotion::targets() const { return impl_->targets; }
const PerLeg<bool>& Locomotion::touching() const { return impl_->touches; }
double Locomotion::until_lift(int leg) const { return impl_->until_lift(leg); }
double Locomotion::height(const RobotWorld& world) const { return world.state().position[2] - impl_->ground; }

void Locomotion::reset(const RobotWorld& world) {
  Impl& own = *impl_;
  own.time = 0;
  own.gait.reset();
  own.sense(world);
  own.feel(true);
  own.led = {own.position[0], own.position[1]};
  own.heading = own.attitude[2];
  own.swung.fill(false);
  own.aimed.fill(false);
  own.choose_landings(world, {.height = own.position[2] - own.ground});
}

bool Locomotion::step(RobotWorld& world, const WalkCommand& command) {
  Impl& own = *impl_;
  own.sense(world);
  if (command.stand) {
    own.time = 0;
    own.gait.reset();
  } else {
    own.gait.update(own.time, own.touches);
    own.time += own.dt;
  }
  if (!own.plan(world, command)) return false;
  own.drive(world);
  return true;
}

}  // namespace iap
