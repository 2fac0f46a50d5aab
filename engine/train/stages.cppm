module;
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>
/// The stages of a run, built: environments, policies and optimizers as they follow each other.
module iap.train:stages;
import iap.core;
import iap.env;
import iap.policy;
import iap.rollout;
import :types;

namespace iap {

/// An environment and the policy that fits it.
struct World {
  EnvFactory make_env;
  EnvSpec spec;
  Policy policy;  ///< carries shapes, not parameters
};

/// What plays policies of `world` in it, with the threads and the safeguards of `options`.
std::unique_ptr<Rollouts> rollouts_of(const World& world, const TrainOptions& options);

/// One stage; a run without a curriculum is a single one.
struct Stage {
  World world;
  std::uint32_t through = 0;  ///< its last iteration
  int episodes = 1;
  Config optimizer;  ///< as make_optimizer takes it
};

struct Stages {
  EnvSpec base;                                   ///< of the environment that the stages change
  std::vector<Stage> stages;                      ///< at least one
  World evaluation;                               ///< where evaluations play
  std::map<std::string, std::string> files = {};  ///< FilesRead of all environments
};

/// Reads option `curriculum`. @throws Error naming the stage.
std::vector<TrainStage> read_curriculum(const Config& list);

/// @throws Error naming the first stage and number out of range.
void check_curriculum(const std::vector<TrainStage>& stages);

/// @throws Error for stages that are out of order, for worlds whose observations or actions differ in more than image sizes, and
/// for what cannot be built, each naming the stage or `eval_env`.
/// Without a policy in the options, theirs is that of `initial`, which may be null otherwise.
Stages build_stages(const TrainOptions& options, const Policy* initial);

/// What the stages became, as `read_curriculum` takes it.
Config curriculum_of(const TrainOptions& options, const Stages& stages);

/// Whether two worlds are the same, so that one pool can play both.
bool same_world(const World& a, const World& b);

}  // namespace iap
