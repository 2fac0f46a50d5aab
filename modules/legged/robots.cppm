module;
#include <span>
#include <string_view>
export module iap.legged:robots;
import :legs;

export namespace iap::legged {

/// A rigid part: centre of mass from the part's joint, principal moments about it along the axes of the base.
struct Part {
  double mass = 0;
  Vector3 centre{}, inertia{};
};

/// Where a leg is and how its joints turn: abduction about x, hip and knee about y.
struct LegGeometry {
  Vector3 origin{};    ///< of the abduction joint from the base
  double lateral = 0;  ///< y of the hip joint from the abduction joint: negative for right legs
  double thigh = 0, shank = 0;
  Vector3 axes{1, 1, 1};  ///< +-1: the sign of each joint's axis
};

/// The parts of one leg; at zero joint angles a leg hangs straight down.
struct LegParts {
  Part hip, thigh, shank, toe;
};

/// Everything about a robot that controllers, models and worlds share. Triples are (abduction, hip, knee).
struct Robot {
  std::string_view name;
  double mass = 0;  ///< in all, sensors included
  Part base;
  PerLeg<LegGeometry> legs;
  PerLeg<LegParts> parts;
  double toe_radius = 0;
  Vector3 lowest{}, highest{};     ///< joint limits, rad
  Vector3 torque_limits{};         ///< N m
  Vector3 velocity_limits{};       ///< rad/s; 0: not stated
  Vector3 standing{};              ///< joint angles
  double start_height = 0;         ///< of the base above the ground at the start of an episode
  Vector3 stiffness{}, damping{};  ///< kp and kd of the joints' position controllers
  Vector3 box{};                   ///< the base's collision box, whole lengths
};

/// "a1" and "laikago".
std::span<const Robot> robots();
/// @throws Error with the nearest name.
const Robot& find_robot(std::string_view name);

}  // namespace iap::legged
