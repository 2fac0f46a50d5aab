module;
#include <array>
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
  CompositeBody sum;
  for (const RigidBody& part : world.bodies()) {
    // The base stands level: its axes are the world's.
    Placement place = world.link_placement(robot.description.link(part.name));
    place.position = transposed(base.rotation) * (place.position - base.position);
    sum.add(part.mass, part.centre, part.inertia, place);
  }
  return {sum.mass(), sum.centre(), sum.inertia()};
}

}  // namespace iap
