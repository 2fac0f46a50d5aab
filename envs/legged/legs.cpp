module;
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.legged;
import iap.sim;
#include "legs.hpp"

namespace iap {
namespace {

using Vector = std::array<double, 3>;

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
    for (const int link : first)
      for (int k = 0; k < 3; ++k) middle[k] += places_[link].position[k] / 4;
    std::array<Leg, 4> legs;
    for (const int link : first) {
      const bool rear = places_[link].position[0]<middle[0], left = places_[link].position[1]> middle[1];
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
    const auto& r = places_[link].rotation;
    const auto& own = robot_.links[link].axis;
    const double along = r[3 * axis] * own[0] + r[3 * axis + 1] * own[1] + r[3 * axis + 2] * own[2];
    if (robot_.links[link].kind == JointKind::prismatic || std::abs(along) < .99)
      fail(text("joint '", robot_.links[link].joint, "' does not turn about ", axis == 0 ? 'x' : 'y'));
    return along > 0 ? 1 : -1;
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
    geometry.origin = places_[abduction].position;
    constexpr std::array<int, 3> axes{0, 1, 1};
    for (int i = 0; i < 3; ++i) {
      leg.joints[i] = robot_.links[chain[i]].joint;
      geometry.axes[i] = sign(chain[i], axes[i]);
    }
    geometry.lateral = places_[chain[1]].position[1] - geometry.origin[1];
    geometry.thigh = distance(places_[chain[2]], places_[chain[1]]);
    geometry.shank = distance(places_[leg.toe], places_[chain[2]]);
    if (!(geometry.thigh > 0)) fail(text("joints '", leg.joints[1], "' and '", leg.joints[2], "' are at the same place"));
    check_touching(chain[2], leg.toe);
    for (const auto& shape : robot_.links[leg.toe].collisions)
      if (shape.kind == RobotShape::Kind::sphere) leg.toe_radius = shape.size[0];
    return leg;
  }

  const RobotDescription& robot_;
  std::vector<std::vector<int>> children_;
  std::vector<Placement> places_;  // in the base's frame, all angles 0
};

}  // namespace

std::array<Leg, 4> find_legs(const RobotDescription& robot) { return LegFinder(robot).find(); }

}  // namespace iap
