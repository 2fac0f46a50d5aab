module;
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
/// The settings of a run as a Config: what config.json and the checkpoint hold.
module iap.train:settings;
import iap.core;
import iap.env;
import iap.optim;
import iap.policy;
import :initial;
import :stages;
import :types;

namespace iap {

/// @throws Error naming the first option out of range.
void check_options(const TrainOptions& options);

/// The episodes that confirm the best policy: what was asked for, or four times those of an evaluation.
int confirm_episodes(const TrainOptions& options);

/// The name of option `episode_seeds`' value.
const std::string& episode_seeds_name(EpisodeSeeds seeds);

/// What determines a run's results: the same settings give the same numbers, however long the run and whatever the threads. Every
/// option stands there as it became (its default where it was left out), but for defaults that are others in one stage than in the
/// next, or in `eval_env` (`top` of a population, the seconds of a clock): those stand nowhere, as each gives its own
/// again. `optimizer` is what is shared by those of all stages, and `initial` the policy that the run begins at, or null.
Config identity_of(const TrainOptions& options, const Stages& stages, const Config& optimizer, const Initial* initial);

/// Takes out of `config` whatever became something else in `other`, which was made from the same options elsewhere; not what stands
/// under the name `kept`.
void keep_shared(Config& config, const Config& other, std::string_view kept = "");

/// What `optimizer` becomes, as far as it is the same in all stages, their own members aside. @throws Error, naming the stage where
/// that has members of its own.
Config shared_optimizer(const Config& optimizer, const TrainOptions& options, const Stages& stages);

/// The identity that a checkpoint holds, read by this program: options that it lacks, because they were not written down or not
/// known at the time, take their present defaults where `present` has them, too. What it does hold stands. What differs from
/// `present`, the run's own identity, is built for it, with the Lua in it confined: it comes out of `source`, the checkpoint's
/// file.
Config complete_identity(Config stored, const TrainOptions& options, const Stages& stages, const Config& present,
                         const std::string& source);

/// What the last bits of results depend on beside the settings: `instructions` (see chosen_instructions) and `libraries`, the
/// versions of those that compute.
Config computed_with();
/// One sentence for each that was something else `before`, of what that means for a run that goes on.
std::vector<std::string> computed_differently(const Config& before);

/// `identity` and the rest of what was asked for, as `read_train_options` takes it, and as "given" what was asked for in so many
/// words; the content of config.json.
Config run_config(const TrainOptions& options, Config identity);

/// An identity for comparisons: without what may be said in other words, that is, where a text lies that stands beside its path,
/// a stage's members where the optimizer has as many, an `eval_env` that is where the last stage trains, and a curriculum of one
/// stage that changes nothing.
Config comparable(Config identity);

/// `options` of a script as a record: as they come back from config.json, without what `script_options_of` leaves out. @throws
/// Error for tables that no file could bring back.
Config recorded_options(const Config& options);
/// One text for each of the script's options that is another one in the record `now` than in config.json `before`, as
/// `first_difference` has it; none for those that stand in one of them alone.
std::vector<std::string> changed_options(const Config& before, const Config& now);

/// The path and both values of the first setting that differs ("optimizer.sigma: 0.1 before, 0.2 now"), or "".
std::string first_difference(const Config& before, const Config& now, const std::string& path = "");

}  // namespace iap
