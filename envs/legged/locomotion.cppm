module;
#include <array>
#include <memory>
#include <span>
export module iap.envs.legged:locomotion;
import iap.legged;
import iap.sim;
import :robots;

export namespace iap {

/// What a walking robot is to do. Axes share the robot's heading: x forward, y left, z up.
struct WalkCommand {
  std::array<double, 2> velocity{};           ///< m/s
  double twist = 0;                           ///< rad/s, to the left
  double height = 0;                          ///< m, of the base above the ground
  double roll = 0, pitch = 0;                 ///< rad
  legged::PerLeg<legged::Vector3> offsets{};  ///< m, added to where a toe would land
  /// m, of a swinging toe over its way; below 0 it is .06, and .15 of legs that are shorter than .4 m.
  legged::PerLeg<double> clearances{-1, -1, -1, -1};
  bool stand = false;  ///< all legs stay on the ground; walking begins anew afterwards
};

struct LocomotionOptions {
  int physics_steps = 4;  ///< of the world, between two control steps
  legged::GaitOptions gait{};
  /// `force_weight` is that of robots of 12 to 25.6 kg; another's is by the square of the nearer of these over its mass.
  legged::StanceOptions stance{};
  legged::SwingOptions swing{};
  double stance_damping = .3;   ///< of standing legs, in parts of the joints' kd
  double placement_gain = .03;  ///< s, Raibert's
  bool centred = true;          ///< feet: their middle under the centre of mass of the robot as it stands; else as they stand
  double hold = 2;              ///< 1/s: a robot that is behind its command by a metre or radian is asked for that much more
  double slack = .05;           ///< m and rad: it is never asked to make up for more
  double settle = .1;           ///< s in which the height of the ground follows that of the footholds
};

/// What `robot` trots with: the defaults, which are for legs (thigh and shank) of .4 m and more; shorter ones stand for times that
/// are shorter by the root of the lengths' ratio, and press on by less.
LocomotionOptions usual_locomotion(const LeggedRobot& robot);

/// Makes a robot on four legs walk in a RobotWorld: gait, Raibert's foot placement, swinging legs on trajectories that joint motors
/// follow through inverse kinematics, standing ones under the torques -J'f + dU/dq - kd (q' - q'*) of the forces f that model
/// predictive control plans (see iap.legged): U is the potential energy of the leg itself (of swinging ones, too), q'* what the
/// goal's velocity asks of a toe that does not slip, kd `stance_damping` of the robot's. Gains and limits of the joints are the
/// robot's. It knows the true state of the world's robot, and of the ground only what its feet have felt. Commands are integrated:
/// the goal's velocity leads to the place and heading where the robot would be had it always obeyed, so that it neither lags nor
/// drifts. Allocates nothing after construction; the same calls give the same bits.
class Locomotion {
 public:
  /// For `robot` in `world`, whose joints are in the robot's order; `world` is reset in order to be measured.
  /// @throws Error for options out of their range.
  Locomotion(const LeggedRobot& robot, RobotWorld& world, const LocomotionOptions& options);
  /// With `usual_locomotion(robot)`.
  Locomotion(const LeggedRobot& robot, RobotWorld& world);
  ~Locomotion();
  Locomotion(Locomotion&&) noexcept;
  Locomotion& operator=(Locomotion&&) noexcept;

  const LocomotionOptions& options() const;
  /// Begins anew where the robot is now: call it after each `reset` of the world.
  void reset(const RobotWorld& world);
  /// One control step: `physics_steps` steps of `world`. False, and the world stays as it was, where no forces can be found.
  bool step(RobotWorld& world, const WalkCommand& command);

  const legged::Gait& gait() const;
  /// Of the base's origin over the ground that the feet have felt.
  double height(const RobotWorld& world) const;
  /// Toes' centres as of the last control step, in the base's frame.
  const legged::PerLeg<legged::Vector3>& toes() const;
  /// Where each toe would land next (or lands, while it swings) without the command's offset: centres, in the world.
  const legged::PerLeg<legged::Vector3>& landings() const;
  /// With the offset.
  const legged::PerLeg<legged::Vector3>& targets() const;
  /// Seconds until a leg lifts by the gait's time table; 0 while it is due to swing.
  double until_lift(int leg) const;
  /// Which toes touch, as of the last control step; all of them before the first step of physics.
  const legged::PerLeg<bool>& touching() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
