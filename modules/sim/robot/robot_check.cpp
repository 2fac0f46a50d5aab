module;
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>
module iap.sim;
import iap.core;
import iap.geometry;
#include "robot_check.hpp"

namespace iap {
namespace {

// What makes sense for a machine: beyond it, sums and products leave the range where engines work.
constexpr double largest = 1e6;

bool fits(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::abs(value) <= largest; });  // false for NaN
}

class Checker {
 public:
  Checker(const RobotLink& link, const std::string& source) : link_(link), source_(source) {}

  void check() const {
    if (!fits(link_.origin.position) || !fits(link_.origin.rotation)) joint("has an origin that is not finite or beyond ", largest);
    check_mass();
    for (const auto* shapes : {&link_.collisions, &link_.visuals})
      for (const auto& shape : *shapes) check(shape);
    if (link_.kind == JointKind::revolute || link_.kind == JointKind::prismatic) check_range();
    if (link_.kind != JointKind::fixed) check_motor();
  }

 private:
  template <typename... Parts>
  [[noreturn]] void link(const Parts&... parts) const {
    throw Error(text(source_, ": link '", link_.name, "' ", parts...));
  }
  template <typename... Parts>
  [[noreturn]] void joint(const Parts&... parts) const {
    throw Error(text(source_, ": joint '", link_.joint, "' ", parts...));
  }

  void check_mass() const {
    if (!(link_.mass >= 0 && link_.mass <= largest)) link("has a mass of ", link_.mass, " kg; it must be 0 to ", largest);
    if (!fits(link_.centre) || !fits(link_.inertia))
      link("has a centre of mass or an inertia that is not finite or beyond ", largest);
    const bool none = std::ranges::all_of(link_.inertia, [](double value) { return value == 0; });
    if (link_.mass > 0 && !none && !is_positive(link_.inertia))
      link("has an inertia that no solid has: ixx ", link_.inertia[0], ", iyy ", link_.inertia[4], ", izz ", link_.inertia[8],
           "; it must be positive definite");
    if (link_.mass == 0 && !none) link("has an inertia but no mass; give it one");
  }

  void check(const RobotShape& shape) const {
    if (!fits(shape.placement.position) || !fits(shape.placement.rotation) || !fits(shape.points))
      link("has a shape that is not finite or beyond ", largest);
    constexpr std::array<int, 4> sizes{3, 1, 2, 0};
    for (int i = 0; i < sizes[static_cast<std::size_t>(shape.kind)]; ++i)
      if (!(shape.size[i] > 0 && shape.size[i] <= largest)) link("has a shape of size ", shape.size[i], "; sizes must be positive");
  }

  void check_limit(const char* name, double value) const {
    if (!fits({&value, 1}))
      joint("has the limit ", name, "=\"", value, "\"; limits reach from ", -largest, " to ", largest,
            ", and effort=\"0\" and velocity=\"0\" are none");
  }

  void check_range() const {
    check_limit("lower", link_.lower);
    check_limit("upper", link_.upper);
    if (link_.lower > link_.upper) joint("has the limits ", link_.lower, " to ", link_.upper, "; lower must not be above upper");
    if (link_.lower == link_.upper)
      joint("cannot move: lower and upper limit are both ", link_.lower, "; give it others, or make it fixed or continuous");
  }

  void check_motor() const {
    check_limit("effort", link_.effort);
    check_limit("velocity", link_.velocity);
    if (link_.effort < 0 || link_.velocity < 0) joint("has a negative limit of effort or velocity");
  }

  const RobotLink& link_;
  const std::string& source_;
};

}  // namespace

// Leading minors (Sylvester).
bool is_positive(const geometry::Matrix3& m) {
  const double second = m[0] * m[4] - m[1] * m[3];
  const double third = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
  return m[0] > 0 && second > 0 && third > 0;
}

void check_robot(RobotDescription& robot, const std::string& source) {
  for (auto& link : robot.links) {
    Checker(link, source).check();
    if (link.kind == JointKind::fixed) continue;
    const double length = std::sqrt(geometry::dot(link.axis, link.axis));
    if (!(length > 1e-9 && length <= largest))
      throw Error(text(source, ": joint '", link.joint, "' has no axis; give it a direction"));
    for (double& part : link.axis) part /= length;
  }
}

}  // namespace iap
