module;
#include <array>
export module iap.legged:foot_placement;
import :legs;

export namespace iap::legged {

/// How the body moves along the ground, in axes that share its heading: x forward, y left.
struct GroundMotion {
  std::array<double, 2> velocity{};  ///< m/s
  double yaw_rate = 0;               ///< rad/s
};

/// Raibert's placement of a foot: under its hip, ahead by half of what the hip travels during stance, so that stance is symmetric,
/// and corrected by the velocity that is missing: p = hip + v_hip T / 2 - gain (v_desired - v_hip), lowered by the body's height.
/// A hip's velocity is the body's and what its turning adds, yaw_rate x hip.
class FootPlacement {
 public:
  /// `gain` in seconds.
  explicit FootPlacement(double gain = 0.03) : gain_(gain) {}

  /// Velocity (x, y) of a point of the body at `hip` from its centre.
  static std::array<double, 2> hip_velocity(const Vector3& hip, const GroundMotion& motion);
  /// Where the toe is to land, from the body's centre in axes that share its heading. `hip` (x, y; z is left out) is where the toe
  /// stands under the hip at rest, `stance` the seconds that it will stand, `height` that of the body's centre above the toe's.
  Vector3 operator()(const Vector3& hip, const GroundMotion& actual, const GroundMotion& desired, double stance,
                     double height) const;

 private:
  double gain_;
};

}  // namespace iap::legged
