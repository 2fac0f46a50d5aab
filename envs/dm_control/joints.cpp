module;
#include <array>
#include <numbers>
#include <string>
module iap.envs.dm_control;
import iap.core;
import iap.sim;

namespace iap {

void randomize_joints(MujocoWorld& world, Random& random, bool limited_only) {
  const auto types = world.array("jnt_type");
  constexpr double hinge = 3;
  for (int joint = 0; joint < static_cast<int>(types.size()); ++joint) {
    double& angle = world.qpos()[world.qpos_address(joint)];
    if (world.joint_limited(joint)) {
      const auto [low, high] = world.joint_range(joint);
      angle = random.uniform(low, high);
    } else if (!limited_only && types[joint] == hinge) {
      angle = random.uniform(-std::numbers::pi, std::numbers::pi);
    }
  }
}

}  // namespace iap
