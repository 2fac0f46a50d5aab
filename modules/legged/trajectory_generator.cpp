module;
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
module iap.legged;

namespace iap::legged {
namespace {

constexpr double pi = std::numbers::pi;

double fraction(double x) {
  const double part = x - std::floor(x);
  return part < 1 ? part : 0;  // of -1e-20 the difference rounds to 1
}

/// The part of a cycle that a leg has done at `phase`, in [0, 1), and back.
double cycle_of(double phase, double ratio) {
  const double duty = ratio / (ratio + 1);
  return phase < pi ? duty * phase / pi : duty + (1 - duty) * (phase - pi) / pi;
}
double phase_of(double cycle, double ratio) {
  const double duty = ratio / (ratio + 1);
  const double phase = cycle < duty ? pi * cycle / duty : pi + pi * (cycle - duty) / (1 - duty);
  return phase < 2 * pi ? phase : 0;
}

/// As std::clamp; what is not a number is `low`.
double limited(double value, double low, double high) { return value > low ? std::min(value, high) : low; }

}  // namespace

TrajectoryGenerator::TrajectoryGenerator(const TrajectoryOptions& options) : options_(options) {}

void TrajectoryGenerator::reset() {
  phase_ = 0;
  intensity_ = 0;
  ratio_ = 1;
}

PerLeg<double> TrajectoryGenerator::leg_phases() const {
  PerLeg<double> phases{};
  for (int leg = 0; leg < leg_count; ++leg)
    phases[leg] =
        options_.offsets[leg] == 0 ? phase_ : phase_of(fraction(cycle_of(phase_, ratio_) + options_.offsets[leg]), ratio_);
  return phases;
}

PerLeg<bool> TrajectoryGenerator::stance() const {
  PerLeg<bool> standing{};
  const auto phases = leg_phases();
  for (int leg = 0; leg < leg_count; ++leg) standing[leg] = phases[leg] < pi;
  return standing;
}

std::array<double, 2> TrajectoryGenerator::state() const { return {(std::cos(phase_) + 1) / 2, (std::sin(phase_) + 1) / 2}; }

PerLeg<Vector3> TrajectoryGenerator::step(double dt, const TrajectoryCommand& command) {
  ratio_ = limited(command.stance_swing_ratio, 0.2, 5);
  intensity_ = limited(command.intensity, 0, std::min(1.5, intensity_ + options_.intensity_rise));
  const double height = limited(command.height, -0.5, 1), frequency = limited(command.frequency, 0, 3);
  phase_ = phase_of(fraction(cycle_of(phase_, ratio_) + frequency * dt), ratio_);

  const auto phases = leg_phases();
  PerLeg<Vector3> targets{};
  for (int leg = 0; leg < leg_count; ++leg) {
    const double psi = phases[leg];
    const double amplitude = psi < pi ? options_.stance_extension : options_.swing_extension;
    const double swing = intensity_ * (options_.swing_centre + options_.swing * std::cos(psi));
    const double extension = height + intensity_ * amplitude * std::sin(psi);
    targets[leg] = {options_.neutral[0], options_.neutral[1] - swing - extension / 2, options_.neutral[2] + extension};
    for (int joint = 0; joint < 3; ++joint) {
      const double residual = command.residuals[leg][joint];
      if (!std::isnan(residual)) targets[leg][joint] += std::clamp(residual, -options_.residual, options_.residual);
    }
  }
  return targets;
}

}  // namespace iap::legged
