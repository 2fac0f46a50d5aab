module;
#include <span>
/// How fitness becomes the weights of a gradient estimate.
module iap.optim:shaping;
import iap.core;

namespace iap {

enum class Shaping { centred_ranks, standardised, none, pair_ranks };

/// Option `shaping`: "centred_ranks", "standardised", "none" or, for optimizers that use nothing but the differences within
/// antithetic pairs, "pair_ranks".
Shaping read_shaping(Options& options, const char* fallback, bool differences = false);

/// Writes the weight of each member. pair_ranks: the centred rank of its lead over its antithetic twin (members 2k and 2k + 1)
/// among the leads of all members, so that pairs may meet episodes of different difficulty. NaN weighs like the worst finite
/// fitness and an infinity like the extreme finite one, except with ranks, which order them all.
/// @throws Error (owner: optimizer) if every fitness is NaN.
void shape_fitness(Shaping shaping, std::span<const double> fitness, std::span<double> weights);

}  // namespace iap
