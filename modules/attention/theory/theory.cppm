module;
#include <span>
export module iap.attention:theory;

export namespace iap {

/// SM(x, y) = exp(x . y); x and y have the same size.
double softmax_kernel(std::span<const double> x, std::span<const double> y);

/// Mean squared errors of the estimators of SM(x, y) with m independent projections (v1 theorem 4.1). Orthogonal ones err no more
/// in exp; in trig no more where ||x - y|| is at most 2.9, or d is 1, 2 or above 20, and elsewhere by 1.5 % more at most (at d = 4
/// and a distance of 3.45): the covariance of the cosines of two rows, integrated numerically for d up to 32.
double mse_trig(std::span<const double> x, std::span<const double> y, int m);
double mse_exp(std::span<const double> x, std::span<const double> y, int m);
/// With r independent sign projections. Zero vectors have no angle: the result is then NaN.
double mse_hyb(std::span<const double> x, std::span<const double> y, int m, int r);

/// Theorem 4.3 of v2 (hashing): bits a code so that over `steps` steps and L keys every score is within exp(sqrt(d)) (pi/2) epsilon
/// of the unhashed one with probability 1 - p: (2 / epsilon^2) log(2 L steps / p), which is what the proof shows; the statement's
/// 1 / p outside the logarithm is not.
double hash_bits(double epsilon, double p, double patches, double steps);

/// Theorem 4.4 of v2, first part, as stated: projections that make trigonometric features, with plain queries and keys of norm at
/// most `radius`, rank within epsilon of exact attention with probability 1 - p; 0 where any number of them does.
double projections_trig_stated(double epsilon, double p, int d, double radius);

/// The same from its proof's own ingredients. The estimator is the Gaussian kernel's times at most tau = exp(radius^2 / sqrt(d)),
/// so that kernel is needed to epsilon / tau: tau belongs to epsilon, where the statement adds log(tau) to the numerator.
double projections_trig(double epsilon, double p, int d, double radius);

/// Theorem 4.4 of v2, second part (eq. 6): projections that keep the scores of `unimportant` patches within epsilon with
/// probability 1 - p over `steps` steps, for positive features and normalised inputs that make an angle of at least pi - alpha,
/// alpha in [0, pi], with every query.
double projections_exp(double epsilon, double p, int d, double alpha, double unimportant, double steps);

}  // namespace iap
