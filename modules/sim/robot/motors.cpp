module;
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.sim;
import iap.core;

namespace iap {

double limited_torque(double torque, double velocity, double torque_limit, double velocity_limit) {
  if (torque_limit > 0) torque = std::clamp(torque, -torque_limit, torque_limit);
  if (velocity_limit > 0 && std::abs(velocity) > velocity_limit && torque * velocity > 0) return 0;
  return torque;
}

PdMotors::PdMotors(std::vector<double> kp, std::vector<double> kd, std::vector<double> torque_limits,
                   std::vector<double> velocity_limits)
    : kp_(std::move(kp)),
      kd_(std::move(kd)),
      torque_limits_(std::move(torque_limits)),
      velocity_limits_(std::move(velocity_limits)),
      torques_(kp_.size()) {
  for (const auto* values : {&kp_, &kd_, &torque_limits_, &velocity_limits_}) {
    if (values->size() != kp_.size())
      throw Error(text("motors need one value a joint everywhere: ", kp_.size(), " of kp, but ", values->size(), " of another"));
    for (const double value : *values)
      if (!(value >= 0)) throw Error(text("motors cannot have a gain or limit of ", value, "; it must not be negative"));
  }
}

std::span<const double> PdMotors::torques(std::span<const double> targets, std::span<const double> angles,
                                          std::span<const double> velocities) {
  if (targets.size() != kp_.size() || angles.size() != kp_.size() || velocities.size() != kp_.size())
    throw Error(text("these motors drive ", kp_.size(), " joints, not ", targets.size(), " targets, ", angles.size(),
                     " angles and ", velocities.size(), " velocities"));
  for (std::size_t i = 0; i < kp_.size(); ++i) {
    const double wanted = kp_[i] * (targets[i] - angles[i]) - kd_[i] * velocities[i];
    torques_[i] = limited_torque(wanted, velocities[i], torque_limits_[i], velocity_limits_[i]);
  }
  return torques_;
}

void PdMotors::step(RobotWorld& world, std::span<const double> targets, int steps) {
  for (int i = 0; i < steps; ++i) world.step(torques(targets, world.state().angles, world.state().velocities), 1);
}

}  // namespace iap
