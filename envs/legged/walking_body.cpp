module;
#include <array>
#include <cstddef>
#include <vector>
module iap.envs.legged;
import iap.geometry;
import iap.legged;
import iap.sim;
#include "walking_body.hpp"

namespace iap {

legged::Body walking_body(const LeggedRobot& robot, RobotWorld& world) {
  using namespace geometry;
  world.reset(robot.standing_state(robot.start_height));
  const Placement base = world.link_placement(0);
  legged::Body sum;
  std::array<double, 9> second{};  // moments about the base's origin
  for (const RigidBody& part : world.bodies()) {
    Placement place = world.link_placement(robot.description.link(part.name));
    place.position = transposed(base.rotation) * (place.position - base.position);
    const auto& r = place.rotation;
    const Matrix3 half = r * part.inertia;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k) second[3 * i + j] += half[3 * i + k] * r[3 * j + k];
    const auto centre = (place * Placement{.position = part.centre}).position;
    add_point(second, part.mass, centre);
    sum.mass += part.mass;
    for (int i = 0; i < 3; ++i) sum.centre[i] += part.mass * centre[i];
  }
  for (double& value : sum.centre) value /= sum.mass;
  add_point(second, -sum.mass, sum.centre);
  sum.inertia = second;
  return sum;
}

}  // namespace iap
