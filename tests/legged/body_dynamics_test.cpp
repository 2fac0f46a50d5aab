#include <Eigen/Dense>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <span>
#include <vector>

import iap.core;
import iap.geometry;
import iap.legged;

#include "helpers.hpp"

using namespace iap;
using namespace iap::legged;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

Vector3d vector(const Vector3& v) { return {v[0], v[1], v[2]}; }

struct Linear {
  RowMatrix a, b;
};

Linear linear(const BodyDynamics& dynamics, const Vector3& attitude, const std::vector<Vector3>& feet) {
  Linear out{RowMatrix(13, 13), RowMatrix(13, 3 * static_cast<int>(feet.size()))};
  dynamics.linearise(attitude, feet, {out.a.data(), 169}, {out.b.data(), static_cast<std::size_t>(out.b.size())});
  return out;
}

}  // namespace

TEST_CASE("the linear model is Newton's and Euler's laws at its attitude") {
  Random random(1);
  const Body body = standing_body(find_robot("laikago"));
  Eigen::Matrix<double, 3, 3, Eigen::RowMajor> inertia;
  for (int i = 0; i < 9; ++i) inertia(i / 3, i % 3) = body.inertia[i];
  const BodyDynamics dynamics(body);
  for (int run = 0; run < 50; ++run) {
    const Vector3 attitude = drawn(random, 0.8);
    const auto feet = draw_feet(random, 1 + run % 4);
    const auto [a, b] = linear(dynamics, attitude, feet);
    VectorXd state(13), forces(3 * static_cast<int>(feet.size()));
    for (double& value : state) value = random.normal();
    for (double& value : forces) value = 50 * random.normal();
    const VectorXd rates = a * state + b * forces;

    // Turned by a small rotation about the angular velocity, as Rodrigues has it, the attitude changes at the rates of its angles.
    const Vector3d turning = state.segment<3>(6);
    const auto angles = [&](double h) -> Vector3d {
      const Matrix3d axes = Eigen::AngleAxisd(attitude[2], Vector3d::UnitZ()).toRotationMatrix() *
                            Eigen::AngleAxisd(attitude[1], Vector3d::UnitY()).toRotationMatrix() *
                            Eigen::AngleAxisd(attitude[0], Vector3d::UnitX()).toRotationMatrix();
      const Matrix3d later = Eigen::AngleAxisd(h * turning.norm(), turning.normalized()).toRotationMatrix() * axes;
      return {std::atan2(later(2, 1), later(2, 2)), -std::asin(later(2, 0)), std::atan2(later(1, 0), later(0, 0))};
    };
    const Vector3d euler = (angles(1e-6) - angles(-1e-6)) / 2e-6;
    for (int i = 0; i < 3; ++i) CHECK_THAT(rates[i], WithinAbs(euler[i], 1e-6));
    for (int i = 0; i < 3; ++i) CHECK_THAT(rates[3 + i], WithinAbs(state[9 + i], 1e-12));

    Vector3d torque = Vector3d::Zero(), force = Vector3d::Zero();
    for (std::size_t foot = 0; foot < feet.size(); ++foot) {
      const Vector3d push = forces.segment<3>(3 * static_cast<Eigen::Index>(foot));
      torque += vector(feet[foot]).cross(push);
      force += push;
    }
    const auto m = geometry::rotation_of(attitude[0], attitude[1], attitude[2]);
    Eigen::Matrix<double, 3, 3, Eigen::RowMajor> axes;
    for (int i = 0; i < 9; ++i) axes(i / 3, i % 3) = m[i];
    const Vector3d back = axes * inertia * axes.transpose() * rates.segment<3>(6);
    for (int i = 0; i < 3; ++i) CHECK_THAT(back[i], WithinAbs(torque[i], 1e-9));
    for (int i = 0; i < 3; ++i) CHECK_THAT(body.mass * (rates[9 + i] - (i == 2 ? state[12] : 0)), WithinAbs(force[i], 1e-9));
    CHECK(rates[12] == 0);
  }
}

TEST_CASE("the discretisation is the matrix exponential") {
  Random random(2);
  const BodyDynamics dynamics(standing_body(find_robot("a1")));
  for (int run = 0; run < 20; ++run) {
    const auto feet = draw_feet(random, 1 + run % 4);
    const int inputs = 3 * static_cast<int>(feet.size());
    const auto [a, b] = linear(dynamics, drawn(random, 0.8), feet);
    const double dt = 0.005 + 0.1 * random.uniform();
    // exp of [A B; 0 0] dt, a Taylor series of 30 terms.
    const int size = 13 + inputs;
    MatrixXd generator = MatrixXd::Zero(size, size), sum = MatrixXd::Identity(size, size), term = sum;
    generator.topLeftCorner(13, 13) = dt * a;
    generator.topRightCorner(13, inputs) = dt * b;
    for (int k = 1; k <= 30; ++k) {
      term = (term * generator / k).eval();
      sum += term;
    }
    RowMatrix ad(13, 13), bd(13, inputs);
    discretise({a.data(), 169}, {b.data(), static_cast<std::size_t>(b.size())}, inputs, dt, {ad.data(), 169},
               {bd.data(), static_cast<std::size_t>(bd.size())});
    CHECK((ad - sum.topLeftCorner(13, 13)).cwiseAbs().maxCoeff() < 1e-12);
    CHECK((bd - sum.topRightCorner(13, inputs)).cwiseAbs().maxCoeff() < 1e-12);
  }
}

TEST_CASE("rates of angles stay finite at a vertical pitch, and bodies that cannot be are refused") {
  const Body body = standing_body(find_robot("a1"));
  const auto [a, b] = linear(BodyDynamics(body), {0, 1.5707963267948966, 0}, {{0.1, 0.1, -0.3}});
  CHECK(a.allFinite());
  CHECK(a.cwiseAbs().maxCoeff() <= 20.0001);
  Body wrong = body;
  wrong.mass = 0;
  CHECK_THROWS_WITH(BodyDynamics(wrong), ContainsSubstring("mass must be positive, got 0"));
  wrong = body;
  wrong.inertia[4] = -1;
  CHECK_THROWS_WITH(BodyDynamics(wrong), ContainsSubstring("positive definite"));
}
