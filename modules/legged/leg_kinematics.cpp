module;
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
module iap.legged;
import iap.core;
import iap.geometry;

namespace iap::legged {
namespace {

using Eigen::Vector3d;

double wrapped(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

/// In a leg's own half-plane, x forward and `away` >= 0 from the abduction axis, the reach is what lies between two circles about
/// the abduction joint and no nearer to the axis than the hip's offset. Moves the point to the nearest one of it.
struct Reach {
  double least, most, offset;

  bool pull(double& x, double& away) const {
    const double inner = std::hypot(least, offset), outer = std::hypot(most, offset), distance = std::hypot(x, away);
    // Rounding alone does not make a point unreachable.
    constexpr double rounding = 1e-12;
    if (away >= offset * (1 - rounding) && distance >= inner * (1 - rounding) && distance <= outer * (1 + rounding)) return true;
    const double radius = std::clamp(distance, inner, outer);
    const double scale = distance > 0 ? radius / distance : 0;
    if (distance > 0 && away * scale >= offset) {
      x *= scale;
      away *= scale;
    } else if (distance == 0 && offset == 0) {
      away = inner;
    } else {
      x = std::copysign(std::clamp(std::abs(x), least, most), x);
      away = offset;
    }
    return false;
  }
};

}  // namespace

LegKinematics::LegKinematics(const LegGeometry& geometry) : geometry_(geometry) {
  if (!(geometry.thigh > 0 && geometry.shank > 0))
    throw Error(text("a leg's thigh and shank must be longer than 0, got ", geometry.thigh, " and ", geometry.shank));
  for (const double sign : geometry.axes)
    if (std::abs(sign) != 1) throw Error(text("the sign of a joint's axis is 1 or -1, got ", sign));
}

Vector3 LegKinematics::forward(const Vector3& joints) const {
  const double a = geometry_.axes[0] * joints[0], h = geometry_.axes[1] * joints[1], k = geometry_.axes[2] * joints[2];
  const double x = -geometry_.thigh * std::sin(h) - geometry_.shank * std::sin(h + k);
  const double z = -geometry_.thigh * std::cos(h) - geometry_.shank * std::cos(h + k);
  return {geometry_.origin[0] + x, geometry_.origin[1] + geometry_.lateral * std::cos(a) - z * std::sin(a),
          geometry_.origin[2] + geometry_.lateral * std::sin(a) + z * std::cos(a)};
}

Matrix3 LegKinematics::jacobian(const Vector3& joints) const {
  const double a = geometry_.axes[0] * joints[0], h = geometry_.axes[1] * joints[1], k = geometry_.axes[2] * joints[2];
  const Vector3d y(0, std::cos(a), std::sin(a)), down(0, std::sin(a), -std::cos(a));
  const auto along = [&](double angle, double length) -> Vector3d {
    return length * (std::cos(angle) * down - std::sin(angle) * Vector3d::UnitX());
  };
  const Vector3d from_knee = along(h + k, geometry_.shank), from_hip = along(h, geometry_.thigh) + from_knee;
  const Vector3d from_abduction = geometry_.lateral * y + from_hip;
  Matrix3 out;
  Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> jacobian(out.data());
  jacobian.col(0) = geometry_.axes[0] * Vector3d::UnitX().cross(from_abduction);
  jacobian.col(1) = geometry_.axes[1] * y.cross(from_hip);
  jacobian.col(2) = geometry_.axes[2] * y.cross(from_knee);
  return out;
}

LegKinematics::Solution LegKinematics::inverse(const Vector3& target, Knee knee) const {
  double x = target[0] - geometry_.origin[0];
  const double y = target[1] - geometry_.origin[1], z = target[2] - geometry_.origin[2];
  const double thigh = geometry_.thigh, shank = geometry_.shank, offset = geometry_.lateral;
  double away = std::hypot(y, z);
  // On the axis itself every direction is as near; the leg hangs down.
  const double direction = away > 0 ? std::atan2(z, y) : std::atan2(-1.0, 0.0);
  const bool reached = Reach{std::abs(thigh - shank), thigh + shank, std::abs(offset)}.pull(x, away);

  const double below = std::sqrt(std::max(0.0, away * away - offset * offset));
  const double abduction = wrapped(direction - std::atan2(-below, offset));
  const double cosine = (x * x + below * below - thigh * thigh - shank * shank) / (2 * thigh * shank);
  const double bend = std::acos(std::clamp(cosine, -1.0, 1.0)) * (knee == Knee::backwards ? -1 : 1);
  const double hip = wrapped(std::atan2(-x, below) - std::atan2(shank * std::sin(bend), thigh + shank * std::cos(bend)));
  return {{geometry_.axes[0] * abduction, geometry_.axes[1] * hip, geometry_.axes[2] * bend}, reached};
}

Vector3 stance_torques(const Matrix3& jacobian, const Vector3& force, const Vector3& damping, const Vector3& rates) {
  using namespace geometry;
  Vector3 torques = transposed(jacobian) * force;
  for (int joint = 0; joint < 3; ++joint) torques[joint] = -torques[joint] - damping[joint] * rates[joint];
  return torques;
}

}  // namespace iap::legged
