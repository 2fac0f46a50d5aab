module;
#include <cstdint>
#include <span>
/// Evaluation on a pool that lives on, for the trainer.
module iap.train:evaluation;
import iap.rollout;
import :types;

namespace iap {

/// As the exported `evaluate`, of `parameters` in the policy of `pool`.
Evaluation evaluate(RolloutPool& pool, std::span<const float> parameters, int episodes, std::uint64_t seed);

}  // namespace iap
