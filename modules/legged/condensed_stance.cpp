module;
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>
module iap.legged;
import iap.core;
import :cholesky;

namespace iap::legged {
namespace {

using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;
// Of one step's forces: no more than 12, kept where they are declared.
using Forces = Eigen::Matrix<double, Eigen::Dynamic, 6, 0, 12, 6>;
using Basis = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 12, 12>;
using Column = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 12, 1>;
using RowMap = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

constexpr int longest = 30;

/// An orthogonal U with `columns` = U times an upper triangle, which replaces it: Householder's reflections.
Basis triangulate(Forces& columns) {
  const Eigen::Index rows = columns.rows();
  Basis basis = Basis::Identity(rows, rows);
  for (Eigen::Index j = 0; j < std::min<Eigen::Index>(rows - 1, 6); ++j) {
    Column v = columns.col(j).tail(rows - j);
    const double norm = v.norm();
    if (norm == 0) continue;
    v[0] += v[0] > 0 ? norm : -norm;
    const double scale = 2 / v.squaredNorm();
    for (Eigen::Index k = j; k < 6; ++k) {
      auto column = columns.col(k).tail(rows - j);
      column -= scale * v.dot(column) * v;
    }
    for (Eigen::Index i = 0; i < rows; ++i) {
      auto row = basis.row(i).tail(rows - j);
      row -= scale * row.dot(v) * v.transpose();
    }
  }
  return basis;
}

}  // namespace

struct CondensedStance::Impl {
  Impl(const Body& body, const StanceOptions& options_) : dynamics(body), options(options_) {
    const int n = options.horizon;
    const double dt = options.dt;
    positions.resize(n, n);
    velocities.resize(n, n);
    for (int one = 0; one < n; ++one)
      for (int other = 0; other < n; ++other) {
        const int last = std::max(one, other);
        double sum = 0;
        for (int i = last + 1; i <= n; ++i) sum += (i - 1 - one + 0.5) * (i - 1 - other + 0.5);
        positions(one, other) = std::pow(dt, 4) * sum;
        velocities(one, other) = dt * dt * (n - last);
      }
    reduced.resize(6 * n, 6 * n);
    inverse.resize(6 * n, 6 * n);
    pushes.resize(n);
  }

  void find_errors(const BodyState& state, const BodyGoal& goal);

  BodyDynamics dynamics;
  StanceOptions options;
  Eigen::MatrixXd positions, velocities;  // S2 and S0
  Eigen::MatrixXd reduced, inverse;
  std::array<double, body_states * body_states> a{};
  std::array<double, body_states * 12> b{};
  Forces accelerations;  // G', 3 feet x 6
  Matrix6 p, w;
  std::vector<Vector6> pushes;  // of each step's forces: the gradient is G' of these
};

/// What is missed at each step if no force acts, weighed and carried back to the step's accelerations.
void CondensedStance::Impl::find_errors(const BodyState& state, const BodyGoal& goal) {
  const Eigen::Map<const Eigen::Matrix<double, body_states, body_states, Eigen::RowMajor>> states(a.data());
  const Eigen::Matrix3d rates = states.block<3, 3>(0, 6);
  const Eigen::Map<const Eigen::Vector3d> turning(state.angular_velocity.data()), moving(state.velocity.data());
  const Eigen::Vector3d euler = rates * turning;
  const Eigen::Vector3d fall(0, 0, -options.gravity);
  for (auto& push : pushes) push.setZero();
  for (int i = 1; i <= options.horizon; ++i) {
    const double t = i * options.dt;
    // Yaw, x and y begin where they are, so that only their changes differ from the goal's.
    Vector6 place, speed;
    place.head<3>() =
        t * euler + Eigen::Vector3d(state.roll_pitch_yaw[0] - goal.roll, state.roll_pitch_yaw[1] - goal.pitch, -t * goal.yaw_rate);
    place.tail<3>() = t * moving + t * t / 2 * fall +
                      Eigen::Vector3d(-t * goal.velocity[0], -t * goal.velocity[1], state.position[2] - goal.height);
    speed.head<3>() = turning - Eigen::Vector3d(0, 0, goal.yaw_rate);
    speed.tail<3>() = moving + t * fall - Eigen::Vector3d(goal.velocity[0], goal.velocity[1], goal.velocity[2]);
    for (int k = 0; k < 6; ++k) {
      place[k] *= options.weights[k];
      speed[k] *= options.weights[6 + k];
    }
    place.head<3>() = (rates.transpose() * place.head<3>()).eval();
    for (int j = 0; j < i; ++j) pushes[j] += options.dt * options.dt * (i - 1 - j + 0.5) * place + options.dt * speed;
  }
}

CondensedStance::CondensedStance(const Body& body, const StanceOptions& options) {
  const auto require = [](bool fine, const char* name, double value, const char* range) {
    if (!fine) throw Error(text("stance: option '", name, "' is ", value, "; it must be ", range));
  };
  require(options.horizon >= 1 && options.horizon <= longest, "horizon", options.horizon, "in [1, 30]");
  require(options.dt > 0 && std::isfinite(options.dt), "dt", options.dt, "positive");
  require(options.force_weight > 0 && std::isfinite(options.force_weight), "force_weight", options.force_weight, "positive");
  for (const double weight : options.weights) require(weight >= 0 && std::isfinite(weight), "weights", weight, "not negative");
  impl_ = std::make_unique<Impl>(body, options);
}
CondensedStance::CondensedStance(CondensedStance&&) noexcept = default;
CondensedStance& CondensedStance::operator=(CondensedStance&&) noexcept = default;
CondensedStance::~CondensedStance() = default;

int CondensedStance::variables(int feet) const { return 3 * feet * impl_->options.horizon; }

bool CondensedStance::build(const BodyState& state, const BodyGoal& goal, std::span<const Vector3> feet, std::span<double> factor,
                            std::span<double> gradient) {
  Impl& self = *impl_;
  const int n = self.options.horizon, m = static_cast<int>(3 * feet.size()), rank = std::min(m, 6), rows = n * rank;
  self.dynamics.linearise(state.roll_pitch_yaw, feet, std::span<double>(self.a), std::span<double>(self.b));
  const Eigen::Map<const Eigen::Matrix<double, body_states, body_states, Eigen::RowMajor>> states(self.a.data());
  const Eigen::Map<const Eigen::Matrix<double, body_states, Eigen::Dynamic, Eigen::RowMajor>> inputs(self.b.data(), body_states, m);
  self.accelerations = inputs.middleRows<6>(6).transpose();

  self.find_errors(state, goal);
  for (int step = 0; step < n; ++step)
    for (int i = 0; i < m; ++i) gradient[step * m + i] = self.accelerations.row(i).dot(self.pushes[step]);

  Matrix6 rates = Matrix6::Identity();
  rates.topLeftCorner<3, 3>() = states.block<3, 3>(0, 6);
  const Eigen::Map<const Vector6> place(self.options.weights.data()), speed(self.options.weights.data() + 6);
  self.p = rates.transpose() * place.asDiagonal() * rates;
  self.w = speed.asDiagonal();

  Forces triangle = self.accelerations;
  const Basis basis = triangulate(triangle);
  Matrix6 p = Matrix6::Zero(), w = Matrix6::Zero();
  p.topLeftCorner(rank, rank) = triangle.topRows(rank).lazyProduct(self.p.lazyProduct(triangle.topRows(rank).transpose()).eval());
  w.topLeftCorner(rank, rank) = triangle.topRows(rank).lazyProduct(self.w.lazyProduct(triangle.topRows(rank).transpose()).eval());
  for (int a = 0; a < n; ++a)
    for (int b = 0; b <= a; ++b)
      for (int j = 0; j < rank; ++j)
        for (int i = 0; i < rank; ++i)
          self.reduced(a * rank + i, b * rank + j) =
              self.positions(a, b) * p(i, j) + self.velocities(a, b) * w(i, j) + (a == b && i == j ? self.options.force_weight : 0);
  const int stride = static_cast<int>(self.reduced.outerStride());
  if (!invert_cholesky(self.reduced.data(), rows, stride, self.inverse.data(), stride)) return false;

  // J = (basis of G's rows, step by step) L^-T, and beside it the directions that no force is felt in.
  RowMap j(factor.data(), n * m, n * m);
  const double apart = 1 / std::sqrt(self.options.force_weight);
  for (int step = 0; step < n; ++step)
    for (int i = 0; i < m; ++i) {
      auto row = j.row(step * m + i);
      row.setZero();
      const int first = step * rank;
      for (int k = 0; k < rank; ++k)
        row.segment(first, rows - first) += basis(i, k) * self.inverse.col(first + k).segment(first, rows - first).transpose();
      for (int k = rank; k < m; ++k) row[rows + step * (m - rank) + k - rank] = apart * basis(i, k);
    }
  return true;
}

void CondensedStance::hessian(std::span<double> out) const {
  const Impl& self = *impl_;
  const int n = self.options.horizon, m = static_cast<int>(self.accelerations.rows());
  const Basis p = self.accelerations * self.p * self.accelerations.transpose();
  const Basis w = self.accelerations * self.w * self.accelerations.transpose();
  RowMap h(out.data(), n * m, n * m);
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) h.block(a * m, b * m, m, m) = self.positions(a, b) * p + self.velocities(a, b) * w;
  h.diagonal().array() += self.options.force_weight;
}

}  // namespace iap::legged
