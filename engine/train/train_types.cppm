module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
/// What a training run is told and what it reports.
export module iap.train:types;
import iap.core;
import iap.policy;
import iap.rollout;

export namespace iap {

/// One row of metrics.csv, as (column, value) in the order of the columns. NaN stands for an empty cell.
struct IterationReport {
  std::uint32_t iteration = 0;  ///< 1 after the first tell
  double return_mean = 0, return_best = 0;
  bool evaluated = false;
  double eval_mean = 0, eval_std = 0;        ///< `eval_std` is NaN for one episode
  double seconds = 0, steps_per_second = 0;  ///< time since the run began, and the rate of this iteration's rollouts
  std::vector<std::pair<std::string, double>> columns;
};

/// Who shares the seeds of an iteration's episodes: all members ("common": the fairest comparison, of few episodes), members 2k and
/// 2k + 1 ("pairs": the antithetic twins of es, ars and pgpe; many episodes, and twins still compare), or none ("own").
enum class EpisodeSeeds : std::uint8_t { common, pairs, own };

struct Evaluation {
  std::vector<Episode> episodes;
  std::vector<std::uint64_t> seeds;  ///< what each episode's environment was reset with
  double mean = 0;
  /// Of the sample (n - 1), and the 95% interval of the mean (Student's t); NaN for one episode, which says nothing about either.
  double standard_deviation = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
};

/// A part of a run with settings of its own; what it does not name is as in the run's options.
struct TrainStage {
  std::optional<int> through;     ///< the stage's last iteration; the last stage goes on to the end of the run
  std::optional<int> episodes;    ///< as TrainOptions::episodes
  std::optional<int> population;  ///< of the optimizer: es, ars or pgpe
  Config env;                     ///< options that take the place of the environment's; null: none
};

struct TrainOptions {
  Config env;  ///< as make_env takes it; where `make_env` is set, that takes its place
  /// Builds the environments instead of make_env(env), for hosts that bring their own or wrap one of the catalog. They are played
  /// in this process alone, and policy files name none. A run resumes in what has the name, the range of actions, `control_dt` and
  /// `max_steps` of before and, where they describe options of their own, the same `spec.config`, which holds finite numbers and
  /// UTF-8.
  EnvFactory make_env;
  Config policy;  ///< architecture, as Policy takes it; null: that of `init`
  /// The policy whose parameters the run begins at, instead of drawn ones: the path of a run or policy file, or {path, content},
  /// which also says what is expected there. Its image sizes may be others (`carried_parameters`). A run that resumes does not need
  /// the file any more. `init_policy` is for hosts that hold one.
  Config init;
  std::shared_ptr<const PolicyFile> init_policy;
  /// Stages one after the other. Where the size of images changes, the mean is carried over as `carried_parameters` does.
  std::vector<TrainStage> curriculum;
  /// How the policy follows to the image sizes of later stages and of `eval_env`. `Fit::pool`: it keeps seeing what it sees in the
  /// first stage, which must then have the smallest images.
  Fit fit = Fit::resample;
  /// Where evaluations play, and with them the best policy and its confirmation: options that take the place of those of the last
  /// stage's environment, or a whole environment if there is a name among them; null: the last stage's. Policy files name it.
  Config eval_env;
  Config optimizer;  ///< as make_optimizer takes it
  int iterations = 100;
  int episodes = 1;  ///< per member and iteration; fitness is their mean return
  /// Standard deviation of the noise in the actions of training episodes, in units of half the action range; evaluations have none.
  double action_noise = 0;
  std::uint64_t seed = 0;  ///< below 2^63
  int threads = 0;         ///< 0: all
  Safeguards safeguards;   ///< against environments that hang, crash or throw, in training and in evaluations
  EpisodeSeeds episode_seeds = EpisodeSeeds::common;
  /// The mean policy plays its own fixed seeds every so many iterations, and also before the first and after the last (0: only
  /// then).
  int eval_every = 10;
  int eval_episodes = 16;
  /// Episodes on which the best policy plays when the run ends, on seeds that neither training nor the choice of the best saw
  /// (0: none). The best of several noisy evaluations promises too much; this does not. Without a value: 4 x eval_episodes.
  std::optional<int> confirm_episodes;
  int checkpoint_every = 1;
  std::filesystem::path out;  ///< the run's folder; empty: nothing is written
  /// Forms in which metrics.csv is written a second time: "jsonl" (metrics.jsonl), "tensorboard" (events.out.tfevents.iap). A run
  /// that resumes goes on with those that its folder has.
  std::vector<std::string> log;
  bool resume = false;  ///< continue the run in `out` (start it if there is none)
  std::string script;   ///< text kept as experiment.lua
  /// What the script's own options (iap.options) are, kept as a record in config.json: it changes nothing here, and tells runs
  /// apart whose `on_iteration` goes by them. Null where there are none.
  Config script_options;
  bool quiet = false;  ///< no progress output
  Config given;        ///< the table that `read_train_options` read; null where a host filled in the members itself
  /// Called after each iteration on the calling thread; returning false ends the run in good order. A run that resumes asks once
  /// more about the last iteration that it has, so that one that had ended there ends there again.
  std::function<bool(const IterationReport&)> on_iteration;
};

/// How the best policy of a run did on fresh episodes.
struct Confirmation {
  int episodes = 0;
  double mean = 0, standard_deviation = 0, low = 0, high = 0;  ///< as in Evaluation
  int failed = 0;                                              ///< of the episodes: those that count Safeguards::failed_return
};

struct TrainResult {
  std::uint32_t iterations = 0;
  /// NaN if the run was interrupted before its first evaluation. `best_eval` is the highest of all evaluations, so that it promises
  /// more than the policy keeps.
  double first_eval = 0, last_eval = 0, best_eval = 0;
  std::uint32_t best_iteration = 0;       ///< whose evaluation that is
  std::uint32_t best_failed = 0;          ///< episodes of it that count Safeguards::failed_return
  std::optional<Confirmation> confirmed;  ///< nothing if interrupted or not asked for
  std::string stop_reason;                ///< "iterations", "on_iteration", "interrupted" or the optimizer's own
  std::vector<float> parameters;          ///< the mean at the end, as evaluations play it
  std::vector<float> best_parameters;     ///< the mean with the best evaluation
  double seconds = 0;                     ///< since the run began, interruptions left out
  /// These parameters as policies, with the metadata of final.iap and best.iap. `train` always sets them.
  std::shared_ptr<const PolicyFile> policy, best_policy;
};

/// Iterations of a plan that are alike.
struct PlannedStage {
  int iterations = 0, episodes = 1;  ///< episodes per member
  std::size_t population = 0;
  Config env;        ///< as make_env takes it
  Policy policy;     ///< with parameters as a run would draw them
  Config optimizer;  ///< as make_optimizer takes it
};

/// What a training would be, learned without an episode and without a file.
struct TrainingPlan {
  TrainResult result;  ///< with the policy that the run begins at, all its iterations and evaluations of 0
  Config config;       ///< what its config.json would hold
  std::vector<PlannedStage> stages;
  Safeguards safeguards;  ///< under which its episodes are played
};

}  // namespace iap
