module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.train;
import iap.core;
import iap.optim;
import iap.policy;
import iap.rollout;
import :checkpoint;
import :evaluation;
import :metrics;
import :metrics_logs;
import :progress;
import :run_folder;
import :settings;
import :stages;
import :trainer;
import :types;

namespace iap {
namespace {

/// Of an iteration that log.txt tells one by one.
constexpr std::size_t most_told_failures = 5;

Messages difference(const Messages& now, const Messages& before) { return {now.count - before.count, now.bytes - before.bytes}; }

}  // namespace

ActionNoise Trainer::noise_of(std::size_t member, std::size_t episode) const {
  if (options_.action_noise == 0) return {};
  return {options_.action_noise, derive_seed({.seed = options_.seed,
                                              .iteration = optimizer_->iteration(),
                                              .member = static_cast<std::uint32_t>(member),
                                              .episode = static_cast<std::uint32_t>(episode),
                                              .purpose = Purpose::policy})};
}

/// How other processes draw this iteration's members themselves.
Derivation Trainer::derivation() const {
  Writer writer;
  optimizer_->save(writer);
  return {stage().optimizer, options_.seed, writer.bytes()};
}

/// @throws Error where the episodes of one iteration need too much memory.
void Trainer::check_iteration_memory(std::size_t members, int episodes) {
  check_task_memory(text("train: option 'episodes' (", episodes, " for each of ", members, " members)"),
                    static_cast<double>(members) * episodes);
}

Returns Trainer::play_population() {
  const auto start = Clock::now();
  const auto messages = pool_->messages();
  const std::size_t members = optimizer_->population(), size = optimizer_->parameters();
  const auto episodes = static_cast<std::size_t>(stage().episodes);
  check_iteration_memory(members, stage().episodes);
  optimizer_->ask_resized(population_);
  std::vector<RolloutTask> tasks;
  tasks.reserve(members * episodes);
  for (std::size_t member = 0; member < members; ++member)
    for (std::size_t episode = 0; episode < episodes; ++episode)
      tasks.push_back({std::span(population_).subspan(member * size, size),
                       training_seed(options_.seed, optimizer_->iteration(), options_.episode_seeds, member, episode),
                       std::span<const Moment>(state_.moments), noise_of(member, episode), static_cast<std::uint32_t>(member)});
  const auto played = optimizer_->derives() ? pool_->run_members(tasks, [this] { return derivation(); }) : pool_->run(tasks);
  tell_trouble(played, text("iteration ", optimizer_->iteration() + 1));
  Returns returns;
  returns.moments = state_.moments;
  auto& gathered = returns.moments;
  returns.fitness.resize(members);
  for (std::size_t i = 0; i < played.size(); ++i) {
    returns.fitness[i / episodes] += played[i].total / static_cast<double>(episodes);
    returns.steps += static_cast<std::uint64_t>(played[i].steps);
    returns.unstable += played[i].unstable;
    returns.failed += !played[i].failure.empty();
    // In the order of the tasks, so that sums do not depend on the number of threads.
    for (std::size_t k = 0; k < gathered.size(); ++k) gathered[k].merge(played[i].gathered[k]);
  }
  if (messages) returns.messages = difference(*pool_->messages(), *messages);
  returns.seconds = seconds_since(start);
  return returns;
}

/// Puts on record the episodes that have a `reason`, the first of the process where nobody misses it.
void Trainer::tell_each(std::span<const Episode> played, std::string Episode::* reason, const std::string& what,
                        std::string_view happened, std::uint64_t& told) {
  std::size_t found = 0;
  for (const Episode& episode : played) {
    if ((episode.*reason).empty() || ++found > most_told_failures) continue;
    const std::string counts = episode.failure.empty() ? "" : text(" and counts as ", episode.total);
    const std::string line = text(what, ": an episode ", happened, counts, ": ", episode.*reason);
    if (told + found > 1)
      log(line);
    else
      warn(text(line, " (further ones are ", folder_ ? "in log.txt)" : "only counted)"));
  }
  if (found > most_told_failures) {
    const std::size_t more = found - most_told_failures;
    log(text(what, ": ", more == 1 ? "1 more episode " : text("each of ", more, " more episodes "), happened));
  }
  told += found;
}

/// Puts on record which episodes count what was configured instead of a return of their own, and how many the simulator gave up,
/// which then pay nothing more.
void Trainer::tell_trouble(std::span<const Episode> played, const std::string& what) {
  tell_each(played, &Episode::failure, what, "failed", failed_);
  tell_each(played, &Episode::retried_for, what, "failed at first and was played again", repeated_);
  const auto first = std::ranges::find_if(played, &Episode::unstable);
  if (first != played.end())
    log(text(what, ": the simulation became unstable in ", std::ranges::count_if(played, &Episode::unstable), " of ", played.size(),
             " episodes (first at step ", first->steps, ")"));
}

/// Evaluates the optimizer's mean. What counts towards the best of the run is decided by the schedule alone.
void Trainer::evaluate_mean(IterationReport& report) {
  const auto parameters = evaluated_mean();
  const Evaluation evaluation = evaluate(evaluation_pool(), parameters, state_.moments, options_.eval_episodes, options_.seed);
  tell_trouble(evaluation.episodes, text("evaluation after iteration ", optimizer_->iteration()));
  report.evaluated = true;
  report.eval_mean = evaluation.mean;
  report.eval_std = evaluation.standard_deviation;
  const auto interval = std::isfinite(evaluation.low) ? text(" [", evaluation.low, ", ", evaluation.high, "]") : "";
  log(text("iteration ", optimizer_->iteration(), ": evaluation ", evaluation.mean, interval));
  const auto failed = static_cast<std::uint32_t>(failed_episodes(evaluation));
  if (!scheduled()) {
    end_eval_ = evaluation.mean;
    end_failed_ = failed;
    return;
  }
  state_.last_eval = evaluation.mean;
  if (!state_.best_parameters.empty() && !(evaluation.mean > state_.best_eval)) return;
  state_.best_eval = evaluation.mean;
  state_.best_iteration = optimizer_->iteration();
  state_.best_failed = failed;
  state_.best_parameters = parameters;
  state_.best_moments = state_.moments;
}

IterationReport Trainer::report_of(const Returns& returns) const {
  IterationReport report{.iteration = optimizer_->iteration()};
  double mean = empty_cell, deviation = empty_cell, best = empty_cell;
  if (!returns.fitness.empty()) {
    const auto count = static_cast<double>(returns.fitness.size());
    mean = deviation = 0;
    for (const double fitness : returns.fitness) mean += fitness / count;
    for (const double fitness : returns.fitness) deviation += (fitness - mean) * (fitness - mean) / count;
    deviation = std::sqrt(deviation);
    best = *std::ranges::max_element(returns.fitness);
    report.return_mean = mean;
    report.return_best = best;
    report.steps_per_second = static_cast<double>(returns.steps) / std::max(returns.seconds, 1e-9);
  }
  report.columns = {{"iteration", static_cast<double>(report.iteration)},
                    {"return_mean", mean},
                    {"return_std", deviation},
                    {"return_best", best},
                    {"eval_mean", empty_cell},
                    {"eval_std", empty_cell}};
  for (const auto& metric : optimizer_->metrics()) report.columns.push_back(metric);
  if (worlds_.stages.size() > 1) report.columns.emplace_back("stage", static_cast<double>(stage_ + 1));
  report.columns.emplace_back("steps", static_cast<double>(state_.steps));
  report.columns.emplace_back("unstable", returns.unstable);
  if (options_.safeguards.failed_return) report.columns.emplace_back("failed", returns.failed);
  report.columns.emplace_back("seconds", empty_cell);
  report.columns.emplace_back("steps_per_second", returns.fitness.empty() ? empty_cell : report.steps_per_second);
  if (pool_->messages()) {
    const auto cell = [&](std::uint64_t value) { return returns.fitness.empty() ? empty_cell : static_cast<double>(value); };
    report.columns.emplace_back("messages", cell(returns.messages.count));
    report.columns.emplace_back("bytes", cell(returns.messages.bytes));
  }
  return report;
}

/// Puts a completed iteration on record: the row first, so that a checkpoint never knows more iterations than the table.
void Trainer::complete(IterationReport& report) {
  if (folder_) look_after_tables(report.columns, static_cast<std::int64_t>(optimizer_->iteration()) - 1);
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
    logs_->append(report.columns);
    // Of a large covariance matrix each copy counts.
    {
      Writer writer;
      optimizer_->save(writer);
      state_.optimizer = writer.bytes();
    }
    complete_ = encode_checkpoint(state_);
    std::string().swap(state_.optimizer);
    if (scheduled() && state_.best_iteration == state_.iteration)
      write_policy("best.iap", state_.best_parameters, state_.best_moments, state_.best_iteration, state_.best_eval);
    if (finished() || state_.iteration % static_cast<std::uint32_t>(options_.checkpoint_every) == 0) save_checkpoint();
  }
  progress_->update(report, std::max(state_.best_eval, end_eval_.value_or(state_.best_eval)));
}

/// One iteration; false if the host wants no more.
bool Trainer::iterate() {
  advance();
  if (const auto reason = optimizer_->restart_reason(); !reason.empty())
    log(text("iteration ", optimizer_->iteration() + 1, " begins another search, with ", optimizer_->population(),
             " members: the last one ended (", reason, ")"));
  const Returns returns = play_population();
  optimizer_->tell(returns.fitness);
  state_.steps += returns.steps;
  played_ += returns.fitness.size() * static_cast<std::size_t>(stage().episodes);
  unstable_ += static_cast<std::uint64_t>(returns.unstable);
  state_.moments = returns.moments;
  IterationReport report = report_of(returns);
  if (scheduled() || finished()) evaluate_mean(report);
  complete(report);
  if (!options_.on_iteration || options_.on_iteration(report)) return true;
  if (!report.evaluated) evaluate_end(report);
  return false;
}

/// The columns of the last row that only its evaluation fills, or leaves empty.
Columns Trainer::evaluation_columns(const IterationReport& report) {
  return {{"eval_mean", report.evaluated ? report.eval_mean : empty_cell},
          {"eval_std", report.evaluated ? report.eval_std : empty_cell}};
}

/// Evaluates the mean of an iteration that turned out to be the last, and puts that into its row.
void Trainer::evaluate_end(IterationReport& report) {
  evaluate_mean(report);
  if (!folder_) return;
  look_after_tables(report.columns, state_.iteration);
  metrics_ = MetricsFile::resume(folder_->file("metrics.csv"), report.columns, state_.iteration, evaluation_columns(report));
  logs_ = MetricsLogs(folder_->path(), logs_->names());
}

}  // namespace iap
