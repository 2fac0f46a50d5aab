module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.train;
import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.policy;
import iap.rollout;
import :evaluation;
import :initial;
import :progress;
import :run_folder;
import :run_state;
import :settings;
import :stages;
import :trainer;
import :types;
#include "core/held_interrupt.hpp"
#include "core/walk_config.hpp"

namespace iap {
namespace {

/// Behind a figure of so many episodes, ", 3 of 16 episodes failed and count as -1", or "" where none did.
std::string failed_text(std::uint32_t failed, int episodes, const Safeguards& safeguards) {
  if (failed == 0) return "";
  const auto& counts = safeguards.failed_return;
  return text(", ", failed, " of ", episodes, " episodes failed", counts ? text(" and count as ", short_number(*counts)) : "");
}

/// How the best policy did on fresh episodes; a single one shows no interval.
std::string confirmed_text(const Confirmation& confirmed, const Safeguards& safeguards) {
  std::string notes;
  if (std::isfinite(confirmed.low))
    notes = text(", 95% interval ", short_number(confirmed.low), " to ", short_number(confirmed.high));
  notes += failed_text(static_cast<std::uint32_t>(confirmed.failed), confirmed.episodes, safeguards);
  return text(", that policy on ", confirmed.episodes, confirmed.episodes == 1 ? " fresh episode " : " fresh episodes ",
              short_number(confirmed.mean), notes.empty() ? "" : text(" (", notes.substr(2), ")"));
}

std::string interrupted_text() {
  return text("interrupted", interrupt_signal() != 0 ? " by " + signal_name(interrupt_signal()) : "");
}

/// One step of the policy in the world that its file names.
void play_step(PolicyFile& file, const Config& world, std::uint64_t seed) {
  const auto env = make_env(world);
  const EnvSpec& spec = env->spec();
  env->reset(seed);
  file.policy.reset(seed);
  file.policy.act(env->observe());
  const std::vector<float> action(static_cast<std::size_t>(spec.action_size), 0.5F * (spec.action_low + spec.action_high));
  env->step(action);
}

/// The same in a process of its own, where no world may be built in this one.
void play_isolated(const PolicyFile& file, Config world, std::uint64_t seed, Safeguards safeguards) {
  world["time_limit"] = 1;
  constexpr double most_seconds = 10;
  safeguards.retries = 0;
  safeguards.failed_return.reset();
  safeguards.episode_timeout = safeguards.episode_timeout > 0 ? std::min(safeguards.episode_timeout, most_seconds) : most_seconds;
  RolloutPool pool([&world] { return make_env(world); }, file.policy.clone(), 1, safeguards, world);
  const RolloutTask task{.parameters = file.policy.parameters(), .seed = seed};
  pool.run(std::span(&task, 1));
}

std::size_t marks_in(const Config& config) {
  std::size_t count = 0;
  walk_config(config, [&count](const std::string&, const std::string* name, const Config&) {
    if (name && *name == "loaded_from") ++count;
    return true;
  });
  return count;
}

/// Whether some Lua in `config` came out of no file: what did is marked already.
bool runs_free(const Config& config, ConfigKind kind) {
  Config marked = config;
  confine_lua(marked, "best.iap", kind);
  return marks_in(marked) != marks_in(config);
}

}  // namespace

PolicyFile Trainer::policy_of(std::span<const float> parameters, std::span<const Moment> moments, std::uint32_t iteration,
                              std::optional<double> value) const {
  Policy policy = evaluation().policy.clone();
  policy.set_parameters(parameters);
  policy.set_moments(moments);
  Config metadata = options_.make_env ? Config(Config::Map{}) : env_record(evaluation().spec);
  metadata["iteration"] = static_cast<std::int64_t>(iteration);
  metadata["seed"] = static_cast<std::int64_t>(options_.seed);
  if (value) metadata["return"] = *value;
  return {std::move(policy), std::move(metadata)};
}

void Trainer::write_policy(const char* name, std::span<const float> parameters, std::span<const Moment> moments,
                           std::uint32_t iteration, std::optional<double> value) {
  // Whatever a checkpoint knows of the best policy, its file has: an interrupt waits.
  for (;;) try {
      const HeldInterrupt interrupt;
      const PolicyFile file = policy_of(parameters, moments, iteration, value);
      const auto path = folder_->file(name);
      const std::string bytes = save_policy(file.policy, file.metadata);
      // Of a run that had come to its end before, most is there, and needs no room.
      if (!ended_before_ || !holds(path, bytes)) write_file_atomic(path, bytes);
      return;
    } catch (const Interrupted&) {
      continue;  // it came meanwhile, and is held now
    }
}

/// Lua that the run's own script may run as it likes is confined wherever its best.iap is played: what is then refused at the first
/// step is told before hours are spent on it.
void Trainer::check_confined() {
  if (options_.make_env) return;
  const Policy& own_policy = evaluation().policy;
  if (!runs_free(own_policy.architecture(), ConfigKind::policy) && !runs_free(evaluation().spec.config, ConfigKind::env)) return;
  const auto complaint_of = [this](const auto& file_of) -> std::string {
    try {
      PolicyFile file = file_of();
      const Config* own = recorded_env(file.metadata);
      if (own && options_.safeguards.isolated())
        play_isolated(file, *own, options_.seed, options_.safeguards);
      else if (own)
        play_step(file, *own, options_.seed);
      return "";
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      return error.what();
    }
  };
  const std::string complaint = complaint_of([this] { return read_policy_file(folder_->file("best.iap")); });
  if (complaint.empty()) return;
  // Other faults may be the world's own, which are told where it is played. The file has forgotten which texts a stranger's were,
  // and must not be trusted to find that out.
  const auto as_it_runs = [this] { return policy_of(state_.best_parameters, state_.best_moments, state_.best_iteration, {}); };
  const bool asks = trust_asked(complaint) != std::string::npos;
  if (!asks && !complaint_of(as_it_runs).empty()) return;
  warn(text("the run's policy will not play without trust: ", complaint, asks ? "" : " (with --trust it plays)"));
}

/// What the run came to; writes the files that only its end writes.
TrainResult Trainer::result_of(std::string stop_reason) {
  const bool evaluated = !state_.best_parameters.empty();
  TrainResult result{.iterations = state_.iteration,
                     .first_eval = evaluated ? state_.first_eval : empty_cell,
                     .last_eval = evaluated ? end_eval_.value_or(state_.last_eval) : empty_cell,
                     .best_eval = evaluated ? state_.best_eval : empty_cell,
                     .best_iteration = state_.best_iteration,
                     .best_failed = evaluated ? state_.best_failed : 0,
                     .stop_reason = std::move(stop_reason),
                     .parameters = mean_,
                     .best_parameters = evaluated ? state_.best_parameters : mean_,
                     .seconds = seconds()};
  const auto& best_moments = evaluated ? state_.best_moments : mean_moments_;
  const bool end_is_best = end_eval_ && *end_eval_ > state_.best_eval;
  if (end_is_best) {
    result.best_eval = *end_eval_;
    result.best_iteration = state_.iteration;
    result.best_failed = end_failed_;
    result.best_parameters = mean_;
  }
  // Of what is complete: where an evaluation was interrupted, the optimizer is further.
  const auto value = evaluated && mean_scheduled_ ? std::optional(state_.last_eval) : end_eval_;
  if (folder_ && result.stop_reason != "interrupted") {
    if (end_is_best) write_policy("best.iap", mean_, mean_moments_, state_.iteration, end_eval_);
    write_policy("final.iap", mean_, mean_moments_, state_.iteration, value);
  }
  result.policy = std::make_shared<PolicyFile>(policy_of(result.parameters, mean_moments_, result.iterations, value));
  result.best_policy = std::make_shared<PolicyFile>(
      policy_of(result.best_parameters, end_is_best ? mean_moments_ : best_moments, result.best_iteration,
                evaluated ? std::optional(result.best_eval) : std::optional<double>()));
  log(text("ends at iteration ", result.iterations, " after ", result.seconds,
           " s: ", result.stop_reason == "interrupted" ? interrupted_text() : result.stop_reason));
  return result;
}

/// Plays the best policy on episodes that no choice depended on, and writes result.json. That the run ended in good order does not
/// depend on it: what goes wrong is told, and the next `resume` tries again.
void Trainer::confirm(TrainResult& result) {
  const int episodes = confirm_episodes(options_);
  try {
    if (episodes > 0 && is_confirmed() && ended_before_->best_iteration == result.best_iteration) {
      result.confirmed = ended_before_->confirmed;
    } else if (episodes > 0) {
      const Evaluation played = evaluate(evaluation_pool(), result.best_parameters, result.best_policy->policy.moments(), episodes,
                                         options_.seed, EpisodeSet::confirmation);
      tell_trouble(played.episodes, "confirmation");
      result.confirmed =
          Confirmation{episodes, played.mean, played.standard_deviation, played.low, played.high, failed_episodes(played)};
      const auto interval = std::isfinite(played.low) ? text(" [", played.low, ", ", played.high, "]") : "";
      log(text("best policy (iteration ", result.best_iteration, ") on ", episodes,
               episodes == 1 ? " fresh episode: " : " fresh episodes: ", played.mean, interval));
    }
  } catch (const Interrupted&) {
    log(text("the confirmation of the best policy is left to do: ", interrupted_text()));
    return;
  } catch (const std::exception& error) {
    warn(text("the best policy could not be confirmed: ", error.what()));
  }
  if (folder_)
    write_summary(folder_->path(), {.iterations = result.iterations,
                                    .stop_reason = result.stop_reason,
                                    .first_eval = result.first_eval,
                                    .last_eval = result.last_eval,
                                    .best_eval = result.best_eval,
                                    .best_iteration = result.best_iteration,
                                    .best_failed = result.best_failed,
                                    .confirmed = result.confirmed});
}

void Trainer::tell_end(const TrainResult& result) {
  progress_->end();
  if (const std::string line = pool_->summary(); !line.empty()) log(line);
  std::string line = text(result.stop_reason == "interrupted" ? "interrupted after" : "ends at", " iteration ", result.iterations);
  if (std::cmp_less_equal(result.iterations, options_.iterations)) line += text(" of ", options_.iterations);
  if (result.stop_reason != "interrupted" && result.stop_reason != "iterations") line += text(" (", result.stop_reason, ")");
  if (std::isfinite(result.best_eval))
    line += text("; best evaluation ", short_number(result.best_eval), " (iteration ", result.best_iteration,
                 failed_text(result.best_failed, options_.eval_episodes, options_.safeguards), ")");
  if (result.confirmed) line += confirmed_text(*result.confirmed, options_.safeguards);
  progress_->note(place() + line);
  if (repeated_ > 0)
    progress_->note(text(place(), repeated_,
                         repeated_ == 1 ? " episode failed at first and was" : " episodes failed at first and were",
                         " played again, which changes no result", folder_ ? ": log.txt says why" : ""));
  if (failed_ > 0)
    progress_->note(text(place(), failed_, " episodes failed and count as failed_return = ", *options_.safeguards.failed_return,
                         ": ", folder_ ? "log.txt says why" : "give the run a folder to learn why"));
  if (unstable_ > 0)
    progress_->note(text(place(), "the simulation became unstable in ", unstable_, " of ", played_,
                         " training episodes, which ended there: look at the model and its time step, or limit the actions"));
}

}  // namespace iap
