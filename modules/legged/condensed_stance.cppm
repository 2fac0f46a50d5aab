module;
#include <array>
#include <memory>
#include <span>
export module iap.legged:condensed_stance;
import :body_dynamics;
import :composite_body;
import :legs;

export namespace iap::legged {

/// Of a body, in the world's axes; `position` is that of its centre of mass above the ground.
struct BodyState {
  Vector3 roll_pitch_yaw{}, position{}, angular_velocity{}, velocity{};
};

/// What the body is to do; x, y and yaw have no goal but to change as the velocities say.
struct BodyGoal {
  double roll = 0, pitch = 0, yaw_rate = 0;
  double height = 0;   ///< of the centre of mass
  Vector3 velocity{};  ///< in the world's axes
};

struct StanceOptions {
  int horizon = 10;   ///< steps that the forces are planned for, 1 ... 30
  double dt = 0.025;  ///< seconds of each
  /// Of the squared differences to the goal, in the order of the state.
  std::array<double, body_states> weights{5, 5, 0.2, 0, 0, 10, 0.5, 0.5, 0.2, 0.2, 0.2, 0.1, 0};
  double force_weight = 1e-6;  ///< of the squared forces, positive
  double gravity = 9.81;
  double friction = 0.45;                     ///< of the pyramid |fx|, |fy| <= friction fz
  double least_force = 0.1, most_force = 10;  ///< bounds of fz, in parts of the robot's weight
};

/// The plan's quadratic program with the states put in: with the forces U of all steps, state i is Ad^i x + sum_j Ad^(i-1-j) Bd
/// u_j, and the cost sum_i |state_i - goal_i|^2_Q + force_weight |U|^2 is U' H U + 2 g' U and a constant. Forces are ordered step
/// by step, foot by foot.
///
/// In a step a force acts through six numbers, its linear and angular acceleration G u. Hence H = S2 (x) G' P G + S0 (x) G' W G
/// + force_weight I with 6 x 6 matrices P, W and horizon x horizon matrices S that depend on the horizon alone, and with an
/// orthogonal basis of G's rows all but min(6, 3 feet) directions of a step decouple: what has to be factored has 60 rows for any
/// number of feet.
class CondensedStance {
 public:
  /// @throws Error naming the option that is out of its range.
  CondensedStance(const Body& body, const StanceOptions& options);
  CondensedStance(CondensedStance&&) noexcept;
  CondensedStance& operator=(CondensedStance&&) noexcept;
  ~CondensedStance();

  /// The forces of all steps: 3 x feet x horizon.
  int variables(int feet) const;
  /// For 1 to 4 standing feet, given from the centre of mass in the world's axes: writes J with J J' = H^-1 (row-major) and g.
  /// False where a number is not finite. Allocates nothing.
  bool build(const BodyState& state, const BodyGoal& goal, std::span<const Vector3> feet, std::span<double> factor,
             std::span<double> gradient);
  /// H of the last `build`, row-major.
  void hessian(std::span<double> out) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap::legged
