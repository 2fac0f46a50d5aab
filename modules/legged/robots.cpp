module;
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.legged;
import iap.core;

namespace iap::legged {
namespace {

constexpr double right_negative(int leg) { return is_right(leg) ? -1 : 1; }
constexpr double rear_negative(int leg) { return is_front(leg) ? 1 : -1; }

// Unitree's A1 as its public URDF describes it (motion_imitation's a1.urdf); limits and gains are those of that simulator. The base
// is the trunk alone: five grams of sensors are in the total.
Robot make_a1() {
  Robot robot{.name = "a1",
              .mass = 12.458,
              .base = {4.713, {0.0127, 0.0022, 0.0005}, {0.01684, 0.05658, 0.06471}},
              .toe_radius = 0.02,
              .lowest = {-0.803, -1.047, -2.697},
              .highest = {0.803, 4.189, -0.916},
              .torque_limits = {20, 55, 55},
              .velocity_limits = {52.4, 28.6, 28.6},
              .standing = {0, 0.9, -1.8},
              .start_height = 0.32,
              .stiffness = {100, 100, 100},
              .damping = {1, 2, 2},
              .box = {0.267, 0.194, 0.114}};
  for (int leg = 0; leg < leg_count; ++leg) {
    const double side = right_negative(leg), end = rear_negative(leg);
    robot.legs[leg] = {{end * 0.183, side * 0.047, 0}, side * 0.08505, 0.2, 0.2, {1, 1, 1}};
    robot.parts[leg] = {.hip = {0.696, {end * -0.0033, side * 0.0006, 0}, {0.00047, 0.00081, 0.00055}},
                        .thigh = {1.013, {-0.0032, side * -0.0223, -0.0273}, {0.00553, 0.00514, 0.00137}},
                        .shank = {0.166, {0.0064, 0, -0.1074}, {0.0030, 0.0030, 3e-5}},
                        .toe = {0.06, {0, 0, -0.2}, {}}};
  }
  return robot;
}

// Unitree's Laikago as PyBullet's data describe it (laikago_toes.urdf), turned from y up and z forward to our axes: a vector
// (x, y, z) there is (z, x, y) here. Torque limits are those of the experiments; the URDF says 100 N m. The hips' centres lie 2 cm
// along the abduction axis; taken as towards the body's ends.
Robot make_laikago() {
  Robot robot{.name = "laikago",
              .mass = 25.567,
              .base = {13.715, {0, 0, 0}, {0.22, 0.431, 0.565}},
              .toe_radius = 0.03,
              .lowest = {-0.873, -1.3, -2.164},
              .highest = {1.047, 3.4, 0},
              .torque_limits = {30, 30, 30},
              .velocity_limits = {0, 0, 0},
              .standing = {0, 0.67, -1.25},
              .start_height = 0.48,
              .stiffness = {220, 220, 220},
              .damping = {0.3, 2, 2},
              .box = {0.576, 0.2, 0.188}};
  for (int leg = 0; leg < leg_count; ++leg) {
    const double side = right_negative(leg), end = rear_negative(leg);
    robot.legs[leg] = {{is_front(leg) ? 0.1991 : -0.2382, side * 0.0817, -0.03}, side * 0.034, 0.2522, 0.2510, {side, 1, 1}};
    robot.parts[leg] = {.hip = {1.095, {end * 0.02, 0, 0}, {0.002, 0.002, 0.001}},
                        .thigh = {1.527, {-0.04, 0, -0.04}, {0.011, 0.016, 0.007}},
                        .shank = {0.241, {-0.02, 0, -0.16}, {0.002, 0.002, 0.002}},
                        .toe = {0.1, {0, 0, -0.2510}, {}}};
  }
  return robot;
}

}  // namespace

std::span<const Robot> robots() {
  static const std::array table{make_a1(), make_laikago()};
  return table;
}

const Robot& find_robot(std::string_view name) {
  std::vector<std::string> names;
  for (const Robot& robot : robots()) {
    if (robot.name == name) return robot;
    names.emplace_back(robot.name);
  }
  throw Error(text("there is no robot '", name, "'", did_you_mean(name, names)));
}

}  // namespace iap::legged
