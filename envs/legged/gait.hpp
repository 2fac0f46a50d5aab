// Include after `module iap.envs.legged;` and its imports, with <array>, <span>, <string> and <vector>.
#pragma once

namespace iap {

/// A trajectory generator (PMTG) that actions modulate: its frequency, intensity, height and ratio of stance to swing, each linear
/// over its range, then a residual to each of the twelve joint targets. Reads the options gait, residual, leg_phases and the ranges
/// least_frequency, most_frequency and so on.
class ModulatedGait {
 public:
  static constexpr int numbers = 4, joints = 12, actions = numbers + joints;

  explicit ModulatedGait(Options& options);

  /// Where the legs are before the first step, joint by joint.
  std::vector<double> neutral_pose() const;
  void reset();
  /// The joint targets `dt` seconds on, as `action` in [-1, 1] asks for; they hold until the next call.
  std::span<const double> step(double dt, std::span<const float> action);
  /// The generator's phase psi as ((cos psi + 1) / 2, (sin psi + 1) / 2), or that of each leg. Returns the next place.
  float* write_state(float* at) const;
  int state_size() const;
  /// Names of what `write_state` writes, for legs of these names.
  std::vector<std::string> state_names(std::span<const std::string> legs) const;

 private:
  struct Range {
    double low, high;
  };

  legged::TrajectoryOptions options_;
  legged::TrajectoryGenerator generator_;
  Range frequency_, intensity_, height_, ratio_;
  bool leg_phases_;
  std::array<double, joints> targets_{};
};

}  // namespace iap
