module;
#include <array>
module iap.legged;

namespace iap::legged {

std::array<double, 2> FootPlacement::hip_velocity(const Vector3& hip, const GroundMotion& motion) {
  return {motion.velocity[0] - motion.yaw_rate * hip[1], motion.velocity[1] + motion.yaw_rate * hip[0]};
}

Vector3 FootPlacement::operator()(const Vector3& hip, const GroundMotion& actual, const GroundMotion& desired, double stance,
                                  double height) const {
  const auto moves = hip_velocity(hip, actual), wanted = hip_velocity(hip, desired);
  Vector3 target{0, 0, -height};
  for (int i = 0; i < 2; ++i) target[i] = hip[i] + moves[i] * stance / 2 - gain_ * (wanted[i] - moves[i]);
  return target;
}

}  // namespace iap::legged
