module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
/// iap.train: optimizer, rollouts and files joined into a run.
export module iap.train;
import iap.core;
import iap.env;
import iap.policy;
import iap.rollout;
export import :run_state;
export import :run_table;
export import :types;

export namespace iap {

/// Of the libraries behind this module's doors.
LibraryVersions train_versions();

/// Reads the option table of `iap.train`; the functions and `script` are not part of it. `env` may be a name alone, and with
/// `init_policy`, which becomes the options' own, `policy` may be left out. A config.json is such a table too; its records are left
/// aside.
/// @throws Error naming the option.
TrainOptions read_train_options(const Config& config, std::shared_ptr<const PolicyFile> init_policy = {});

/// Whether `name` is no option but what a run writes into its config.json beside them: "env_spec", "files", "given",
/// "instructions", "libraries", "script_options".
bool is_record(std::string_view name);

/// Whether the option `name` only says how a run is computed and told ("threads", "quiet", "isolate" ...): it changes nothing of
/// what the run comes to, and may differ between a run and its continuation.
bool is_manner(std::string_view name);

/// Whether the option `name` decides how long a run goes on, how often it saves and what it logs. These, too, may differ between a
/// run and its continuation.
bool is_length_or_log(std::string_view name);

/// What `stage`, a table of option `curriculum`, changes of the environment: all but the stage's own numbers.
Config::Map changes_of_stage(Config::Map stage);

/// Trains. An interrupt ends it within a second, in good order and with a checkpoint to resume from; it stays requested until
/// the host calls clear_interrupt. What ends in `out`, times and log aside, does not depend on the number of threads nor on how
/// often the run was interrupted and resumed:
///   experiment.lua, config.json   the script as run; every option with its default, and as "given" those that were asked for,
///                                 as "instructions" and "libraries" what decides the last bits, as "files" what tells the files
///                                 that environments read, and as "script_options" the script's own
///   metrics.csv                   one row per iteration; row 0 is the evaluation before the first; the columns of times are last,
///                                 and behind them, over several processes, messages and bytes between them
///   metrics.jsonl, events.out.tfevents.iap   the same rows again, where `log` asks for it
///   checkpoint.iap, checkpoint.previous.iap
///   best.iap, final.iap           policy files with metadata {env, return, iteration, seed}
///   result.json                   how it ended (RunSummary); missing while there is something left to do
///   log.txt
/// A run resumes with the settings that it was begun with: options compare as they became, so that writing a default out changes
/// nothing and a default that is another one by now is refused by name, and so are other files than environments read before.
/// @throws Error for bad options, a failing environment, a folder that cannot be written or that holds another run.
TrainResult train(const TrainOptions& options);

/// Builds everything that `train` builds before its first episode. @throws Error as `train` for options and what cannot be built.
TrainingPlan plan_training(const TrainOptions& options);
/// What of a config.json decides what a run comes to: not how long it goes on, how often it saves, what it logs, which options were
/// written out, and with what and from where it was begun. The script's own options are `script_options_of` it.
Config deciding_settings(Config config);
/// What a config.json has on record of the script's own options, without those whose names say that they change nothing of what a
/// run comes to (`iterations`, `out` ...): a table, empty where there is no record, or one that iap did not write.
Config script_options_of(const Config& config);
/// The first setting in which two config.json differ ("optimizer.sigma: 0.1 before, 0.2 now"), or "" where one run is the other
/// or the beginning of the other. An option of the script that only one of them has on record is none: a run of a version that kept
/// no record, or of another text of the script.
std::string settings_difference(Config before, Config now);

/// The policies that a run leaves: best.iap, whose evaluation was the highest, and final.iap, the mean at the end.
enum class PolicyChoice : std::uint8_t { best, final };

/// The policy file that a run folder or the path of a policy file stands for: without a choice best.iap, or final.iap if there is
/// no other. @throws Error naming the path: a folder without the file, or a choice where there is none.
std::filesystem::path policy_path(const std::filesystem::path& run_or_policy, std::optional<PolicyChoice> choice = {});

/// The policy at `policy_path`; its metadata has the environment's config as "env" and the run's seed as "seed", for eval and play.
/// `trust` as in load_policy. @throws Error naming the path.
PolicyFile open_policy(const std::filesystem::path& run_or_policy, Trust trust = Trust::no);

/// What the environment is reset with in episode `episode` of `member` of the population, in iteration `iteration` of a run of
/// `seed`.
std::uint64_t training_seed(std::uint64_t seed, std::uint32_t iteration, EpisodeSeeds shared, std::size_t member,
                            std::size_t episode);
/// The same for episode `episode` of the evaluations of a run of `seed`.
std::uint64_t evaluation_seed(std::uint64_t seed, std::size_t episode);

/// Plays `episodes` episodes on seeds derived from `seed` (purpose: evaluation): the seeds on which a run of that seed evaluates.
/// With `keep_actions` the episodes have theirs.
/// @throws as RolloutPool::run; Error if `episodes` is not positive.
Evaluation evaluate(const Policy& policy, const Config& env, int episodes, std::uint64_t seed, int threads,
                    const Safeguards& safeguards = {}, bool keep_actions = false);
Evaluation evaluate(const Policy& policy, const EnvFactory& make_env, int episodes, std::uint64_t seed, int threads,
                    const Safeguards& safeguards = {});

/// The value that a Student t variable of `degrees` > 0 degrees of freedom stays below with `probability` in (0, 1).
/// @throws Error outside these ranges.
double student_t_quantile(double probability, double degrees);

}  // namespace iap
