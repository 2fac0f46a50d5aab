module;
#include <array>
module iap.legged;
import iap.geometry;

namespace iap::legged {
namespace {

using namespace geometry;

void add(CompositeBody& sum, const Part& part, double scale, const Placement& joint) {
  const auto [x, y, z] = scale * part.inertia;
  sum.add(scale * part.mass, part.centre, {x, 0, 0, 0, y, 0, 0, 0, z}, joint);
}

}  // namespace

Body composite_body(const Robot& robot, const PerLeg<Vector3>& joints) {
  CompositeBody sum;
  double legs = 0;
  for (const auto& [hip, thigh, shank, toe] : robot.parts) legs += hip.mass + thigh.mass + shank.mass + toe.mass;
  add(sum, robot.base, (robot.mass - legs) / robot.base.mass, {});
  for (int leg = 0; leg < leg_count; ++leg) {
    const LegGeometry& own = robot.legs[leg];
    const auto angle = [&](int joint) { return own.axes[joint] * joints[leg][joint]; };
    const Placement hip{own.origin, rotation_of(angle(0), 0, 0)};
    const Placement thigh = hip * Placement{{0, own.lateral, 0}, rotation_of(0, angle(1), 0)};
    const Placement shank = thigh * Placement{{0, 0, -own.thigh}, rotation_of(0, angle(2), 0)};
    add(sum, robot.parts[leg].hip, 1, hip);
    add(sum, robot.parts[leg].thigh, 1, thigh);
    add(sum, robot.parts[leg].shank, 1, shank);
    add(sum, robot.parts[leg].toe, 1, shank);
  }
  return {sum.mass(), sum.centre(), sum.inertia()};
}

Body standing_body(const Robot& robot) {
  return composite_body(robot, {robot.standing, robot.standing, robot.standing, robot.standing});
}

PerLeg<Vector3> standing_feet(const Robot& robot) {
  const Vector3 centre = standing_body(robot).centre;
  PerLeg<Vector3> feet{};
  for (int leg = 0; leg < leg_count; ++leg) feet[leg] = LegKinematics(robot.legs[leg]).forward(robot.standing) - centre;
  return feet;
}

}  // namespace iap::legged
