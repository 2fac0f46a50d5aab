module;
export module iap.envs.mujoco:tolerance;

export namespace iap {

/// How `tolerance` falls from 1 at the bounds to `value_at_margin` at the margin.
enum class Sigmoid { gaussian, hyperbolic, long_tail, reciprocal, cosine, linear, quadratic, tanh_squared };

/// What counts as good: [lower, upper], and how much worse the rest is.
struct ToleranceRange {
  double lower = 0, upper = 0;   ///< may be infinite
  double margin = 0;             ///< the distance outside the bounds where the value is `value_at_margin`; 0: nothing outside
  double value_at_margin = 0.1;  ///< in (0, 1); 0 too for cosine, linear and quadratic
  Sigmoid sigmoid = Sigmoid::gaussian;
};

/// The reward shaping of the DeepMind Control Suite (Tassa et al. 2018, section 4.2): 1 inside the bounds, else
/// a sigmoid of the distance to them divided by the margin, in [0, 1].
/// @throws Error if the bounds are in the wrong order, the margin is negative or `value_at_margin` does not suit the sigmoid.
double tolerance(double x, const ToleranceRange& range);

}  // namespace iap
