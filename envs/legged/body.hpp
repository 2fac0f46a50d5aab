// Include after `module iap.envs.legged;` and its imports, with <array>, <span>, <string> and <vector>.
#pragma once

namespace iap {

/// Seconds of a physics step. Reads the option timestep. @throws Error naming it.
double read_timestep(Options& options);

/// The world of `robot`. Reads the options engine and timestep. @throws Error naming the option.
RobotWorld make_world(const LeggedRobot& robot, Options& options);

/// Adds noise of up to `jitter` radians to the angle of each joint, as far as its limits allow.
void jitter_joints(const LeggedRobot& robot, double jitter, Random& random, std::vector<double>& angles);

/// What environments of robots on four legs share: a robot in its world, driven towards joint targets at control steps, what it
/// feels and when it has fallen. Reads the options engine, timestep, physics_steps, friction, jitter, largest_roll, largest_pitch
/// and lowest.
class LeggedBody {
 public:
  static constexpr int joints = 12, imu = 4;

  /// The robot on a flat floor. `lowest` is that option's fallback.
  LeggedBody(LeggedRobot robot, double lowest, Options& options);

  inline const LeggedRobot& robot() const { return robot_; }
  inline RobotWorld& world() { return world_; }
  inline const RobotWorld& world() const { return world_; }
  inline double control_dt() const { return world_.options().timestep * physics_steps_; }
  inline double friction() const { return friction_; }

  /// Starts anew from `start` with noise of up to the option jitter on each joint angle, within the joints' limits; higher, where
  /// that would put a toe into a floor at height `floor`.
  void reset(RobotState start, Random& random, double floor = 0);
  /// A control step towards twelve joint targets. Returns how far the base came along x, in metres.
  double step(std::span<const double> targets);
  /// Whether it leans too far or its base is lower than it may be above a floor at height `floor`.
  bool fallen(double floor = 0) const;

  /// Roll, pitch and their rates in the robot's axes; joint angles; with `velocities`, joint velocities. Returns the next place.
  float* write_state(float* at, bool velocities) const;
  /// Names of all that `write_state` may write.
  std::vector<std::string> state_names() const;

 private:
  LeggedRobot robot_;
  RobotWorld world_;
  PdMotors motors_;
  int physics_steps_;
  double friction_, jitter_, largest_roll_, largest_pitch_, lowest_;
};

}  // namespace iap
