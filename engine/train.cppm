module;
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>
export module iap.train;
import iap.core;
import iap.env;
import iap.optim;
import iap.policy;
import iap.rollout;

export namespace iap {

/// One row of metrics.csv, as (column, value) in the order of the columns.
struct IterationReport {
  std::uint32_t iteration = 0;  ///< 1 after the first tell
  double return_mean = 0, return_best = 0;
  bool evaluated = false;
  double eval_mean = 0, eval_std = 0;
  double seconds = 0, steps_per_second = 0;
  std::vector<std::pair<std::string, double>> columns;
};

struct TrainOptions {
  Config env;        ///< as make_env takes it
  Config policy;     ///< architecture, as Policy takes it
  Config optimizer;  ///< as make_optimizer takes it
  int iterations = 100;
  int episodes = 1;  ///< a member and iteration
  std::uint64_t seed = 0;
  int threads = 0;                    ///< 0: all
  bool common_random_numbers = true;  ///< every member of an iteration meets the same episode seeds
  int eval_every = 10,
      eval_episodes = 16;  ///< the mean policy on its own fixed seeds; also before the first and after the last iteration
  int checkpoint_every = 1;
  std::filesystem::path out;  ///< the run's folder; empty: nothing is written
  bool resume = false;        ///< continue the run in `out` (start it if there is none)
  std::string script;         ///< text kept as experiment.lua
  bool quiet = false;         ///< no progress output
  /// Called after each iteration on the calling thread; returning false ends the run in good order.
  std::function<bool(const IterationReport&)> on_iteration;
};

struct TrainResult {
  std::uint32_t iterations = 0;
  double first_eval = 0, last_eval = 0, best_eval = 0;
  std::string stop_reason;             ///< "iterations", "on_iteration", "interrupted" or the optimizer's own
  std::vector<float> parameters;       ///< the mean at the end
  std::vector<float> best_parameters;  ///< the mean with the best evaluation
  double seconds = 0;
};

/// Reads the option table of `iap.train`; `on_iteration` is not part of it. @throws Error naming the option.
TrainOptions read_train_options(const Config& config);

/// Trains. An interrupt ends it within a second, in good order and with a checkpoint to resume from.
/// @throws Error for bad options, a failing environment, or a folder that holds another run.
TrainResult train(const TrainOptions& options);

/// Mean policy, environment config and seeds of a run folder or a policy file, for eval and play.
PolicyFile open_policy(const std::filesystem::path& run_or_policy);

struct Evaluation {
  std::vector<Episode> episodes;
  double mean = 0, standard_deviation = 0;
  double low = 0, high = 0;  ///< 95% interval of the mean (Student's t)
};

/// `episodes` episodes on seeds derived from `seed` (purpose: evaluation).
Evaluation evaluate(const Policy& policy, const Config& env, int episodes, std::uint64_t seed, int threads);

}  // namespace iap
