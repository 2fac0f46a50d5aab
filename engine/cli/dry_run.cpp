#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
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
import iap.rollout;
import iap.script;
import iap.train;

namespace iap::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// What one episode takes on one thread, and one turn of the optimizer.
struct Costs {
  double episode = 0, steps = 0, turn = 0;
};

std::int64_t integer_in(const Config& config, std::string_view key, std::int64_t fallback = 0) {
  const Config* found = config.find(key);
  return found ? found->integer().value_or(fallback) : fallback;
}

/// Episodes of all evaluations and of the confirmation.
std::int64_t evaluated_episodes(const Config& config) {
  const std::int64_t iterations = integer_in(config, "iterations"), every = integer_in(config, "eval_every");
  const std::int64_t evaluations = every > 0 ? 1 + (iterations + every - 1) / every : 2;
  return evaluations * integer_in(config, "eval_episodes") + integer_in(config, "confirm_episodes");
}

/// Plays untrained episodes for a second, two at least.
Costs measure(const PlannedStage& stage) {
  const auto env = make_env(stage.env);
  Policy policy = stage.policy.clone();
  Costs costs;
  const auto begin = Clock::now();
  int played = 0;
  for (; played < 2 || seconds_since(begin) < 1; ++played)
    costs.steps += run_episode(*env, policy, static_cast<std::uint64_t>(played)).steps;
  costs.episode = seconds_since(begin) / played;
  costs.steps /= played;
  const auto optimizer = make_optimizer(stage.optimizer, policy.parameters(), 0);
  std::vector<float> members;
  std::vector<double> fitness;
  const auto turn = Clock::now();
  optimizer->ask_resized(members);
  for (std::size_t k = 0; k < optimizer->population(); ++k) fitness.push_back(std::cos(static_cast<double>(k)));
  optimizer->tell(fitness);
  costs.turn = seconds_since(turn);
  return costs;
}

std::string duration_text(double seconds) {
  if (seconds < 100) return text(static_cast<int>(std::ceil(seconds)), " s");
  const auto minutes = static_cast<int>(std::ceil(seconds / 60));
  return minutes < 100 ? text(minutes, " min") : text(minutes / 60, " h ", minutes % 60, " min");
}

std::string short_number_text(double value) { return general_text(value, 3); }

void row(std::string_view name, const std::string& value) { std::cout << left_text(name, 13) << value << "\n"; }

/// How long `episodes` take on so many threads, if all of them are busy to the end.
double rounds(std::int64_t episodes, int threads) { return std::ceil(static_cast<double>(episodes) / threads); }

}  // namespace

int dry_run(const std::filesystem::path& file, RunSettings settings) {
  const int asked = settings.threads.value_or(0);
  Script script(std::move(settings));
  catch_interrupts(&script);
  const Rehearsal rehearsal = script.rehearse(file);
  catch_interrupts(nullptr);
  if (rehearsal.trainings == 0) {
    std::cout << file.string() << " trains nothing\n";
    return Exit::success;
  }
  const TrainingPlan& plan = *rehearsal.plan;
  const PolicyFile& begin = *plan.result.policy;
  const Config& env = *begin.metadata.find("env");
  const auto factory = [&env] { return make_env(env); };
  const int threads = open_rollouts(env, factory, begin.policy.clone(), asked)->threads();
  row("environment", describe(make_env(plan.stages.empty() ? env : plan.stages.front().env)->spec()));
  row("policy", text(begin.policy.size(), " parameters"));
  row("optimizer", text(*plan.config.find("optimizer")->find("kind")->string(), ", seed ", integer_in(plan.config, "seed")));
  row("folder", rehearsal.out.empty() ? "none: nothing is written" : rehearsal.out.string());
  double all = 0;
  Costs costs;
  for (const PlannedStage& stage : plan.stages) {
    check_interrupt();
    costs = measure(stage);
    const auto episodes = static_cast<std::int64_t>(stage.population) * stage.episodes;
    const double iteration = rounds(episodes, threads) * costs.episode + costs.turn;
    all += stage.iterations * iteration;
    row(plan.stages.size() > 1 ? "stage" : "iterations",
        text(stage.iterations, " of ", stage.population, " members, ", stage.episodes,
             stage.episodes == 1 ? " episode each: " : " episodes each: ", short_number_text(iteration),
             " s each (an untrained episode: ", short_number_text(costs.steps), " steps, ", short_number_text(costs.episode),
             " s on one thread; the optimizer: ", short_number_text(costs.turn), " s)"));
  }
  const std::int64_t evaluated = evaluated_episodes(plan.config);
  const double evaluations = rounds(evaluated, threads) * costs.episode;
  row("evaluations", text(evaluated, " episodes in all: ", short_number_text(evaluations), " s"));
  row("expected", text(duration_text(all + evaluations), " on ", threads, threads == 1 ? " thread" : " threads",
                       ", if episodes stay as long as they are untrained"));
  if (rehearsal.trainings > 1) row("", "the script trains more than once; this is the first training");
  return Exit::success;
}

}  // namespace iap::cli
