module;
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.geometry;
import iap.legged;
import iap.sim;
#include "legs.hpp"

namespace iap {
namespace {

using Vector = std::array<double, 3>;
using namespace geometry;

// What published numbers are rounded by, and more; beyond it the kinematics would miss the toe by more than they may.
constexpr double least_parallel = .9999;  // cosine of .8 degrees
constexpr double most_uneven = .01;       // of the leg's length

double distance(const Placement& a, const Placement& b) {
  return std::hypot(a.position[0] - b.position[0], a.position[1] - b.position[1], a.position[2] - b.position[2]);
}

class LegFinder {
 public:
  explicit LegFinder(const RobotDescription& robot) : robot_(robot), children_(robot.links.size()) {
    for (std::size_t i = 0; i < robot.links.size(); ++i) {
      const RobotLink& link = robot.links[i];
      places_.push_back(link.parent < 0 ? Placement{} : places_[link.parent] * link.origin);
      if (link.parent >= 0) children_[link.parent].push_back(static_cast<int>(i));
    }
  }

  std::array<Leg, 4> find() const {
    const auto first = moving(0);
    if (first.size() != 4) fail(text("its base carries ", first.size(), " chains of joints"));
    Vector middle{};
    for (const int link : first) middle = middle + .25 * corner(link);
    std::array<Leg, 4> legs;
    for (const int link : first) {
      const Vector at = corner(link);
      const bool rear = at[0] < middle[0];
      const bool left = at[1] > middle[1];
      Leg& leg = legs[2 * rear + left];
      if (!leg.name.empty()) fail(text("joints '", leg.joints[0], "' and '", robot_.links[link].joint, "' are at the same corner"));
      leg = follow(link, text(rear ? 'R' : 'F', left ? 'L' : 'R'));
    }
    return legs;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(text("the robot '", robot_.name,
                     "' is not one with four legs of three joints (abduction about x, hip and knee about y): ", why));
  }

  // Links that move against `link` or against what is fixed to it.
  std::vector<int> moving(int link) const {
    std::vector<int> found, open{link};
    while (!open.empty()) {
      const int next = open.back();
      open.pop_back();
      for (const int child : children_[next]) (robot_.links[child].kind == JointKind::fixed ? open : found).push_back(child);
    }
    std::ranges::sort(found);
    return found;
  }

  // Where the leg is that begins with `abduction`. That joint may be anywhere along its axis, which is x.
  Vector corner(int abduction) const {
    const auto next = moving(abduction);
    const int hip = next.empty() ? abduction : next[0];
    return {places_[hip].position[0], places_[abduction].position[1], 0};
  }

  // The end of what is fixed to the shank.
  int toe(int shank) const {
    int best = shank;
    std::vector<int> open{shank};
    while (!open.empty()) {
      const int next = open.back();
      open.pop_back();
      if (distance(places_[next], places_[shank]) > distance(places_[best], places_[shank])) best = next;
      for (const int child : children_[next]) open.push_back(child);
    }
    if (best == shank) fail(text("link '", robot_.links[shank].name, "' has no toe; fix a link to its end"));
    return best;
  }

  // A toe may be a mere frame on a shank that touches by itself.
  void check_touching(int shank, int toe) const {
    std::vector<int> open{shank};
    while (!open.empty()) {
      const int next = open.back();
      open.pop_back();
      if (!robot_.links[next].collisions.empty()) return;
      for (const int child : children_[next]) open.push_back(child);
    }
    throw Error(text("link '", robot_.links[toe].name, "' of the robot '", robot_.name, "' has no <collision>, nor has the shank '",
                     robot_.links[shank].name,
                     "' above it: the leg would sink into the ground; give the toe a sphere, box, "
                     "cylinder or mesh"));
  }

  double sign(int link, int axis) const {
    const RobotLink& turning = robot_.links[link];
    const char* wanted = axis == 0 ? "x" : "y";
    if (turning.kind == JointKind::prismatic) fail(text("joint '", turning.joint, "' slides and does not turn about ", wanted));
    const Vector own = places_[link].rotation * turning.axis;
    if (std::abs(own[axis]) < least_parallel)
      fail(text("joint '", turning.joint, "' does not turn about ", wanted, "; at angles 0 its axis is (", general_text(own[0], 3),
                ", ", general_text(own[1], 3), ", ", general_text(own[2], 3), ") in the base's frame"));
    return own[axis] > 0 ? 1 : -1;
  }

  // What is reached from one joint about y to the next: how long it is, and by which angle it is turned from straight down.
  struct Part {
    double length, angle;
  };
  static Part part(const Vector& from, const Vector& to) {
    constexpr double rounding = 1e-9;
    const double x = to[0] - from[0], z = to[2] - from[2];
    const double angle = std::atan2(-x, -z);
    return {std::hypot(x, z), std::abs(angle) < rounding ? 0 : angle};
  }

  Leg follow(int abduction, const std::string& name) const {
    std::vector<int> chain{abduction};
    for (auto next = moving(abduction); !next.empty(); next = moving(chain.back())) {
      if (next.size() > 1) fail(text("link '", robot_.links[chain.back()].name, "' carries ", next.size(), " joints"));
      chain.push_back(next[0]);
    }
    if (chain.size() != 3)
      fail(text("the leg that begins with joint '", robot_.links[abduction].joint, "' has ", chain.size(), " joints"));
    Leg leg{.name = name, .toe = toe(chain[2])};
    legged::LegGeometry& geometry = leg.geometry;
    constexpr std::array<int, 3> axes{0, 1, 1};
    for (int i = 0; i < 3; ++i) {
      leg.joints[i] = robot_.links[chain[i]].joint;
      geometry.axes[i] = sign(chain[i], axes[i]);
    }
    const Vector &first = places_[abduction].position, &hip = places_[chain[1]].position, &knee = places_[chain[2]].position;
    const RobotShape* ball = toe_ball(robot_.links[leg.toe]);
    const Vector end = ball ? places_[leg.toe] * ball->placement.position : places_[leg.toe].position;
    // Along its axis a joint may be anywhere.
    geometry.origin = {hip[0], first[1], first[2]};
    geometry.lateral = end[1] - first[1];
    const Part thigh = part(hip, knee), shank = part(knee, end);
    geometry.thigh = thigh.length;
    geometry.shank = shank.length;
    leg.zero = {0, geometry.axes[1] * thigh.angle,
                geometry.axes[2] * std::remainder(shank.angle - thigh.angle, 2 * std::numbers::pi)};
    if (!(geometry.thigh > 0)) fail(text("joints '", leg.joints[1], "' and '", leg.joints[2], "' are at the same place"));
    if (!(geometry.shank > 0))
      fail(text("the toe '", robot_.links[leg.toe].name, "' is at the joint '", leg.joints[2], "' itself"));
    if (const double up = hip[2] - first[2]; std::abs(up) > most_uneven * (geometry.thigh + geometry.shank))
      fail(text("in the leg ", name, " joint '", leg.joints[1], "' is ", general_text(std::abs(up), 3), " m ",
                up > 0 ? "above" : "below", " joint '", leg.joints[0],
                "' at angles 0; a hip must be at the height of its abduction"));
    check_touching(chain[2], leg.toe);
    return leg;
  }

  const RobotDescription& robot_;
  std::vector<std::vector<int>> children_;
  std::vector<Placement> places_;  // in the base's frame, all angles 0
};

std::size_t joint_of(const LeggedRobot& robot, const RobotLink& link) {
  return std::ranges::find(robot.joints, link.joint) - robot.joints.begin();
}

Matrix3 turn(const Vector& axis, double angle) {
  const double s = std::sin(angle / 2);
  return rotation_of(std::array<double, 4>{std::cos(angle / 2), s * axis[0], s * axis[1], s * axis[2]});
}

// Each link's frame where the base is level at the origin and the joints are at `angles`.
std::vector<Placement> places_of(const LeggedRobot& robot, const std::vector<double>& angles) {
  std::vector<Placement> places;
  for (const RobotLink& link : robot.description.links) {
    places.push_back(link.parent < 0 ? Placement{} : places[link.parent] * link.origin);
    if (link.parent >= 0 && link.kind != JointKind::fixed)
      places.back().rotation = places.back().rotation * turn(link.axis, angles[joint_of(robot, link)]);
  }
  return places;
}

// Of its frame, which stands at `place`.
double lowest_point(const RobotShape& shape, const Placement& frame) {
  const Placement place = frame * shape.placement;
  const Vector down{place.rotation[6], place.rotation[7], place.rotation[8]};  // how high each axis leads
  const auto& size = shape.size;
  switch (shape.kind) {
    case RobotShape::Kind::sphere: return place.position[2] - size[0];
    case RobotShape::Kind::box:
      return place.position[2] - std::abs(down[0]) * size[0] - std::abs(down[1]) * size[1] - std::abs(down[2]) * size[2];
    case RobotShape::Kind::cylinder:
      return place.position[2] - std::hypot(down[0], down[1]) * size[0] - std::abs(down[2]) * size[1];
    case RobotShape::Kind::hull: break;
  }
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < shape.points.size(); i += 3)
    lowest = std::min(lowest, (place * Vector{shape.points[i], shape.points[i + 1], shape.points[i + 2]})[2]);
  return lowest;
}

}  // namespace

std::array<Leg, 4> find_legs(const RobotDescription& robot) { return LegFinder(robot).find(); }

const RobotShape* toe_ball(const RobotLink& toe) {
  const bool ball = toe.collisions.size() == 1 && toe.collisions[0].kind == RobotShape::Kind::sphere;
  return ball ? toe.collisions.data() : nullptr;
}

Vector model_angles(const Leg& leg, std::span<const double> angles) {
  return {angles[0] + leg.zero[0], angles[1] + leg.zero[1], angles[2] + leg.zero[2]};
}

Lowest lowest_points(const LeggedRobot& robot, const std::vector<double>& angles) {
  constexpr double none = std::numeric_limits<double>::infinity();
  Lowest lowest{.robot = none, .legs = {none, none, none, none}};
  const auto& links = robot.description.links;
  const auto places = places_of(robot, angles);
  std::vector<int> leg_of;  // the one whose shank it is fixed to, or -1
  for (std::size_t i = 0; i < links.size(); ++i) {
    const bool base = links[i].parent < 0;
    leg_of.push_back(base ? -1 : leg_of[links[i].parent]);
    if (!base && links[i].kind != JointKind::fixed) {
      const auto joint = joint_of(robot, links[i]);
      leg_of.back() = joint % 3 == 2 ? static_cast<int>(joint / 3) : -1;
    }
    for (const RobotShape& shape : links[i].collisions) {
      const double point = lowest_point(shape, places[i]);
      lowest.robot = std::min(lowest.robot, point);
      if (leg_of.back() >= 0) lowest.legs[leg_of.back()] = std::min(lowest.legs[leg_of.back()], point);
    }
  }
  return lowest;
}

std::vector<double> carried_inertias(const LeggedRobot& robot, const std::vector<double>& angles) {
  const auto& links = robot.description.links;
  const auto places = places_of(robot, angles);
  std::vector<double> inertias(robot.joints.size());
  for (std::size_t i = 0; i < links.size(); ++i)
    for (std::size_t carrier = i; carrier > 0; carrier = links[carrier].parent) {
      if (links[carrier].kind == JointKind::fixed) continue;
      const Vector axis = places[carrier].rotation * links[carrier].axis;
      Matrix3 inertia = turned(links[i].inertia, places[i].rotation);
      add_point(inertia, links[i].mass, places[i] * links[i].centre - places[carrier].position);
      inertias[joint_of(robot, links[carrier])] += dot(axis, inertia * axis);
    }
  return inertias;
}

}  // namespace iap
