module;
#include <memory>
#include <vector>
/// Rollouts dealt to all ranks, seen from rank 0.
module iap.ranks:rank_rollouts;
import iap.core;
import iap.policy;
import iap.rollout;
import :types;

namespace iap {

/// Needs `ranks` and `infos` as long as it lives. `threads` 0: those of `infos`; else of each rank.
std::unique_ptr<Rollouts> make_rank_rollouts(Ranks& ranks, const std::vector<RankInfo>& infos, const Config& env,
                                             EnvFactory make_env, Policy prototype, int threads, const Safeguards& safeguards);

}  // namespace iap
