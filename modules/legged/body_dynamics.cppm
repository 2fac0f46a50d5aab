module;
#include <span>
export module iap.legged:body_dynamics;
import :composite_body;
import :legs;

export namespace iap::legged {

/// Values of a body's state: roll, pitch, yaw; position; angular velocity; velocity; -gravity. All in the world's axes.
constexpr int body_states = 13;

/// A robot as one rigid body that forces on its feet move: x' = A x + B u, linear around an attitude at which it turns slowly (Di
/// Carlo et al. 2018). Matrices are row-major.
class BodyDynamics {
 public:
  /// @throws Error where the mass is not positive or the inertia not positive definite.
  explicit BodyDynamics(const Body& body);

  double mass() const { return body_.mass; }
  /// A, 13 x 13, and B, 13 x 3 feet, u being the forces on the feet in the world's axes. `feet`: from the body's centre of mass to
  /// each foot, in the world's axes. Rates of roll, pitch and yaw are those of Euler's angles; within .05 of a vertical pitch's
  /// cosine they are those at .05.
  void linearise(const Vector3& roll_pitch_yaw, std::span<const Vector3> feet, std::span<double> a, std::span<double> b) const;

 private:
  Body body_;
};

/// x after `dt` seconds of constant u is Ad x + Bd u. Exact for every A with A^3 = 0 and A^2 B = 0, as those of BodyDynamics:
/// Ad = I + A dt + A^2 dt^2 / 2 and Bd = B dt + A B dt^2 / 2. B is 13 x `inputs`.
void discretise(std::span<const double> a, std::span<const double> b, int inputs, double dt, std::span<double> ad,
                std::span<double> bd);

}  // namespace iap::legged
