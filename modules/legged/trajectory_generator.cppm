module;
#include <array>
export module iap.legged:trajectory_generator;
import :legs;

export namespace iap::legged {

/// Where in a cycle each leg is, as fractions of it.
constexpr PerLeg<double> walk_offsets{0.5, 0, 0.75, 0.25};
constexpr PerLeg<double> trot_offsets{0.5, 0, 0, 0.5};

/// What a policy asks of the generator at a control step; values outside their range are moved to its edge.
struct TrajectoryCommand {
  double frequency = 0;           ///< cycles a second, 0 ... 3
  double intensity = 0;           ///< how far legs swing and lift, 0 ... 1.5
  double height = 0;              ///< extension of all legs, rad of the knee, -.5 ... 1
  double stance_swing_ratio = 2;  ///< how many times as long as it swings a leg stands, .2 ... 5
  PerLeg<Vector3> residuals{};    ///< added to the joint targets, clipped to the options' `residual`, rad
};

struct TrajectoryOptions {
  PerLeg<double> offsets = trot_offsets;
  Vector3 neutral{0, 0.78539816339744831, -1.5707963267948966};  ///< (abduction, hip, knee)
  double swing_centre = 0;  ///< Cs: forward (negative) or backward lean of the swing, in parts of the intensity
  double swing = 0.5;       ///< amplitude of the swing, rad of the hip at intensity 1
  double stance_extension = -0.02, swing_extension = 0.9;  ///< A: amplitude of the extension
  double intensity_rise = 0.1;                             ///< the most that the intensity rises in a call
  double residual = 0.15;                                  ///< the most that a residual adds
};

/// The trajectory generator of Policies Modulating Trajectory Generators (Iscen et al. 2018): joint targets of a rhythm whose
/// frequency, intensity, height and share of stance a policy changes at every control step, and to which it adds residuals.
///
/// A phase psi in [0, 2 pi) is stance below pi and swing above, advancing by 2 pi f (b + 1) / (2 b) and 2 pi f (b + 1) / 2 a second
/// (f frequency, b stance_swing_ratio), so that a cycle takes 1 / f and b / (b + 1) of it is stance. The generator's own phase is
/// that of a leg with offset 0; another leg's is the phase that this one has its offset's part of a cycle later, at the present b.
/// With intensity I: swing s = I (Cs + swing cos psi), extension e = height + I A sin psi; hip = neutral - s - e / 2,
/// knee = neutral + e.
class TrajectoryGenerator {
 public:
  explicit TrajectoryGenerator(const TrajectoryOptions& options = {});

  /// Phase 0 and intensity 0.
  void reset();
  /// Advances the phase by `dt` seconds and returns the joint targets (abduction, hip, knee) of each leg there. A command that is
  /// not a number counts as the least of its range, a residual as 0.
  PerLeg<Vector3> step(double dt, const TrajectoryCommand& command);

  /// In [0, 2 pi).
  double phase() const { return phase_; }
  /// Of each leg, at the ratio of the last step.
  PerLeg<double> leg_phases() const;
  /// Whether each leg's phase is below pi.
  PerLeg<bool> stance() const;
  /// ((cos psi + 1) / 2, (sin psi + 1) / 2), what a policy is told.
  std::array<double, 2> state() const;
  /// The intensity after its limit.
  double intensity() const { return intensity_; }

 private:
  TrajectoryOptions options_;
  double phase_ = 0, intensity_ = 0, ratio_ = 1;
};

}  // namespace iap::legged
