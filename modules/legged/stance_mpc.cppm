module;
#include <memory>
#include <span>
export module iap.legged:stance_mpc;
import :composite_body;
import :condensed_stance;
import :legs;
import :quadratic_program;

export namespace iap::legged {

/// Convex model predictive control of the standing legs (Di Carlo et al. 2018): the forces of the ground on the feet that bring the
/// body nearest to its goal over the horizon, the feet that stand now standing throughout, inside the friction pyramid and the
/// bounds of StanceOptions.
class StanceMpc {
 public:
  /// @throws Error naming the option or the number that is out of its range.
  explicit StanceMpc(const Body& body, const StanceOptions& options = {});
  StanceMpc(StanceMpc&&) noexcept;
  StanceMpc& operator=(StanceMpc&&) noexcept;
  ~StanceMpc();

  struct Result {
    QpStatus status = QpStatus::solved;
    PerLeg<Vector3> forces{};  ///< on each foot for the first step, in the world's axes; 0 for legs that do not stand, or unsolved
    int steps = 0;             ///< of the quadratic program
  };
  /// `feet`: from the centre of mass, in the world's axes. With no standing leg there is no force and nothing to solve. Allocates
  /// nothing; the same arguments give the same bits, whatever came before.
  Result solve(const BodyState& state, const BodyGoal& goal, const PerLeg<Vector3>& feet, const PerLeg<bool>& standing);
  /// The whole plan of the last solution, step by step, standing foot by standing foot.
  std::span<const double> plan() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap::legged
