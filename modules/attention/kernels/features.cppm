module;
#include <cstdint>
#include <functional>
#include <span>
#include <vector>
export module iap.attention:features;
import iap.core;

export namespace iap {

/// Random feature maps phi with E[phi(x) . phi(y)] = SM(x, y) = exp(x . y) (v1 section 4).
enum class FeatureKind : std::uint8_t { exp, trig, hybrid };

/// How the rows of a projection matrix depend on each other; every row alone is N(0, I_d).
enum class Ensemble : std::uint8_t {
  iid,        ///< independent rows
  orthogonal  ///< blocks of d orthogonal rows with independent chi(d) norms
};

/// K_hyb needs two maps: the block of exponential features times signs is negated on the query's side only (v1 eq. 8-9 corrected).
enum class Side : std::uint8_t { query, key };

/// The random directions of a feature map, row-major.
struct Projections {
  int d = 0, m = 0, r = 0;
  std::vector<float> omega;        ///< m x d, for exp, sin and cos
  std::vector<float> xi;           ///< r x d, independent of omega, for the signs of the hybrid map; r = 0 otherwise
  std::vector<float> offset = {};  ///< m numbers that are added to the exponents of exp features; empty: none
};

/// What is done to projections after they are drawn, so that their exp features become another positive map: exp(offset_i +
/// omega_i . x - ||x||^2 / 2), with omega changed and offset filled. Empty: nothing. Once it was called for a Projections it
/// allocates nothing for it.
using Shaping = std::function<void(Projections&)>;

/// A kernel of random features: which of them its projections become, and what is known about them.
struct RandomFeatures {
  FeatureKind kind = FeatureKind::exp;
  int m = 15;  ///< how many projections, unless option `m` says so
  /// Reads the kernel's own options; null: it has none and its projections stay as they are drawn.
  Shaping (*shape)(Options& options, int d) = nullptr;
  /// The mean squared error of phi(x) . phi(y) with independent projections; reads the same options as `shape`.
  double (*mse)(Options& options, std::span<const double> x, std::span<const double> y, int m, int r) = nullptr;
};

/// Fills `rows` (count x d, row-major) from `random`. Directions are isotropic: the Q factor that carries them has a positive
/// diagonal in R, as Gram-Schmidt gives it.
void draw_directions(Ensemble ensemble, int d, Random& random, std::span<float> rows);

/// The projections that belong to `seed` (purpose: projection).
Projections draw_projections(Ensemble ensemble, int d, int m, int r, std::uint64_t seed);

/// Length of phi: m, 2 m or 3 m (1 + r).
int feature_count(FeatureKind kind, int m, int r);

/// Writes phi(x) (feature_count values) in double precision, one feature at a time as the paper writes them, x being the kernel's
/// input of d values. Slow: the scorers' fast kernels are held against it.
void feature_map(FeatureKind kind, const Projections& projections, Side side, std::span<const double> x, std::span<double> phi);

}  // namespace iap
