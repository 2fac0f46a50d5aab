#include <cmath>
#include <cstdio>
#include <iostream>
#include <span>
#include <string>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/policy_env.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import iap.train;

namespace iap::cli {
namespace {

std::string fixed(double value) {
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.2f", value);
  return digits;
}

/// Full precision: the file is for further computation.
std::string exact(double value) {
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.17g", value);
  return digits;
}

std::string csv_of(const Evaluation& evaluation) {
  std::string rows = "episode,seed,return,steps,terminated,truncated,unstable\n";
  for (std::size_t i = 0; i < evaluation.episodes.size(); ++i) {
    const auto& episode = evaluation.episodes[i];
    rows += text(i + 1, ",", evaluation.seeds[i], ",", exact(episode.total), ",", episode.steps, ",", episode.terminated, ",",
                 episode.truncated, ",", episode.unstable, "\n");
  }
  return rows;
}

/// Plays the episodes once more, one after the other, and keeps every action.
std::string actions_of(const Evaluation& evaluation, Policy& policy, const Config& env_config) {
  const auto env = make_env(env_config);
  std::string rows;
  for (std::size_t i = 0; i < evaluation.seeds.size(); ++i) {
    int step = 0;
    run_episode(*env, policy, evaluation.seeds[i], [&](const Observation&, std::span<const float> action, const Policy&) {
      rows += text(i + 1, ",", step++);
      for (const float value : action) rows += text(",", std::hexfloat, value);
      rows += "\n";
    });
  }
  return rows;
}

}  // namespace

int eval(const EvalOptions& options) {
  catch_interrupts(nullptr);
  PolicyFile file = open_policy(options.policy, options.trust);
  const Config env = policy_env(file, options.policy, options.env, options.overrides);
  const auto evaluation = evaluate(file.policy, env, options.episodes, options.seed, options.threads);
  if (options.csv) write_file_atomic(*options.csv, csv_of(evaluation));
  if (options.actions) write_file_atomic(*options.actions, actions_of(evaluation, file.policy, env));
  const auto* name = env.find("name");
  std::cout << "environment         " << (name && name->string() ? *name->string() : env.describe());
  for (const auto& assignment : options.overrides) std::cout << " " << assignment;
  std::cout << "\n"
            << "episodes            " << evaluation.episodes.size() << " (seed " << options.seed << ")\n"
            << "mean return         " << fixed(evaluation.mean) << "\n"
            << "standard deviation  " << fixed(evaluation.standard_deviation) << "\n"
            << "95% interval        " << fixed(evaluation.low) << " to " << fixed(evaluation.high) << "\n";
  return Exit::success;
}

}  // namespace iap::cli
