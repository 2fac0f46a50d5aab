module;
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>
module iap.sim;
import iap.core;
#include "robot_math.hpp"

namespace iap {

Placement operator*(const Placement& outer, const Placement& inner) {
  return {outer.position + rotate(outer.rotation, inner.position), product(outer.rotation, inner.rotation)};
}

Matrix3 rotation_of(double roll, double pitch, double yaw) {
  const double cr = std::cos(roll), sr = std::sin(roll), cp = std::cos(pitch), sp = std::sin(pitch), cy = std::cos(yaw),
               sy = std::sin(yaw);
  return {cy * cp,
          cy * sp * sr - sy * cr,
          cy * sp * cr + sy * sr,
          sy * cp,
          sy * sp * sr + cy * cr,
          sy * sp * cr - cy * sr,
          -sp,
          cp * sr,
          cp * cr};
}

std::array<double, 3> roll_pitch_yaw(const Matrix3& r) {
  return {std::atan2(r[7], r[8]), std::asin(std::clamp(-r[6], -1.0, 1.0)), std::atan2(r[3], r[0])};
}

Matrix3 rotation_of(const std::array<double, 4>& quaternion) {
  const auto [w, x, y, z] = quaternion;
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),    1 - 2 * (x * x + z * z),
          2 * (y * z - w * x),     2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
}

// From the largest of the four components, so that nothing is divided by a small number (Shepperd 1978).
std::array<double, 4> quaternion_of(const Matrix3& r) {
  const std::array<double, 4> squares{1 + r[0] + r[4] + r[8], 1 + r[0] - r[4] - r[8], 1 - r[0] + r[4] - r[8],
                                      1 - r[0] - r[4] + r[8]};
  const auto largest = std::ranges::max_element(squares) - squares.begin();
  const double s = 2 * std::sqrt(squares[largest]);
  switch (largest) {
    case 0: return {s / 4, (r[7] - r[5]) / s, (r[2] - r[6]) / s, (r[3] - r[1]) / s};
    case 1: return {(r[7] - r[5]) / s, s / 4, (r[1] + r[3]) / s, (r[2] + r[6]) / s};
    case 2: return {(r[2] - r[6]) / s, (r[1] + r[3]) / s, s / 4, (r[5] + r[7]) / s};
    default: return {(r[3] - r[1]) / s, (r[2] + r[6]) / s, (r[5] + r[7]) / s, s / 4};
  }
}

int RobotDescription::link(std::string_view link) const {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].name == link) return static_cast<int>(i);
    known.push_back(links[i].name);
  }
  throw Error(text("the robot '", name, "' has no link '", link, "'", did_you_mean(link, known)));
}

std::vector<std::string> RobotDescription::joints() const {
  std::vector<std::string> moving;
  for (const auto& link : links)
    if (link.kind != JointKind::fixed) moving.push_back(link.joint);
  return moving;
}

double RobotDescription::mass() const {
  double sum = 0;
  for (const auto& link : links) sum += link.mass;
  return sum;
}

}  // namespace iap
