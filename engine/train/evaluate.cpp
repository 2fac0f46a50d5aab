module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>
module iap.train;
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import :evaluation;
import :run_state;
#include "core/there.hpp"

namespace iap {

void check_task_memory(std::string_view what, double episodes) {
  check_memory(what, (sizeof(RolloutTask) + sizeof(Episode)) * episodes);
}

Evaluation evaluate(Rollouts& pool, std::span<const float> parameters, std::span<const Moment> moments, int episodes,
                    std::uint64_t seed, EpisodeSet set, bool keep_actions) {
  if (episodes < 1) throw Error(text("evaluate: the number of episodes must be positive, got ", episodes));
  check_task_memory(text("evaluate: the number of episodes (", episodes, ")"), episodes);
  std::vector<RolloutTask> tasks;
  tasks.reserve(static_cast<std::size_t>(episodes));
  Evaluation evaluation;
  for (int episode = 0; episode < episodes; ++episode) {
    evaluation.seeds.push_back(evaluation_seed(seed, static_cast<std::size_t>(episode), set));
    tasks.push_back({.parameters = parameters, .seed = evaluation.seeds.back(), .moments = moments, .keep_actions = keep_actions});
  }
  evaluation.episodes = pool.run(tasks);
  const double count = episodes;
  for (const Episode& episode : evaluation.episodes) evaluation.mean += episode.total;
  evaluation.mean /= count;
  // Where the sum of finite returns is more than a double holds, their mean is not.
  if (!std::isfinite(evaluation.mean)) {
    evaluation.mean = 0;
    for (const Episode& episode : evaluation.episodes) evaluation.mean += episode.total / count;
  }
  if (episodes == 1) return evaluation;
  double square = 0;
  for (const Episode& episode : evaluation.episodes)
    square += (episode.total - evaluation.mean) * (episode.total - evaluation.mean);
  evaluation.standard_deviation = std::sqrt(square / (count - 1));
  const double half_width = student_t_quantile(0.975, count - 1) * evaluation.standard_deviation / std::sqrt(count);
  evaluation.low = evaluation.mean - half_width;
  evaluation.high = evaluation.mean + half_width;
  return evaluation;
}

int failed_episodes(const Evaluation& evaluation) {
  return static_cast<int>(
      std::ranges::count_if(evaluation.episodes, [](const Episode& episode) { return !episode.failure.empty(); }));
}

namespace {

Evaluation evaluate_in(const Config& env, const EnvFactory& factory, const Policy& policy, int episodes, std::uint64_t seed,
                       int threads, const Safeguards& safeguards, bool keep_actions = false) {
  const auto pool = open_rollouts(env, factory, policy.clone(), threads, safeguards);
  return evaluate(*pool, policy.parameters(), policy.moments(), episodes, seed, EpisodeSet::selection, keep_actions);
}

}  // namespace

Evaluation evaluate(const Policy& policy, const EnvFactory& factory, int episodes, std::uint64_t seed, int threads,
                    const Safeguards& safeguards) {
  return evaluate_in({}, factory, policy, episodes, seed, threads, safeguards);
}

Evaluation evaluate(const Policy& policy, const Config& env, int episodes, std::uint64_t seed, int threads,
                    const Safeguards& safeguards, bool keep_actions) {
  // What was given may name files, which other processes need not have; what it became holds their texts.
  const Config whole = make_env(env)->spec().config;
  return evaluate_in(whole, [&whole] { return make_env(whole); }, policy, episodes, seed, threads, safeguards, keep_actions);
}

std::filesystem::path policy_path(const std::filesystem::path& run_or_policy, std::optional<PolicyChoice> choice) {
  const auto best = run_or_policy / "best.iap", final = run_or_policy / "final.iap";
  const auto status = status_of(run_or_policy);
  if (!std::filesystem::is_directory(status)) {
    // What is not there at all is told as anywhere else, by who opens it.
    if (choice && std::filesystem::exists(status))
      throw Error(text("'", run_or_policy.string(), "' is not a folder: best or final can only be chosen where a run left both"));
    return run_or_policy;
  }
  const bool has_best = is_there(best), has_final = is_there(final);
  if (!has_best && !has_final)
    throw Error(
        text("'", run_or_policy.string(), "' has no best.iap and no final.iap; it is not the folder of a run that evaluated"));
  if (choice == PolicyChoice::final && !has_final)
    throw Error(
        text("'", run_or_policy.string(), "' has no final.iap: the run has not ended; continue it, or take the best policy"));
  if (choice == PolicyChoice::best && !has_best)
    throw Error(text("'", run_or_policy.string(), "' has no best.iap: the run never evaluated; take the final policy (final)"));
  return run_file(run_or_policy, choice == PolicyChoice::final || !has_best ? "final.iap" : "best.iap");
}

PolicyFile open_policy(const std::filesystem::path& run_or_policy, Trust trust) {
  return read_policy_file(policy_path(run_or_policy), trust);
}

}  // namespace iap
