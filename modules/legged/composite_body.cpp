module;
#include <Eigen/Dense>
#include <array>
module iap.legged;

namespace iap::legged {
namespace {

using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Vector3d;

Vector3d vector(const Vector3& v) { return {v[0], v[1], v[2]}; }

/// Mass, first and second moments about the base's origin.
struct Moments {
  double mass = 0;
  Vector3d first = Vector3d::Zero();
  Matrix3d second = Matrix3d::Zero();

  void add(const Part& part, double scale, const Matrix3d& axes, const Vector3d& joint) {
    const Vector3d centre = joint + axes * vector(part.centre);
    const double m = scale * part.mass;
    mass += m;
    first += m * centre;
    second += axes * (scale * vector(part.inertia)).asDiagonal() * axes.transpose();
    second += m * (centre.squaredNorm() * Matrix3d::Identity() - centre * centre.transpose());
  }
};

}  // namespace

Body composite_body(const Robot& robot, const PerLeg<Vector3>& joints) {
  Moments sum;
  double legs = 0;
  for (const auto& [hip, thigh, shank, toe] : robot.parts) legs += hip.mass + thigh.mass + shank.mass + toe.mass;
  sum.add(robot.base, (robot.mass - legs) / robot.base.mass, Matrix3d::Identity(), Vector3d::Zero());
  for (int leg = 0; leg < leg_count; ++leg) {
    const LegGeometry& geometry = robot.legs[leg];
    const auto turned = [&](int joint, const Vector3d& axis) {
      return AngleAxisd(geometry.axes[joint] * joints[leg][joint], axis).toRotationMatrix();
    };
    const Matrix3d hip = turned(0, Vector3d::UnitX());
    const Matrix3d thigh = hip * turned(1, Vector3d::UnitY());
    const Matrix3d shank = thigh * turned(2, Vector3d::UnitY());
    const Vector3d abduction = vector(geometry.origin);
    const Vector3d hip_joint = abduction + hip * Vector3d(0, geometry.lateral, 0);
    const Vector3d knee = hip_joint + thigh * Vector3d(0, 0, -geometry.thigh);
    sum.add(robot.parts[leg].hip, 1, hip, abduction);
    sum.add(robot.parts[leg].thigh, 1, thigh, hip_joint);
    sum.add(robot.parts[leg].shank, 1, shank, knee);
    sum.add(robot.parts[leg].toe, 1, shank, knee);
  }
  const Vector3d centre = sum.first / sum.mass;
  const Matrix3d inertia = sum.second - sum.mass * (centre.squaredNorm() * Matrix3d::Identity() - centre * centre.transpose());
  Body body{.mass = sum.mass, .centre = {centre[0], centre[1], centre[2]}};
  Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(body.inertia.data()) = inertia;
  return body;
}

Body standing_body(const Robot& robot) {
  return composite_body(robot, {robot.standing, robot.standing, robot.standing, robot.standing});
}

}  // namespace iap::legged
