module;
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.sim;
import iap.core;
import iap.geometry;
#include "robot_check.hpp"
#include "robot_engine.hpp"

namespace iap {
namespace {

using namespace geometry;

// Whether no principal moment is above the sum of the two others, give or take `slack` of their total: C <= A + B says that C is
// at most half of the trace.
bool is_solid(const Matrix3& inertia, double slack) {
  const double half = (1 + slack) / 2 * (inertia[0] + inertia[4] + inertia[8]);
  Matrix3 rest;
  for (int i = 0; i < 9; ++i) rest[i] = (i % 4 == 0 ? half : 0) - inertia[i];
  return is_positive(rest);
}

// A flat body is at the limit of what solids have, and one whose moments were rounded a little beyond: MuJoCo takes neither for
// sure. Raises all moments alike until it does, by no more than twice what is missing.
void mend_rounding(Matrix3& inertia) {
  const Matrix3 given = inertia;
  double missing = 1e-10 * (given[0] + given[4] + given[8]);
  for (int i = 0; i < 30 && !is_solid(inertia, -1e-12); ++i, missing *= 2)
    for (int k = 0; k < 9; k += 4) inertia[k] = given[k] + missing;
}

// The sum of the body's links.
void weigh(RobotBody& body, const RobotModel& model, const RobotDescription& robot) {
  Vector3 moment{};
  for (const int number : body.links) {
    const RobotLink& link = robot.links[number];
    body.mass += link.mass;
    moment = moment + link.mass * (model.link_place[number] * link.centre);
  }
  if (body.mass == 0) return;
  body.centre = (1 / body.mass) * moment;
  for (const int number : body.links) {
    const RobotLink& link = robot.links[number];
    const Placement& place = model.link_place[number];
    const Matrix3 inertia = turned(link.inertia, place.rotation);
    for (int i = 0; i < 9; ++i) body.inertia[i] += inertia[i];
    add_point(body.inertia, link.mass, place * link.centre - body.centre);
  }
}

// Engines and callers find links and joints by name.
void check_names(const RobotDescription& robot) {
  std::set<std::string_view> links, joints;
  for (const auto& link : robot.links) {
    if (link.name.empty() || !links.insert(link.name).second)
      throw Error(
          text("the robot '", robot.name, "' has two links named '", link.name, "' or one without a name; give each its own"));
    if (link.parent >= 0 && (link.joint.empty() || !joints.insert(link.joint).second))
      throw Error(
          text("the robot '", robot.name, "' has two joints named '", link.joint, "' or one without a name; give each its own"));
  }
}

}  // namespace

RobotModel make_model(const RobotDescription& robot) {
  if (robot.links.empty()) throw Error("a robot needs at least one link: its base");
  check_names(robot);
  RobotModel model;
  for (std::size_t i = 0; i < robot.links.size(); ++i) {
    const RobotLink& link = robot.links[i];
    const bool base = link.parent < 0;
    if (base != (i == 0) || link.parent >= static_cast<int>(i))
      throw Error(text("the links of a robot stand parents first with one base; '", link.name, "' does not"));
    const Placement place = base ? Placement{} : model.link_place[link.parent] * link.origin;
    if (!base && link.kind == JointKind::fixed) {
      model.link_body.push_back(model.link_body[link.parent]);
      model.link_place.push_back(place);
    } else {
      model.bodies.push_back({.root = static_cast<int>(i), .parent = base ? -1 : model.link_body[link.parent], .joint = place});
      model.link_body.push_back(static_cast<int>(model.bodies.size()) - 1);
      model.link_place.emplace_back();
    }
    model.bodies[model.link_body.back()].links.push_back(static_cast<int>(i));
  }
  for (auto& body : model.bodies) {
    weigh(body, model, robot);
    const auto& inertia = body.inertia;
    if (!(body.mass > 0) || !(inertia[0] > 0 && inertia[4] > 0 && inertia[8] > 0))
      throw Error(text("link '", robot.links[body.root].name, "' of the robot '", robot.name, "' moves and has no ",
                       body.mass > 0 ? "inertia" : "mass", "; give it an <inertial>, or fix it to a link that has one"));
    constexpr double rounding = .005;  // of published numbers
    if (!is_solid(inertia, rounding))
      throw Error(text("link '", robot.links[body.root].name, "' of the robot '", robot.name, "'",
                       body.links.size() > 1 ? ", with what is fixed to it," : "", " has an inertia that no solid has: ixx ",
                       inertia[0], ", iyy ", inertia[4], ", izz ", inertia[8],
                       "; no principal moment may be above the sum of the two others"));
    mend_rounding(body.inertia);
  }
  return model;
}

}  // namespace iap
