module;
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.train;
import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.policy;
import iap.rollout;
import :checkpoint;
import :evaluation;
import :metrics;
import :progress;
import :run_folder;
import :settings;
import :types;

namespace iap {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double empty_cell = std::numeric_limits<double>::quiet_NaN();

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

EnvFactory factory_of(const TrainOptions& options) {
  if (options.make_env) return options.make_env;
  return [env = options.env] { return make_env(env); };
}

EnvSpec spec_of(const EnvFactory& make) {
  const auto env = make();
  if (!env) throw Error("train: the environment factory returned no environment");
  return env->spec();
}

Policy initial_policy(const TrainOptions& options, const EnvSpec& spec) {
  Policy policy(options.policy, spec.observation, spec.action_size);
  policy.initialise(options.seed);
  return policy;
}

/// What the rollouts of one iteration gave.
struct Rollouts {
  std::vector<double> fitness;
  std::uint64_t steps = 0;
  int unstable = 0;
  double seconds = 0;
};

class Trainer {
 public:
  explicit Trainer(const TrainOptions& options)
      : options_(options),
        make_env_(factory_of(options)),
        spec_(spec_of(make_env_)),
        identity_(identity_of(options, spec_)),
        policy_(initial_policy(options, spec_)),
        optimizer_(make_optimizer(options.optimizer, policy_.parameters(), options.seed)),
        pool_(make_env_, policy_.clone(), options.threads),
        population_(optimizer_->population() * optimizer_->parameters()) {
    state_.identity = identity_;
    keep_mean();
  }

  TrainResult run();

 private:
  bool finished() const {
    return optimizer_->iteration() >= static_cast<std::uint32_t>(options_.iterations) || !optimizer_->stop_reason().empty();
  }
  bool scheduled() const {
    const std::uint32_t iteration = optimizer_->iteration();
    return iteration == 0 || (options_.eval_every > 0 && iteration % static_cast<std::uint32_t>(options_.eval_every) == 0);
  }
  double seconds() const { return seconds_before_ + seconds_since(begin_); }

  bool load();
  void begin();
  void continue_files();
  void keep_mean() { mean_.assign(optimizer_->mean().begin(), optimizer_->mean().end()); }
  Rollouts play_population();
  void evaluate_mean(IterationReport& report);
  IterationReport report_of(const Rollouts& rollouts) const;
  void complete(IterationReport& report);
  bool iterate();
  std::string iterate_until_stopped();
  void save_checkpoint();
  TrainResult result_of(std::string stop_reason);
  void write_policy(const char* name, std::span<const float> parameters, std::uint32_t iteration, std::optional<double> value);
  void log(const std::string& line) {
    if (folder_) folder_->log(line);
  }

  const TrainOptions& options_;
  EnvFactory make_env_;
  EnvSpec spec_;
  Config identity_;
  Policy policy_;
  std::unique_ptr<Optimizer> optimizer_;
  RolloutPool pool_;
  std::vector<float> population_;

  std::optional<RunFolder> folder_;
  std::optional<MetricsFile> metrics_;
  std::unique_ptr<Progress> progress_;
  Clock::time_point begin_ = Clock::now();
  double seconds_before_ = 0;

  /// All but `optimizer`, which is taken when an iteration completes. An evaluation that only the end of the run asked for is not
  /// in it: a longer run would not have made it.
  Checkpoint state_;
  std::string complete_;  ///< the file for the last completed iteration; empty once it is written
  std::optional<double> end_eval_;
  std::vector<float> mean_;  ///< of the last completed iteration
};

bool Trainer::load() {
  auto found = find_checkpoint(folder_->path());
  if (!found) {
    if (!MetricsFile::has_iterations(folder_->file("metrics.csv"))) return false;
    throw Error(text("cannot resume '", folder_->path().string(),
                     "': it has a metrics.csv but no checkpoint.iap; begin anew in another folder with --out"));
  }
  const std::string source = folder_->file("checkpoint.iap").string();
  if (const auto difference = first_difference(found->checkpoint.identity, identity_); !difference.empty())
    throw Error(text("cannot resume '", folder_->path().string(), "' with other settings (", difference,
                     "); only iterations, threads, checkpoint_every and what is printed may change"));
  state_ = std::move(found->checkpoint);
  Reader reader(state_.optimizer, source);
  optimizer_->load(reader);
  if (!reader.at_end() || state_.best_parameters.size() != optimizer_->parameters() || optimizer_->iteration() != state_.iteration)
    throw Error(text(source, ": does not fit this program's policy and optimizer; it was written by another version"));
  if (!found->warning.empty()) {
    const std::string warning = text("warning: continuing from the previous checkpoint, because ", found->warning);
    log(warning);
    progress_->note(warning);
    restore_newest(folder_->path(), state_);
  }
  return true;
}

/// Brings the run to its first or next iteration.
void Trainer::begin() {
  const bool resumed = folder_ && options_.resume && load();
  if (folder_) {
    write_file_atomic(folder_->file("config.json"), to_json(run_config(options_, spec_), 2) + "\n");
    if (!options_.script.empty()) write_file_atomic(folder_->file("experiment.lua"), options_.script);
    log(text(resumed ? "resumes" : "begins", " at iteration ", optimizer_->iteration(), " of ", options_.iterations, ": ",
             spec_.name, ", ", policy_.size(), " parameters, population ", optimizer_->population(), ", ", pool_.threads(),
             " threads"));
  }
  progress_->start(optimizer_->iteration(), options_.iterations);
  if (resumed) return continue_files();
  IterationReport report = report_of({});
  if (folder_) metrics_.emplace(folder_->file("metrics.csv"), report.columns);
  evaluate_mean(report);
  state_.first_eval = report.eval_mean;
  complete(report);
}

/// Brings the files to where an uninterrupted run of as many iterations would have them.
void Trainer::continue_files() {
  IterationReport report = report_of({});
  Columns end;
  if (!scheduled()) {
    if (finished()) evaluate_mean(report);
    end = {{"eval_mean", finished() ? report.eval_mean : empty_cell}, {"eval_std", finished() ? report.eval_std : empty_cell}};
  }
  metrics_ = MetricsFile::resume(folder_->file("metrics.csv"), report.columns, state_.iteration, end);
  if (metrics_->rows() != state_.iteration + 1)
    log(text("warning: metrics.csv held ", metrics_->rows(), " of ", state_.iteration + 1, " rows"));
  seconds_before_ = metrics_->seconds();
  write_policy("best.iap", state_.best_parameters, state_.best_iteration, state_.best_eval);
  keep_mean();
}

/// Members of one group meet the same episodes.
std::uint32_t seed_group(EpisodeSeeds shared, std::size_t member) {
  switch (shared) {
    case EpisodeSeeds::common: return 0;
    case EpisodeSeeds::pairs: return static_cast<std::uint32_t>(member / 2);
    case EpisodeSeeds::own: break;
  }
  return static_cast<std::uint32_t>(member);
}

Rollouts Trainer::play_population() {
  const auto start = Clock::now();
  const std::size_t members = optimizer_->population(), size = optimizer_->parameters();
  const auto episodes = static_cast<std::size_t>(options_.episodes);
  optimizer_->ask(population_);
  std::vector<RolloutTask> tasks;
  for (std::size_t member = 0; member < members; ++member)
    for (std::size_t episode = 0; episode < episodes; ++episode)
      tasks.push_back(
          {std::span(population_).subspan(member * size, size), derive_seed({.seed = options_.seed,
                                                                             .iteration = optimizer_->iteration(),
                                                                             .member = seed_group(options_.episode_seeds, member),
                                                                             .episode = static_cast<std::uint32_t>(episode),
                                                                             .purpose = Purpose::environment})});
  const auto played = pool_.run(tasks);
  Rollouts rollouts;
  rollouts.fitness.resize(members);
  for (std::size_t i = 0; i < played.size(); ++i) {
    rollouts.fitness[i / episodes] += played[i].total / static_cast<double>(episodes);
    rollouts.steps += static_cast<std::uint64_t>(played[i].steps);
    rollouts.unstable += played[i].unstable;
  }
  rollouts.seconds = seconds_since(start);
  return rollouts;
}

/// Evaluates the optimizer's mean. What counts towards the best of the run is decided by the schedule alone.
void Trainer::evaluate_mean(IterationReport& report) {
  const auto parameters = optimizer_->mean();
  const Evaluation evaluation = evaluate(pool_, parameters, options_.eval_episodes, options_.seed);
  report.evaluated = true;
  report.eval_mean = evaluation.mean;
  report.eval_std = evaluation.standard_deviation;
  log(text("iteration ", optimizer_->iteration(), ": evaluation ", evaluation.mean, " [", evaluation.low, ", ", evaluation.high,
           "]"));
  if (!scheduled()) {
    end_eval_ = evaluation.mean;
    return;
  }
  state_.last_eval = evaluation.mean;
  if (!state_.best_parameters.empty() && !(evaluation.mean > state_.best_eval)) return;
  state_.best_eval = evaluation.mean;
  state_.best_iteration = optimizer_->iteration();
  state_.best_parameters.assign(parameters.begin(), parameters.end());
}

IterationReport Trainer::report_of(const Rollouts& rollouts) const {
  IterationReport report{.iteration = optimizer_->iteration()};
  double mean = empty_cell, deviation = empty_cell, best = empty_cell;
  if (!rollouts.fitness.empty()) {
    const auto count = static_cast<double>(rollouts.fitness.size());
    mean = deviation = 0;
    for (const double fitness : rollouts.fitness) mean += fitness / count;
    for (const double fitness : rollouts.fitness) deviation += (fitness - mean) * (fitness - mean) / count;
    deviation = std::sqrt(deviation);
    best = *std::ranges::max_element(rollouts.fitness);
    report.return_mean = mean;
    report.return_best = best;
    report.steps_per_second = static_cast<double>(rollouts.steps) / std::max(rollouts.seconds, 1e-9);
  }
  report.columns = {{"iteration", static_cast<double>(report.iteration)},
                    {"return_mean", mean},
                    {"return_std", deviation},
                    {"return_best", best},
                    {"eval_mean", empty_cell},
                    {"eval_std", empty_cell}};
  for (const auto& metric : optimizer_->metrics()) report.columns.push_back(metric);
  report.columns.emplace_back("steps", static_cast<double>(state_.steps));
  report.columns.emplace_back("unstable", rollouts.unstable);
  report.columns.emplace_back("seconds", empty_cell);
  report.columns.emplace_back("steps_per_second", rollouts.fitness.empty() ? empty_cell : report.steps_per_second);
  return report;
}

/// Puts a completed iteration on record: the row first, so that a checkpoint never knows more iterations than the table.
void Trainer::complete(IterationReport& report) {
  report.seconds = seconds();
  for (auto& [name, value] : report.columns) {
    if (name == "seconds") value = report.seconds;
    if (report.evaluated && name == "eval_mean") value = report.eval_mean;
    if (report.evaluated && name == "eval_std") value = report.eval_std;
  }
  state_.iteration = optimizer_->iteration();
  keep_mean();
  if (folder_) {
    metrics_->append(report.columns);
    Writer writer;
    optimizer_->save(writer);
    state_.optimizer = writer.bytes();
    complete_ = encode_checkpoint(state_);
    if (scheduled() && state_.best_iteration == state_.iteration)
      write_policy("best.iap", state_.best_parameters, state_.best_iteration, state_.best_eval);
    if (finished() || state_.iteration % static_cast<std::uint32_t>(options_.checkpoint_every) == 0) save_checkpoint();
  }
  progress_->update(report, std::max(state_.best_eval, end_eval_.value_or(state_.best_eval)));
}

/// One iteration; false if the host wants no more.
bool Trainer::iterate() {
  const Rollouts rollouts = play_population();
  optimizer_->tell(rollouts.fitness);
  state_.steps += rollouts.steps;
  IterationReport report = report_of(rollouts);
  if (scheduled() || finished()) evaluate_mean(report);
  complete(report);
  return !options_.on_iteration || options_.on_iteration(report);
}

void Trainer::save_checkpoint() {
  if (complete_.empty()) return;
  metrics_->sync();
  write_checkpoint(folder_->path(), complete_);
  complete_.clear();
}

void Trainer::write_policy(const char* name, std::span<const float> parameters, std::uint32_t iteration,
                           std::optional<double> value) {
  policy_.set_parameters(parameters);
  Config metadata = Config::Map{{"env", spec_.config},
                                {"iteration", static_cast<std::int64_t>(iteration)},
                                {"seed", static_cast<std::int64_t>(options_.seed)}};
  if (value) metadata["return"] = *value;
  write_policy_file(folder_->file(name), policy_, metadata);
}

/// Iterates to the end and names it. Whatever ends the run, the last completed iteration is on disk afterwards.
std::string Trainer::iterate_until_stopped() {
  try {
    begin();
    while (!finished())
      if (!iterate()) return "on_iteration";
    return optimizer_->stop_reason().empty() ? "iterations" : optimizer_->stop_reason();
  } catch (const Interrupted&) {
    return "interrupted";
  } catch (const std::exception& error) {
    log(text("error: ", error.what()));
    try {
      if (folder_) save_checkpoint();
    } catch (const Error& second) {
      log(text("error: ", second.what()));
    }
    throw;
  }
}

/// What the run came to; writes the files that only its end writes.
TrainResult Trainer::result_of(std::string stop_reason) {
  TrainResult result{.iterations = state_.iteration,
                     .first_eval = state_.first_eval,
                     .last_eval = end_eval_.value_or(state_.last_eval),
                     .best_eval = state_.best_eval,
                     .stop_reason = std::move(stop_reason),
                     .parameters = mean_,
                     .best_parameters = state_.best_parameters.empty() ? mean_ : state_.best_parameters,
                     .seconds = seconds()};
  const bool end_is_best = end_eval_ && *end_eval_ > state_.best_eval;
  if (end_is_best) {
    result.best_eval = *end_eval_;
    result.best_parameters = mean_;
  }
  if (folder_ && result.stop_reason != "interrupted") {
    const auto value = scheduled() ? std::optional(state_.last_eval) : end_eval_;
    if (end_is_best) write_policy("best.iap", mean_, state_.iteration, end_eval_);
    write_policy("final.iap", mean_, state_.iteration, value);
  }
  log(text("ends at iteration ", result.iterations, " after ", result.seconds, " s: ", result.stop_reason));
  return result;
}

TrainResult Trainer::run() {
  progress_ = make_progress(options_.quiet);
  if (!options_.out.empty()) folder_.emplace(options_.out, options_.resume, options_.script);
  std::string stop_reason = iterate_until_stopped();
  if (folder_) save_checkpoint();
  return result_of(std::move(stop_reason));
}

}  // namespace

TrainResult train(const TrainOptions& options) {
  check_options(options);
  try {
    return Trainer(options).run();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(text("train: ", error.what()));
  }
}

}  // namespace iap
