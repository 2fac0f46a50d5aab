module;
#include <span>
#include <string>
#include <vector>
/// How fitness becomes the weights of a gradient estimate.
module iap.optim:shaping;

namespace iap {

enum class Shaping { centred_ranks, standardised, none };

/// The names of the shapings, in the order of the enumeration.
const std::vector<std::string>& shaping_names();

/// Writes the weight of each member. NaN weighs like the worst finite fitness and an infinity like the extreme finite one, except
/// with ranks, which order them all.
/// @throws Error (owner: optimizer) if every fitness is NaN.
void shape_fitness(Shaping shaping, std::span<const double> fitness, std::span<double> weights);

}  // namespace iap
