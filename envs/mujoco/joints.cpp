module;
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
module iap.envs.mujoco;
import iap.core;
import iap.sim;

namespace iap {
namespace {

// `vector`, drawn from a normal distribution in all directions alike, brought to length 1.
void draw_direction(std::span<double> vector, Random& random) {
  double square = 0;
  for (double& value : vector) {
    value = random.normal();
    square += value * value;
  }
  for (double& value : vector) value /= std::sqrt(square);
}

void turn_about(double angle, const std::array<double, 3>& axis, std::span<double> quaternion) {
  quaternion[0] = std::cos(angle / 2);
  for (int i = 0; i < 3; ++i) quaternion[i + 1] = std::sin(angle / 2) * axis[i];
}

}  // namespace

void randomize_joints(MujocoWorld& world, Random& random, bool limited_only) {
  const int count = world.count("joint");
  for (int joint = 0; joint < count; ++joint) {
    const auto coordinates = world.qpos().subspan(world.qpos_address(joint));
    const auto type = world.joint_type(joint);
    const bool limited = world.joint_limited(joint);
    if (limited && (type == MujocoJoint::hinge || type == MujocoJoint::slide)) {
      const auto [low, high] = world.joint_range(joint);
      coordinates[0] = random.uniform(low, high);
    } else if (limited && type == MujocoJoint::ball) {
      std::array<double, 3> axis{};
      draw_direction(axis, random);
      turn_about(random.uniform(0, world.joint_range(joint)[1]), axis, coordinates);
    } else if (limited_only) {
      continue;
    } else if (type == MujocoJoint::hinge) {
      coordinates[0] = random.uniform(-std::numbers::pi, std::numbers::pi);
    } else if (type != MujocoJoint::slide) {
      draw_direction(coordinates.subspan(type == MujocoJoint::free ? 3 : 0, 4), random);
    }
  }
}

}  // namespace iap
