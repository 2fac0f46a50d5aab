module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.legged;
import iap.sim;
#include "legs.hpp"

// The texts are defined outside of any module, in the files that iap_embed writes.
extern "C++" {
namespace iap::embedded {
extern const std::string_view models_a1_urdf, models_laikago_urdf;
}
}

namespace iap {
namespace {

// The texts; pose and gains are those of the controllers' table.
struct Preset {
  std::string_view name, urdf;
};

std::span<const Preset> presets() {
  static const auto all = std::to_array<Preset>({{"a1", embedded::models_a1_urdf}, {"laikago", embedded::models_laikago_urdf}});
  return all;
}

const Preset& find(std::string_view name) {
  for (const auto& preset : presets())
    if (preset.name == name) return preset;
  throw Error(text("there is no robot '", name, "'", did_you_mean(name, legged_robots())));
}

const RobotLink& link_of(const RobotDescription& robot, std::string_view joint) {
  return *std::ranges::find(robot.links, joint, &RobotLink::joint);
}

// A machine in metres: texts and meshes in millimetres are a thousand times too large.
constexpr double shortest_leg = .01, longest_leg = 10, highest_stand = 10;
constexpr double longest_shape = 20;  // in legs: a payload sticks out, but not so far

constexpr std::string_view in_metres = "; URDFs are in metres (a mesh in millimetres wants scale=\"0.001 0.001 0.001\")";

// The longest side of the box around it.
double extent(const RobotShape& shape) {
  if (shape.kind == RobotShape::Kind::hull) {
    std::array<double, 3> low{}, high{};
    for (std::size_t i = 0; i < 3; ++i) low[i] = high[i] = shape.points[i];
    for (std::size_t i = 0; i < shape.points.size(); ++i) {
      low[i % 3] = std::min(low[i % 3], shape.points[i]);
      high[i % 3] = std::max(high[i % 3], shape.points[i]);
    }
    return std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  }
  return 2 * *std::ranges::max_element(shape.size);
}

double length(const Leg& leg) { return leg.geometry.thigh + leg.geometry.shank; }

void check_sizes(const LeggedRobot& robot) {
  double longest = 0;
  for (const auto& leg : robot.legs) {
    longest = std::max(longest, length(leg));
    if (!(length(leg) >= shortest_leg && length(leg) <= longest_leg))
      throw Error(text("the leg ", leg.name, " of the robot '", robot.name, "' is ", general_text(length(leg), 4),
                       " m long (thigh and shank); it must be ", shortest_leg, " to ", longest_leg, in_metres));
  }
  const double height = robot.touching_height(robot.standing);
  if (!(height <= highest_stand))
    throw Error(text("the robot '", robot.name, "' stands ", general_text(height, 4), " m high; it may stand ", highest_stand, " m",
                     in_metres));
  if (!(height > 0))
    throw Error(
        text("the base '", robot.description.links[0].name, "' of the robot '", robot.name, "' has its origin ",
             general_text(std::abs(height), 3),
             " m below the floor when the robot stands; the height of that origin tells whether it has fallen, so begin with "
             "the trunk, not with a frame on the ground"));
  for (const auto& link : robot.description.links)
    for (const auto* shapes : {&link.collisions, &link.visuals})
      for (const auto& shape : *shapes)
        if (const double size = extent(shape); size > longest_shape * longest)
          throw Error(text("link '", link.name, "' of the robot '", robot.name, "' has a shape of ", general_text(size, 4), " m, ",
                           fixed_text(size / longest, 0), " times the length of a leg; at most ", longest_shape, " make sense",
                           in_metres));
}

constexpr double turn = 2 * std::numbers::pi;

// The angle that is `wanted` or whole turns from it, or as near to that as the joint's limits allow.
double within_limits(const RobotLink& link, double wanted) {
  const double angle = std::remainder(wanted, turn);
  if (link.kind == JointKind::continuous) return angle;
  const auto beyond = [&](double turned) { return std::abs(turned - std::clamp(turned, link.lower, link.upper)); };
  const double nearest = std::ranges::min({angle, angle + turn, angle - turn}, {}, beyond);
  return std::clamp(nearest, link.lower, link.upper);
}

constexpr std::array<double, 3> pose{0, .8, -1.6};  // from a leg that hangs straight down, about +x and +y

// 1 for a leg that stands in `pose`, -1 for one that stands the other way about: its knee bends further forwards, and backwards
// less than half as far as there.
double side(const Leg& leg, const RobotLink& knee) {
  const double axis = leg.geometry.axes[2];
  const auto reached = [&](double wanted) {
    return std::remainder(axis * (within_limits(knee, axis * wanted - leg.zero[2]) + leg.zero[2]), turn);
  };
  const double backwards = reached(pose[2]), forwards = reached(-pose[2]);
  return backwards > pose[2] / 2 && forwards > -backwards ? -1 : 1;
}

// Where a leg's toe is from the base.
legged::Vector3 toe_of(const Leg& leg, std::span<const double> angles) {
  return legged::LegKinematics(leg.geometry).forward(model_angles(leg, angles));
}

// How far below its centre each toe touches.
void measure_toes(LeggedRobot& robot) {
  const Lowest lowest = lowest_points(robot, robot.standing);
  for (std::size_t i = 0; i < robot.legs.size(); ++i) {
    Leg& leg = robot.legs[i];
    const RobotShape* ball = toe_ball(robot.description.links[leg.toe]);
    leg.toe_radius = ball ? ball->size[0] : toe_of(leg, std::span(robot.standing).subspan(3 * i, 3))[2] - lowest.legs[i];
  }
}

// Legs, joints and limits; what follows from a choice is left out.
LeggedRobot begin(RobotDescription description) {
  LeggedRobot robot{.name = description.name, .description = std::move(description)};
  robot.legs = find_legs(robot.description);
  for (const auto& leg : robot.legs)
    for (const auto& joint : leg.joints) {
      const RobotLink& link = link_of(robot.description, joint);
      robot.joints.push_back(joint);
      robot.torque_limits.push_back(link.effort);
      robot.velocity_limits.push_back(link.velocity);
    }
  return robot;
}

}  // namespace

const std::vector<std::string>& legged_robots() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const legged::Robot& robot : legged::robots()) all.emplace_back(robot.name);
    return all;
  }();
  return names;
}

std::string_view legged_urdf(std::string_view name) { return find(name).urdf; }

LeggedRobot legged_robot(std::string_view name) {
  LeggedRobot robot = begin(parse_urdf(find(name).urdf, text(name, ".urdf")));
  const legged::Robot& known = legged::find_robot(name);
  robot.start_height = known.start_height;
  for (int leg = 0; leg < legged::leg_count; ++leg)
    for (int i = 0; i < 3; ++i) {
      robot.standing.push_back(known.standing[i]);
      robot.kp.push_back(known.stiffness[i]);
      robot.kd.push_back(known.damping[i]);
    }
  measure_toes(robot);
  return robot;
}

LeggedRobot legged_robot(RobotDescription description) {
  constexpr std::array<double, 3> damping{.01, .02, .02};
  constexpr double stiffness = 40, drop = .02;  // kp per kg and metre of thigh: what A1 and Laikago have
  LeggedRobot robot = begin(std::move(description));
  const double mass = robot.description.mass();
  for (auto& leg : robot.legs) {
    const double way = side(leg, link_of(robot.description, leg.joints[2]));
    for (int i = 0; i < 3; ++i) {
      const RobotLink& link = link_of(robot.description, leg.joints[i]);
      const double wanted = leg.geometry.axes[i] * way * pose[i] - leg.zero[i];
      robot.standing.push_back(within_limits(link, wanted));
      leg.zero[i] += turn * std::round((wanted - robot.standing.back()) / turn);
      robot.kp.push_back(stiffness * mass * leg.geometry.thigh);
      robot.kd.push_back(damping[i] * robot.kp.back());
    }
  }
  measure_toes(robot);
  check_sizes(robot);
  robot.start_height = robot.touching_height(robot.standing) + drop;
  return robot;
}

double LeggedRobot::touching_height(const std::vector<double>& angles) const {
  constexpr double rounding = 1e-9;
  double height = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < legs.size(); ++i)
    height = std::max(height, legs[i].toe_radius - toe_of(legs[i], std::span(angles).subspan(3 * i, 3))[2]);
  const double exact = -lowest_points(*this, angles).robot;
  // Where the controllers' kinematics tell the same, theirs are the last bits.
  return std::abs(height - exact) < rounding ? height : exact;
}

RobotState LeggedRobot::standing_state(double height) const { return {.position = {0, 0, height}, .angles = standing}; }

PdMotors LeggedRobot::motors() const { return {kp, kd, torque_limits, velocity_limits}; }

}  // namespace iap
