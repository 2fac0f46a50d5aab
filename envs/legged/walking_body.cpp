module;
#include <array>
#include <cstddef>
#include <vector>
module iap.envs.legged;
import iap.legged;
import iap.sim;
#include "walking_body.hpp"

namespace iap {

legged::Body walking_body(const LeggedRobot& robot, RobotWorld& world) {
  world.reset(robot.standing_state(robot.start_height));
  const Placement base = world.link_placement(0);
  legged::Body sum;
  std::array<double, 9> second{};  // moments about the base's origin
  const auto add_point = [&second](double mass, const std::array<double, 3>& at) {
    const double square = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) second[3 * i + j] += mass * ((i == j ? square : 0) - at[i] * at[j]);
  };
  for (const RigidBody& part : world.bodies()) {
    Placement place = world.link_placement(robot.description.link(part.name));
    place.position = legged::apply_transposed(
        base.rotation,
        {place.position[0] - base.position[0], place.position[1] - base.position[1], place.position[2] - base.position[2]});
    const auto turned = Placement{.rotation = place.rotation} * Placement{.rotation = part.inertia};
    const auto& r = place.rotation;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k) second[3 * i + j] += turned.rotation[3 * i + k] * r[3 * j + k];
    const auto centre = (place * Placement{.position = part.centre}).position;
    add_point(part.mass, centre);
    sum.mass += part.mass;
    for (int i = 0; i < 3; ++i) sum.centre[i] += part.mass * centre[i];
  }
  for (double& value : sum.centre) value /= sum.mass;
  add_point(-sum.mass, sum.centre);
  sum.inertia = second;
  return sum;
}

}  // namespace iap
