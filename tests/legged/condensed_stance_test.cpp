#include <Eigen/Dense>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <span>
#include <vector>

import iap.core;
import iap.legged;

#include "helpers.hpp"

using namespace iap;
using namespace iap::legged;
using Catch::Matchers::ContainsSubstring;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// The cost of a plan, by playing it step by step.
double cost(const Body& body, const StanceOptions& options, const BodyState& state, const BodyGoal& goal,
            const std::vector<Vector3>& feet, const VectorXd& plan) {
  const int inputs = 3 * static_cast<int>(feet.size());
  RowMatrix a(13, 13), b(13, inputs), ad(13, 13), bd(13, inputs);
  const auto all = [](RowMatrix& m) { return std::span<double>(m.data(), static_cast<std::size_t>(m.size())); };
  BodyDynamics(body).linearise(state.roll_pitch_yaw, feet, all(a), all(b));
  discretise(all(a), all(b), inputs, options.dt, all(ad), all(bd));
  VectorXd x(13);
  for (int i = 0; i < 3; ++i) {
    x[i] = state.roll_pitch_yaw[i];
    x[3 + i] = state.position[i];
    x[6 + i] = state.angular_velocity[i];
    x[9 + i] = state.velocity[i];
  }
  x[12] = -options.gravity;
  double sum = options.force_weight * plan.squaredNorm();
  for (int step = 1; step <= options.horizon; ++step) {
    x = (ad * x + bd * plan.segment((step - 1) * inputs, inputs)).eval();
    const double t = step * options.dt;
    VectorXd wanted(13);
    wanted << goal.roll, goal.pitch, state.roll_pitch_yaw[2] + t * goal.yaw_rate, state.position[0] + t * goal.velocity[0],
        state.position[1] + t * goal.velocity[1], goal.height, 0, 0, goal.yaw_rate, goal.velocity[0], goal.velocity[1],
        goal.velocity[2], -options.gravity;
    for (int i = 0; i < 13; ++i) sum += options.weights[i] * (x[i] - wanted[i]) * (x[i] - wanted[i]);
  }
  return sum;
}

}  // namespace

TEST_CASE("the condensed matrices are those of an explicit rollout, and the factor is that of the Hessian") {
  Random random(1);
  for (int run = 0; run < 24; ++run) {
    const Body body = standing_body(robots()[run % 2]);
    const int count = 1 + run % 4;
    StanceOptions options;
    options.horizon = run % 3 == 0 ? 10 : 4;
    options.dt = 0.02 + 0.02 * random.uniform();
    for (double& weight : options.weights) weight = 3 * random.uniform();
    options.force_weight = 1e-5;
    const auto feet = draw_feet(random, count);
    const BodyState state{drawn(random, 0.5), drawn(random, 0.5), drawn(random, 1), drawn(random, 1)};
    const BodyGoal goal{0.1, -0.05, 0.3, 0.4, drawn(random, 0.5)};
    CondensedStance condensed(body, options);
    const int n = condensed.variables(count);
    CHECK(n == 3 * count * options.horizon);
    RowMatrix factor(n, n), hessian(n, n);
    VectorXd gradient(n);
    REQUIRE(condensed.build(state, goal, feet, {factor.data(), static_cast<std::size_t>(n * n)},
                            {gradient.data(), static_cast<std::size_t>(n)}));
    condensed.hessian({hessian.data(), static_cast<std::size_t>(n * n)});

    // The cost is a quadratic function: its values give back every coefficient, here along random pairs of plans.
    const VectorXd none = VectorXd::Zero(n);
    const double still = cost(body, options, state, goal, feet, none);
    for (int probe = 0; probe < 10; ++probe) {
      VectorXd u(n), v(n);
      for (double& value : u) value = 30 * random.normal();
      for (double& value : v) value = 30 * random.normal();
      const double at_u = cost(body, options, state, goal, feet, u), at_v = cost(body, options, state, goal, feet, v);
      const double both = cost(body, options, state, goal, feet, u + v), scale = 1e-10 * (at_u + at_v + both + still);
      CHECK(std::abs(both - at_u - at_v + still - 2 * u.dot(hessian * v)) < scale);
      CHECK(std::abs(at_u - still - u.dot(hessian * u) - 2 * gradient.dot(u)) < scale);
    }
    const MatrixXd identity = factor * factor.transpose() * hessian;
    CHECK((identity - MatrixXd::Identity(n, n)).cwiseAbs().maxCoeff() < 1e-8);
  }
}

TEST_CASE("a state that is not finite builds nothing, and options out of range are refused") {
  const Body body = standing_body(find_robot("a1"));
  CondensedStance condensed(body, {});
  std::vector<double> factor(3600), gradient(60);
  const std::vector<Vector3> feet{{0.2, 0.1, -0.3}, {-0.2, -0.1, -0.3}};
  BodyState state;
  state.roll_pitch_yaw[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(condensed.build(state, {}, feet, factor, gradient));
  const auto with = [&](auto change) {
    StanceOptions options;
    change(options);
    return CondensedStance(body, options);
  };
  CHECK_THROWS_WITH(with([](StanceOptions& o) { o.horizon = 0; }), ContainsSubstring("option 'horizon' is 0"));
  CHECK_THROWS_WITH(with([](StanceOptions& o) { o.dt = -1; }), ContainsSubstring("option 'dt' is -1"));
  CHECK_THROWS_WITH(with([](StanceOptions& o) { o.force_weight = 0; }), ContainsSubstring("option 'force_weight' is 0"));
  CHECK_THROWS_WITH(with([](StanceOptions& o) { o.weights[3] = -2; }), ContainsSubstring("option 'weights' is -2"));
}
