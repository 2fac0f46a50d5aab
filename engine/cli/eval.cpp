#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/policy_env.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import iap.train;

namespace iap::cli {
namespace {

std::string fixed(double value) { return fixed_text(value, 2); }

/// Full precision: the file is for further computation.
std::string exact(double value) { return general_text(value, 17); }

/// Those that count `failed_return`.
std::ptrdiff_t failed_episodes(const Evaluation& evaluation) {
  return std::ranges::count_if(evaluation.episodes, [](const Episode& episode) { return !episode.failure.empty(); });
}

std::string csv_of(const Evaluation& evaluation, bool with_failed) {
  std::string rows = text("episode,seed,return,steps,terminated,truncated,unstable", with_failed ? ",failed\n" : "\n");
  for (std::size_t i = 0; i < evaluation.episodes.size(); ++i) {
    const auto& episode = evaluation.episodes[i];
    rows += text(i + 1, ",", evaluation.seeds[i], ",", exact(episode.total), ",", episode.steps, ",", episode.terminated, ",",
                 episode.truncated, ",", episode.unstable, with_failed ? text(",", !episode.failure.empty()) : "", "\n");
  }
  return rows;
}

/// The first evaluation episodes of a run's own seed are those which chose its best policy: there it does better than elsewhere.
std::string selection_note(const std::filesystem::path& path, const Config& metadata, std::uint64_t seed) {
  const Config* own = metadata.find("seed");
  const bool same = own && own->integer() == static_cast<std::int64_t>(seed);
  return same && path.filename() == "best.iap" ? ", the run's own: among them are those which chose this policy" : "";
}

/// Plays the episodes once more, one after the other, and keeps every action.
std::string actions_of(const Evaluation& evaluation, Policy& policy, const Config& env_config) {
  const auto env = make_env(env_config);
  std::string rows;
  for (std::size_t i = 0; i < evaluation.seeds.size(); ++i) {
    int step = 0;
    run_episode(*env, policy, evaluation.seeds[i], [&](const Observation&, std::span<const float> action, const Policy&) {
      rows += text(i + 1, ",", step++);
      for (const float value : action) rows += text(",", hex_text(value));
      rows += "\n";
    });
  }
  return rows;
}

}  // namespace

int eval(const EvalOptions& options) {
  catch_interrupts(nullptr);
  for (const auto* written : {&options.csv, &options.actions})
    if (*written) check_place(**written);
  OpenedPolicy opened = open_source(options.source);
  const std::string fitted = fit_policy(opened, options.fit);
  const Safeguards& safeguards = options.safeguards;
  const auto evaluation = evaluate(opened.policy, opened.env, options.episodes, options.seed, options.threads, safeguards);
  if (options.csv) write_file_atomic(*options.csv, csv_of(evaluation, safeguards.failed_return.has_value()));
  if (options.actions) write_file_atomic(*options.actions, actions_of(evaluation, opened.policy, opened.env));
  std::cout << "policy              " << policy_line(opened) << "\n"
            << "environment         " << env_line(opened);
  if (!fitted.empty()) std::cout << "\nnote                " << fitted;
  std::cout << "\n"
            << "episodes            " << evaluation.episodes.size() << " (seed " << options.seed
            << selection_note(opened.path, opened.metadata, options.seed) << ")\n"
            << "mean return         " << fixed(evaluation.mean) << "\n";
  if (const auto failed = failed_episodes(evaluation); failed > 0)
    std::cout << "failed episodes     " << failed << ", each counts as " << text(*safeguards.failed_return) << "\n";
  if (evaluation.episodes.size() > 1)
    std::cout << "standard deviation  " << fixed(evaluation.standard_deviation) << "\n"
              << "95% interval        " << fixed(evaluation.low) << " to " << fixed(evaluation.high) << "\n";
  else
    std::cout << "95% interval        none: one episode does not show how far returns spread\n";
  return Exit::success;
}

}  // namespace iap::cli
