module;
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
/// Evaluation on a pool that lives on, for the trainer.
module iap.train:evaluation;
import iap.policy;
import iap.rollout;
import :types;

namespace iap {

/// Sets of episodes that have none in common. The first one chooses the best policy of a run, the second one confirms it.
enum class EpisodeSet : std::uint32_t { selection, confirmation };

/// As the exported `evaluation_seed`, of either set.
std::uint64_t evaluation_seed(std::uint64_t seed, std::size_t episode, EpisodeSet set);

/// As the exported `evaluate`, of `parameters` and `moments` (empty: its own) in the policy of `pool`.
Evaluation evaluate(Rollouts& pool, std::span<const float> parameters, std::span<const Moment> moments, int episodes,
                    std::uint64_t seed, EpisodeSet set = EpisodeSet::selection, bool keep_actions = false);

/// Before `episodes` episodes are played together. @throws Error naming `what` asks for them where they need more than their share
/// of the memory.
void check_task_memory(std::string_view what, double episodes);

/// Of its episodes those that count Safeguards::failed_return.
int failed_episodes(const Evaluation& evaluation);

}  // namespace iap
