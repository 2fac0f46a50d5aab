#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/policy_env.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.policy;
import iap.rollout;
import iap.train;

namespace iap::cli {
namespace {

/// Full precision: the file is for further computation.
std::string exact(double value) { return general_text(value, 17); }

/// How many episodes have a `reason`, `what` that means, and the first of them; "" if none.
std::string lines_of(const std::vector<Episode>& episodes, std::string Episode::* reason, const char* name,
                     const std::string& what) {
  const auto has = [reason](const Episode& episode) { return !(episode.*reason).empty(); };
  const auto count = std::ranges::count_if(episodes, has);
  if (count == 0) return "";
  const auto first = std::ranges::find_if(episodes, has);
  return text(name, count, what, "\nnote                episode ", first - episodes.begin() + 1, ": ", one_line((*first).*reason),
              "\n");
}

/// How many episodes an unstable simulation ended, and where first; "" if none.
std::string unstable_text(const std::vector<Episode>& episodes) {
  const auto count = std::ranges::count_if(episodes, &Episode::unstable);
  if (count == 0) return "";
  const auto first = std::ranges::find_if(episodes, &Episode::unstable);
  return text(count, " of ", episodes.size(), ": the simulation became unstable (first: episode ", first - episodes.begin() + 1,
              ", step ", first->steps, ")");
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

/// The first evaluation episodes of a run's own seed are those which chose its best policy: there it does better than elsewhere,
/// whatever its file is called. A policy without a return is of a run that chose none.
std::string selection_note(const Config& metadata, std::uint64_t seed) {
  const Config* own = metadata.find("seed");
  const bool same = own && own->integer() == static_cast<std::int64_t>(seed);
  return same && metadata.find("return") ? ", the run's own: among them are those which chose its best policy" : "";
}

/// Episode, step and the action's values; an episode that failed has no row.
std::string actions_of(const Evaluation& evaluation, int action_size) {
  const auto size = static_cast<std::size_t>(action_size);
  std::string rows;
  for (std::size_t i = 0; i < evaluation.episodes.size(); ++i) {
    const std::span<const float> actions = evaluation.episodes[i].actions;
    for (std::size_t step = 0; step * size < actions.size(); ++step) {
      rows += text(i + 1, ",", step);
      for (const float value : actions.subspan(step * size, size)) rows += text(",", hex_text(value));
      rows += "\n";
    }
  }
  return rows;
}

/// Where one cannot be written, the other is not left behind alone.
void write_tables(const EvalOptions& options, const Evaluation& evaluation, int action_size) {
  std::vector<std::unique_ptr<PartFile>> tables;
  const auto prepare = [&tables](const std::optional<std::filesystem::path>& path, const auto& content) {
    if (path) tables.emplace_back(std::make_unique<PartFile>(*path))->append(content());
  };
  prepare(options.csv, [&] { return csv_of(evaluation, options.safeguards.failed_return.has_value()); });
  prepare(options.actions, [&] { return actions_of(evaluation, action_size); });
  for (const auto& table : tables) table->commit();
}

/// Says that what a policy earns depends on which worker plays which episode, where it does: of several. Not where episodes are
/// kept apart from this process, as what may hang has no trial in it.
void warn_of_kept(const Policy& policy, int episodes, const Safeguards& safeguards) {
  if (episodes < 2 || safeguards.isolated()) return;
  if (const auto kept = kept_across_episodes(policy); !kept.empty()) std::cerr << one_line("warning: policy: " + kept) << "\n";
}

}  // namespace

int eval(const EvalOptions& options) {
  catch_interrupts(nullptr);
  catch_termination();
  check_outputs({{"--csv", options.csv}, {"--actions", options.actions}}, {options.source.policy});
  for (const auto& file : {options.csv, options.actions})
    if (file) check_data_name(*file, "a table");
  OpenedPolicy opened = open_source(options.source);
  const std::string fitted = fit_policy(opened, options.fit);
  const Safeguards& safeguards = options.safeguards;
  warn_of_kept(opened.policy, options.episodes, safeguards);
  const auto evaluation =
      evaluate(opened.policy, opened.env, options.episodes, options.seed, options.threads, safeguards, options.actions.has_value());
  write_tables(options, evaluation, opened.policy.action_size());
  std::cout << "policy              " << policy_line(opened) << "\n"
            << "environment         " << env_line(opened);
  for (const std::string& note : {opened.carried, fitted})
    if (!note.empty()) std::cout << "\nnote                " << note;
  std::cout << "\n"
            << "episodes            " << evaluation.episodes.size() << " (seed " << options.seed
            << selection_note(opened.metadata, options.seed) << ")\n"
            << "mean return         " << return_text(evaluation.mean) << "\n";
  std::cout << lines_of(evaluation.episodes, &Episode::failure, "failed episodes     ",
                        text(", each counts as ", safeguards.failed_return.value_or(0)))
            << lines_of(evaluation.episodes, &Episode::retried_for, "repeated episodes   ", ", which failed at first");
  if (const std::string unstable = unstable_text(evaluation.episodes); !unstable.empty())
    std::cout << "unstable episodes   " << unstable << "\n";
  if (evaluation.episodes.size() > 1)
    std::cout << "standard deviation  " << return_text(evaluation.standard_deviation) << "\n"
              << "95% interval        " << return_text(evaluation.low) << " to " << return_text(evaluation.high) << "\n";
  else
    std::cout << "95% interval        none: one episode does not show how far returns spread\n";
  return Exit::success;
}

}  // namespace iap::cli
