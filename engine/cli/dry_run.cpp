#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.policy;
import iap.ranks;
import iap.rollout;
import iap.script;
import iap.train;
#include "core/there.hpp"

namespace iap::cli {
namespace {

/// What one episode takes: seconds on one thread, and steps.
struct Costs {
  double episode = 0, steps = 0;
};

std::int64_t integer_in(const Config& config, std::string_view key, std::int64_t fallback = 0) {
  const Config* found = config.find(key);
  return found ? found->integer().value_or(fallback) : fallback;
}

/// What is left to do of a run.
struct Rest {
  bool goes_on = false;         ///< there is something of it in its folder
  std::int64_t iterations = 0;  ///< of those that were asked for
  std::int64_t done = 0;        ///< those before, where some are left
  bool confirms = false;        ///< its best policy is still to be confirmed
};

Rest rest_of(const TrainingPlan& plan, const std::filesystem::path& folder) {
  Rest rest;
  for (const PlannedStage& stage : plan.stages) rest.iterations += stage.iterations;
  rest.done = integer_in(plan.config, "iterations") - rest.iterations;
  rest.goes_on = rest.done > 0 || (!folder.empty() && is_there(folder / "checkpoint.iap"));
  const std::int64_t confirmation = integer_in(plan.config, "confirm_episodes");
  const auto before = rest.iterations == 0 && rest.goes_on ? sound_summary(folder) : std::nullopt;
  rest.confirms = confirmation > 0 && !(before && before->confirmed && before->confirmed->episodes == confirmation);
  return rest;
}

std::string rest_text(const Rest& rest) {
  if (!rest.goes_on) return "";
  if (rest.iterations > 0) return text(": goes on from iteration ", rest.done);
  return rest.confirms ? ": what is left is to confirm its best policy" : ": nothing is left to do";
}

/// How long `episodes` take on so many threads, if all of them are busy to the end, in episodes.
double rounds(std::int64_t episodes, int threads) { return std::ceil(static_cast<double>(episodes) / threads); }

/// What is left to play beside the training.
struct Evaluations {
  std::int64_t count = 0, episodes = 0;  ///< of each
  std::int64_t confirmation = 0;         ///< episodes

  std::int64_t all() const { return count * episodes + confirmation; }
  /// One follows the other.
  double rounds_of_all(int threads) const {
    return static_cast<double>(count) * rounds(episodes, threads) + rounds(confirmation, threads);
  }
};

Evaluations evaluations_of(const Config& config, const Rest& rest) {
  const std::int64_t iterations = integer_in(config, "iterations"), every = integer_in(config, "eval_every");
  std::int64_t evaluations = rest.goes_on ? 0 : 1;
  if (rest.iterations > 0) evaluations += every > 0 ? (iterations + every - 1) / every - (rest.goes_on ? rest.done / every : 0) : 1;
  return {evaluations, integer_in(config, "eval_episodes"), rest.confirms ? integer_in(config, "confirm_episodes") : 0};
}

/// The options of a stage's environment that are not alike in all stages: ", 32 x 32 pixels, time_limit 20".
std::string differing_options(const PlannedStage& stage, const std::vector<PlannedStage>& stages) {
  std::string options;
  if (!stage.env.map()) return options;
  for (const auto& [key, value] : *stage.env.map()) {
    const auto differs = [&](const PlannedStage& other) {
      const Config* found = other.env.find(key);
      return !found || *found != value;
    };
    if (value.is_null() || !std::ranges::any_of(stages, differs)) continue;
    const Config::List* sizes = value.list();
    options += key == "pixels" && sizes && sizes->size() == 2
                   ? text(", ", sizes->front().describe(), " x ", sizes->back().describe(), " pixels")
                   : text(", ", key, " ", value.map() ? "{...}" : value.describe());
  }
  return options;
}

/// Plays untrained episodes as the run would, for a second, and then those same ones for a second more, which alone count: worlds
/// are built and backgrounds painted once in a run.
Costs measure_episodes(const Config& env, const Policy& policy, const Safeguards& safeguards) {
  RolloutPool pool([&env] { return make_env(env); }, policy.clone(), 1, safeguards, env);
  const auto play = [&](int seed) {
    const RolloutTask task{policy.parameters(), static_cast<std::uint64_t>(seed)};
    return pool.run({&task, 1}).front().steps;
  };
  const auto lasts = [](Clock::time_point since) { return seconds_since(since) < 1; };
  int met = 0;
  for (const auto begin = Clock::now(); met < 1 || lasts(begin); ++met) play(met);
  Costs costs;
  const auto begin = Clock::now();
  int played = 0;
  for (; played < 1 || (played < met && lasts(begin)); ++played) costs.steps += play(played);
  costs.episode = seconds_since(begin) / played;
  costs.steps /= played;
  return costs;
}

/// Seconds of one turn of the optimizer.
double measure_turn(const PlannedStage& stage) {
  const auto optimizer = make_optimizer(stage.optimizer, stage.policy.parameters(), 0);
  std::vector<float> members;
  std::vector<double> fitness;
  const auto turn = Clock::now();
  optimizer->ask_resized(members);
  for (std::size_t k = 0; k < optimizer->population(); ++k) fitness.push_back(std::cos(static_cast<double>(k)));
  optimizer->tell(fitness);
  return seconds_since(turn);
}

std::string duration_text(double seconds) {
  if (seconds < 100) return text(static_cast<int>(std::ceil(seconds)), " s");
  const auto minutes = static_cast<int>(std::ceil(seconds / 60));
  return minutes < 100 ? text(minutes, " min") : text(minutes / 60, " h ", minutes % 60, " min");
}

std::string short_number_text(double value) { return general_text(value, 3); }

std::string steps_text(double steps) { return fixed_text(steps, steps < 100 ? 1 : 0); }

void row(std::string_view name, const std::string& value) { std::cout << left_text(name, 13) << value << "\n"; }

/// Has each rank play an episode, which fails where one lacks what the others have. Returns how many are played at a time.
int try_all_ranks(const Config& env, const Policy& policy, int threads, const Safeguards& safeguards) {
  const auto rollouts = open_rollouts(env, [&env] { return make_env(env); }, policy.clone(), threads, safeguards);
  if (const auto& launch = launched()) {
    const std::vector<RolloutTask> tasks(static_cast<std::size_t>(launch->size), {policy.parameters(), 0});
    rollouts->run(tasks);
  }
  return rollouts->threads();
}

}  // namespace

int dry_run(const std::filesystem::path& file, RunSettings settings) {
  check_is_script(file);
  const int asked = settings.threads.value_or(0);
  Script script(std::move(settings));
  catch_interrupts(&script);
  catch_termination();
  const Rehearsal rehearsal = script.rehearse(file, true);
  catch_interrupts(nullptr);
  std::fflush(stdout);
  if (rehearsal.trainings == 0) {
    std::cout << file.string() << " trains nothing\n";
    return Exit::success;
  }
  const TrainingPlan& plan = *rehearsal.plan;
  const Rest rest = rest_of(plan, rehearsal.out);
  const PolicyFile& begin = *plan.result.policy;
  const Config& env = *begin.metadata.find("env");
  const int threads = try_all_ranks(env, begin.policy, asked, plan.safeguards);
  row("environment", describe(make_env(plan.stages.empty() ? env : plan.stages.front().env)->spec()));
  row("policy", text(begin.policy.size(), " parameters"));
  row("optimizer", text(*plan.config.find("optimizer")->find("kind")->string(), ", seed ", integer_in(plan.config, "seed")));
  row("folder", rehearsal.out.empty() ? "none: nothing is written" : rehearsal.out.string() + rest_text(rest));
  double all = 0;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const PlannedStage& stage = plan.stages[i];
    const bool several = plan.stages.size() > 1;
    if (stage.iterations == 0) {
      if (several && rest.iterations > 0) row(text("stage ", i + 1), "done");
      continue;
    }
    check_interrupt();
    if (launched()) try_all_ranks(stage.env, stage.policy, asked, plan.safeguards);
    const Costs costs = measure_episodes(stage.env, stage.policy, plan.safeguards);
    const double turn = measure_turn(stage);
    const auto episodes = static_cast<std::int64_t>(stage.population) * stage.episodes;
    const double iteration = rounds(episodes, threads) * costs.episode + turn;
    all += stage.iterations * iteration;
    const std::string counted = several ? stage.iterations == 1 ? " iteration" : " iterations" : "";
    row(several ? text("stage ", i + 1) : "iterations",
        text(stage.iterations, counted, " of ", stage.population, " members, ", stage.episodes,
             stage.episodes == 1 ? " episode each" : " episodes each", differing_options(stage, plan.stages), ": ",
             short_number_text(iteration), " s each (an untrained episode: ", steps_text(costs.steps), " steps, ",
             short_number_text(costs.episode), " s on one thread; the optimizer: ", short_number_text(turn), " s)"));
  }
  const Evaluations evaluated = evaluations_of(plan.config, rest);
  if (evaluated.all() > 0 || rest.iterations > 0 || !rest.goes_on) {
    // They may play in a world of their own, with episodes longer than any of training.
    const Costs costs = evaluated.all() > 0 ? measure_episodes(env, begin.policy, plan.safeguards) : Costs{};
    const double evaluations = evaluated.rounds_of_all(threads) * costs.episode;
    row("evaluations", text(evaluated.all(), " episodes in all: ", short_number_text(evaluations), " s (an untrained episode: ",
                            steps_text(costs.steps), " steps, ", short_number_text(costs.episode), " s on one thread)"));
    row("expected", text(duration_text(all + evaluations), " on ", threads, threads == 1 ? " thread" : " threads",
                         ", if episodes stay as long as they are untrained"));
  }
  if (rehearsal.trainings > 1) row("", "the script trains more than once; this is the first training");
  return Exit::success;
}

}  // namespace iap::cli
