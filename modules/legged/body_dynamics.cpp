module;
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <span>
module iap.legged;
import iap.core;
import iap.geometry;

namespace iap::legged {
namespace {

using Eigen::Matrix3d;
using States = Eigen::Matrix<double, body_states, body_states, Eigen::RowMajor>;
using Inputs = Eigen::Matrix<double, body_states, Eigen::Dynamic, Eigen::RowMajor>;
using RowMatrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Matrix3d matrix(const Matrix3& m) { return Eigen::Map<const RowMatrix3>(m.data()); }

/// Rates of roll, pitch and yaw from the angular velocity in the world's axes.
Matrix3d euler_rates(double pitch, double yaw) {
  constexpr double least = 0.05;
  const double cp = std::copysign(std::max(std::abs(std::cos(pitch)), least), std::cos(pitch)), tp = std::sin(pitch) / cp;
  const double cy = std::cos(yaw), sy = std::sin(yaw);
  return Matrix3d{{cy / cp, sy / cp, 0}, {-sy, cy, 0}, {cy * tp, sy * tp, 1}};
}

}  // namespace

BodyDynamics::BodyDynamics(const Body& body) : body_(body) {
  if (!(body.mass > 0 && std::isfinite(body.mass))) throw Error(text("a body's mass must be positive, got ", body.mass));
  const Eigen::LLT<Matrix3d> factor(matrix(body.inertia));
  if (factor.info() != Eigen::Success || !matrix(body.inertia).allFinite())
    throw Error(text("a body's inertia must be positive definite; its diagonal is ", body.inertia[0], ", ", body.inertia[4], ", ",
                     body.inertia[8]));
}

void BodyDynamics::linearise(const Vector3& roll_pitch_yaw, std::span<const Vector3> feet, std::span<double> a,
                             std::span<double> b) const {
  const Matrix3d axes = matrix(geometry::rotation_of(roll_pitch_yaw[0], roll_pitch_yaw[1], roll_pitch_yaw[2]));
  const Matrix3d inverse = (axes * matrix(body_.inertia) * axes.transpose()).inverse();
  Eigen::Map<States> states(a.data());
  states.setZero();
  states.block<3, 3>(0, 6) = euler_rates(roll_pitch_yaw[1], roll_pitch_yaw[2]);
  states.block<3, 3>(3, 9).setIdentity();
  states(11, 12) = 1;
  Eigen::Map<Inputs> inputs(b.data(), body_states, static_cast<Eigen::Index>(3 * feet.size()));
  inputs.setZero();
  for (std::size_t foot = 0; foot < feet.size(); ++foot) {
    const auto column = static_cast<Eigen::Index>(3 * foot);
    const auto& [x, y, z] = feet[foot];
    inputs.block<3, 3>(6, column) = inverse * Matrix3d{{0, -z, y}, {z, 0, -x}, {-y, x, 0}};
    inputs.block<3, 3>(9, column) = Matrix3d::Identity() / body_.mass;
  }
}

void discretise(std::span<const double> a, std::span<const double> b, int inputs, double dt, std::span<double> ad,
                std::span<double> bd) {
  const Eigen::Map<const States> states(a.data());
  const Eigen::Map<const Inputs> forces(b.data(), body_states, inputs);
  const States half = States::Identity() + states * (dt / 2);
  Eigen::Map<States>(ad.data()) = States::Identity() + dt * states.lazyProduct(half);
  Eigen::Map<Inputs>(bd.data(), body_states, inputs) = dt * half.lazyProduct(forces);
}

}  // namespace iap::legged
