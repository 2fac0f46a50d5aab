module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>
module iap.legged;
import iap.core;

namespace iap::legged {
namespace {

constexpr int per_foot = 6;  // constraints

/// |fx| <= mu fz, |fy| <= mu fz and least <= fz <= most, for every foot at every step.
void constrain(QuadraticProgram& qp, double friction, double least, double most) {
  const std::size_t n = qp.variables(), count = n / 3 * per_foot;
  std::vector<double> rows(count * n), bounds(count);
  for (std::size_t foot = 0; foot < n / 3; ++foot) {
    const auto set = [&](std::size_t row, int axis, double value) { rows[(foot * per_foot + row) * n + 3 * foot + axis] = value; };
    for (std::size_t side = 0; side < 4; ++side) {
      set(side, static_cast<int>(side / 2), side % 2 ? 1 : -1);
      set(side, 2, friction);
    }
    set(4, 2, 1);
    bounds[foot * per_foot + 4] = least;
    set(5, 2, -1);
    bounds[foot * per_foot + 5] = -most;
  }
  qp.set_constraints(std::span<const double>(rows), std::span<const double>(bounds), 0);
}

}  // namespace

struct StanceMpc::Impl {
  Impl(const Body& body, const StanceOptions& options) : condensed(body, options) {
    const double weight = body.mass * options.gravity;
    for (int feet = 1; feet <= leg_count; ++feet) {
      QuadraticProgram& qp = programs.emplace_back(condensed.variables(feet));
      constrain(qp, options.friction, options.least_force * weight, options.most_force * weight);
    }
    gradient.resize(condensed.variables(leg_count));
    plan.resize(gradient.size());
  }

  CondensedStance condensed;
  std::vector<QuadraticProgram> programs;  // for 1, 2, 3 and 4 feet
  std::vector<double> gradient, plan;
  std::size_t planned = 0;
};

StanceMpc::StanceMpc(const Body& body, const StanceOptions& options) {
  if (!(options.friction > 0 && std::isfinite(options.friction)))
    throw Error(text("stance: option 'friction' is ", options.friction, "; it must be positive"));
  if (!(options.least_force >= 0 && options.most_force > options.least_force && std::isfinite(options.most_force)))
    throw Error(text("stance: options 'least_force' and 'most_force' are ", options.least_force, " and ", options.most_force,
                     "; they must be 0 or more, and in this order"));
  if (!(options.gravity > 0 && std::isfinite(options.gravity)))
    throw Error(text("stance: option 'gravity' is ", options.gravity, "; it must be positive"));
  impl_ = std::make_unique<Impl>(body, options);
}
StanceMpc::StanceMpc(StanceMpc&&) noexcept = default;
StanceMpc& StanceMpc::operator=(StanceMpc&&) noexcept = default;
StanceMpc::~StanceMpc() = default;

std::span<const double> StanceMpc::plan() const { return std::span<const double>(impl_->plan).first(impl_->planned); }

StanceMpc::Result StanceMpc::solve(const BodyState& state, const BodyGoal& goal, const PerLeg<Vector3>& feet,
                                   const PerLeg<bool>& standing) {
  std::array<Vector3, leg_count> stood{};
  std::size_t count = 0;
  for (int leg = 0; leg < leg_count; ++leg)
    if (standing[leg]) stood[count++] = feet[leg];
  impl_->planned = 0;
  Result result;
  if (count == 0) return result;
  QuadraticProgram& qp = impl_->programs[count - 1];
  const std::size_t n = qp.variables();
  const auto gradient = std::span<double>(impl_->gradient).first(n);
  if (!impl_->condensed.build(state, goal, std::span<const Vector3>(stood).first(count), qp.factor(), gradient)) {
    result.status = QpStatus::not_finite;
    return result;
  }
  const auto plan = std::span<double>(impl_->plan).first(n);
  const auto solved = qp.solve(gradient, plan);
  result.status = solved.status;
  result.steps = solved.steps;
  if (solved.status != QpStatus::solved) return result;
  impl_->planned = n;
  std::size_t at = 0;
  for (int leg = 0; leg < leg_count; ++leg)
    if (standing[leg])
      for (double& value : result.forces[leg]) value = plan[at++];
  return result;
}

}  // namespace iap::legged
