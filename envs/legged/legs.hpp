// Include after `module iap.envs.legged;` and its imports, with <array>, <span> and <vector>.
#pragma once

namespace iap {

// The four legs of a robot, in the order FR, FL, RR, RL, their toes without a radius. Throws Error that names the leg that is none.
std::array<Leg, 4> find_legs(const RobotDescription& robot);

// What a toe touches with, if that is a sphere and nothing else.
const RobotShape* toe_ball(const RobotLink& toe);

// A leg's three angles as `legged::LegKinematics` takes them.
std::array<double, 3> model_angles(const Leg& leg, std::span<const double> angles);

// How high the lowest point of all collision shapes is above the base's origin, and that of each leg's shank with what is fixed to
// it, where the base is level and the joints are at `angles`.
struct Lowest {
  double robot;
  std::array<double, 4> legs;
};
Lowest lowest_points(const LeggedRobot& robot, const std::vector<double>& angles);

// About each joint, of all that it carries, where the joints are at `angles`; in the order of `joints`.
std::vector<double> carried_inertias(const LeggedRobot& robot, const std::vector<double>& angles);

}  // namespace iap
