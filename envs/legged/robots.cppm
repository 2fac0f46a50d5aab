module;
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>
export module iap.envs.legged:robots;
import iap.core;
import iap.legged;
import iap.sim;

export namespace iap {

/// One of four legs of three joints: abduction about x, hip and knee about y, and a toe at the end of the shank. Lengths in metres.
struct Leg {
  std::string name;                   ///< "FR", "FL", "RR" or "RL": front or rear, right or left
  std::array<std::string, 3> joints;  ///< abduction, hip, knee
  legged::LegGeometry geometry;       ///< as `legged::LegKinematics` takes it, toes being their centres
  int toe = 0;                        ///< number of the link; its centre is that of its sphere, if it touches with that alone
  double toe_radius = 0;              ///< how far below its centre it touches the floor where the robot stands
  std::array<double, 3> zero{};  ///< is added to the joints' angles for `legged::LegKinematics`: 0 where all 0 is straight down
};

/// A robot with what its motors need. Joint arrays are in the order FR, FL, RR, RL, of each abduction, hip, knee.
struct LeggedRobot {
  std::string name;
  RobotDescription description;
  std::array<Leg, 4> legs;
  std::vector<std::string> joints;
  std::vector<double> standing;  ///< angles
  double start_height = 0;       ///< of the base's origin when an episode begins, a little above standing
  std::vector<double> kp, kd, torque_limits, velocity_limits;  ///< limits: 0 is none

  /// The base's height at which the lowest point of what touches, the robot being level and its joints at `angles`, is on the
  /// floor.
  double touching_height(const std::vector<double>& angles) const;
  /// A state with the base level at `height` above (0, 0) and the joints at `standing`, at rest.
  RobotState standing_state(double height) const;
  PdMotors motors() const;
};

/// "a1", "laikago".
const std::vector<std::string>& legged_robots();
/// The URDF text of one of them: our own, written from published masses and measures. @throws Error with the nearest name.
std::string_view legged_urdf(std::string_view name);
/// One of them with the pose and gains of the papers' experiments. @throws Error with the nearest name.
LeggedRobot legged_robot(std::string_view name);
/// Any robot on four legs of three joints. It stands with hips at .8 and knees at -1.6 rad from a leg that hangs straight down, at
/// -.8 and 1.6 where a knee bends further forwards and less than .8 backwards, as far as its limits allow; gains follow from its
/// mass and legs. @throws Error that says which leg is not such a leg.
LeggedRobot legged_robot(RobotDescription description);

}  // namespace iap
