// Include after `module iap.envs.legged;` and its imports, with <array>, <span>, <string> and <vector>.
#pragma once

namespace iap {

/// Actions in [-1, 1] that modulate a trajectory generator (PMTG): its frequency, intensity, height and ratio of stance to swing,
/// each linear over the range that the option of that name gives, then a residual to each of twelve joint targets. Reads the
/// options gait, residual, frequency, intensity, height, ratio and leg_phases.
class Modulation {
 public:
  static constexpr int size = 16;

  explicit Modulation(Options& options);
  inline void reset() { generator_.reset(); }
  /// The joint targets, `dt` seconds later. Allocates nothing.
  std::span<const double> targets(std::span<const float> action, double dt);
  /// The pose that the generator swings around.
  std::vector<double> neutral_pose() const;

  /// How many values `write` writes: the generator's phase as ((cos + 1) / 2, (sin + 1) / 2), or those of the four legs.
  inline int state_size() const { return leg_phases_ ? 8 : 2; }
  float* write(float* at) const;
  std::vector<std::string> state_names(const LeggedRobot& robot) const;

 private:
  struct Range {
    double low = 0, high = 0;
  };
  static Range read_range(Options& options, const char* key, Range widest, Range fallback);
  static legged::TrajectoryOptions read_generator(Options& options);

  legged::TrajectoryOptions options_;
  legged::TrajectoryGenerator generator_;
  Range frequency_, intensity_, height_, ratio_;
  bool leg_phases_;
  std::array<double, 12> targets_{};
};

}  // namespace iap
