module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>
module iap.envs.legged;
import iap.geometry;
import iap.legged;
import iap.sim;
#include "standing_legs.hpp"

namespace iap {

using namespace geometry;

LegWeights::LegWeights(const LeggedRobot& robot, double gravity) {
  const auto& links = robot.description.links;
  for (int leg = 0; leg < legged::leg_count; ++leg) {
    // How many of the leg's joints each link hangs on; parents come first.
    std::vector<int> carriers(links.size());
    for (std::size_t i = 1; i < links.size(); ++i) {
      carriers[i] = carriers[links[i].parent];
      for (const auto& name : robot.legs[leg].joints)
        if (links[i].joint == name) joints_[leg][carriers[i]++] = {static_cast<int>(i), links[i].axis};
      if (carriers[i] > 0 && links[i].mass > 0)
        parts_[leg].push_back({static_cast<int>(i), links[i].centre, links[i].mass * gravity, carriers[i]});
    }
  }
}

Vector3 LegWeights::torques(const RobotWorld& world, int leg) const {
  Vector3 origins[3], axes[3];
  for (std::size_t i = 0; i < joints_[leg].size(); ++i) {
    const Placement frame = world.link_placement(joints_[leg][i].link);
    origins[i] = frame.position;
    axes[i] = frame.rotation * joints_[leg][i].axis;
  }
  Vector3 sum{};
  for (const Part& part : parts_[leg]) {
    const Vector3 centre = world.link_placement(part.link) * part.centre;
    for (int i = 0; i < part.carriers; ++i) sum[i] += part.weight * cross(axes[i], centre - origins[i])[2];
  }
  return sum;
}

Vector3 standing_rates(const Matrix3& jacobian, const Vector3& toe, const Vector3& velocity, const Vector3& angular_velocity,
                       double size) {
  const double least_volume = .002 * size * size * size;  // m^3, of J; of a leg of .25 m and .25 m that stands as usual some .02
  const Vector3 back = -1. * (velocity + cross(angular_velocity, toe));
  const auto column = [&](int i) { return Vector3{jacobian[i], jacobian[3 + i], jacobian[6 + i]}; };
  const Vector3 first = column(0), second = column(1), third = column(2);
  const double volume = dot(first, cross(second, third));
  const double by = 1 / std::copysign(std::max(std::abs(volume), least_volume), volume);
  return {by * dot(back, cross(second, third)), by * dot(first, cross(back, third)), by * dot(first, cross(second, back))};
}

}  // namespace iap
