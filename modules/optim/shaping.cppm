module;
#include <span>
/// How fitness becomes the weights of a gradient estimate.
module iap.optim:shaping;
import iap.core;

namespace iap {

enum class Shaping { centred_ranks, standardised, none };

/// Option `shaping`: "centred_ranks", "standardised" or "none".
Shaping read_shaping(Options& options, const char* fallback);

/// Writes the weight of each member. NaN weighs like the worst finite fitness and an infinity like the extreme finite one, except
/// with ranks, which order them all.
/// @throws Error (owner: optimizer) if every fitness is NaN.
void shape_fitness(Shaping shaping, std::span<const double> fitness, std::span<double> weights);

}  // namespace iap
