#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/sweep.hpp"
import iap.core;
import iap.script;
import iap.train;

#include "core/there.hpp"
#include "train/run_files.hpp"

namespace iap::cli {
namespace {

/// "optimizer.sigma=0.05, policy.blocks.1.heads=4"
std::string settings_text(const SweepList& list, std::size_t combination) {
  std::string words;
  for (std::size_t i = 0; i < list.options.size(); ++i)
    words += (i ? ", " : "") + list.options[i].path + "=" + list.combinations[combination].values[i];
  return words;
}

/// A script's message names its overrides as --set; ours came by --over.
std::string as_swept(std::string message, const SweepList& list) {
  for (const auto& option : list.options)
    if (const auto found = message.find("--set " + option.path); found != std::string::npos) message.replace(found, 5, "--over");
  return message;
}

Rehearsal rehearse(const SweepCommand& command, const SweepList& list, const SweepJob& job, const std::vector<std::string>& more) {
  RunSettings settings = command.run;
  settings.overrides = overrides_of(command, list, job.combination);
  settings.overrides.insert(settings.overrides.end(), more.begin(), more.end());
  settings.seed = job.seed;
  settings.threads = 1;
  settings.out = job.folder;
  settings.resume = settings.single = true;
  try {
    return Script(std::move(settings)).rehearse(command.file);
  } catch (const Error& error) {
    const auto words = settings_text(list, job.combination);
    throw Error(text(words.empty() ? "" : "with " + words + ": ", as_swept(error.what(), list)));
  }
}

std::int64_t integer_of(const Config& config, const char* key) {
  const Config* found = config.find(key);
  return found ? found->integer().value_or(0) : 0;
}

/// What the script does instead of one training with the seed and in the folder that it is told, or "".
std::string unfit(const SweepJob& job, const Rehearsal& rehearsal) {
  if (rehearsal.trainings == 0) return "it never calls iap.train";
  if (rehearsal.trainings > 1) return "it calls iap.train more than once";
  if (rehearsal.out.lexically_normal() != job.folder.lexically_normal())
    return text("it trains in '", rehearsal.out.string(), "' where --out says '", job.folder.string(),
                "' (out = iap.run_folder(NAME), or no out, takes what --out says)");
  const auto seed = integer_of(rehearsal.plan->config, "seed");
  if (static_cast<std::uint64_t>(seed) != job.seed) return text("it trains with seed ", seed, " where --seed says ", job.seed);
  return "";
}

/// Of a text that may be a whole model its beginning, and what tells it from others: a sweep keeps the settings of all its runs.
Config shortened(Config config) {
  constexpr std::size_t kept = 200;
  if (const auto* whole = config.string(); whole && whole->size() > 2 * kept)
    return text(whole->substr(0, kept), " ... ", whole->size(), " ", crc32(*whole));
  if (auto* items = config.list())
    for (auto& item : *items) item = shortened(std::move(item));
  if (auto* entries = config.map())
    for (auto& [key, value] : *entries) value = shortened(std::move(value));
  return config;
}

/// A plan's settings as config.json would hold them.
Config written(Config config) {
  config.map()->erase("given");
  return shortened(parse_json(to_json(config), "settings"));
}

/// By their names, the instructions and libraries' versions that runs were computed with.
using Computations = std::map<std::string, std::set<std::string>>;

void add_computation(Computations& all, const Config& settings) {
  const auto add = [&all](const std::string& name, const Config* found) {
    if (found && found->string()) all[name].insert(*found->string());
  };
  add("instructions", settings.find("instructions"));
  const Config* libraries = settings.find("libraries");
  if (!libraries || !libraries->map()) return;
  for (const auto& [name, version] : *libraries->map()) add(name, &version);
}

}  // namespace

std::optional<Config> settings_on_record(const std::filesystem::path& folder) {
  // What is in the way of one run is told when that one is begun.
  if (const auto path = folder / "config.json"; is_private(path) || !is_there(path)) return {};
  auto config = sound_config(folder);
  if (config) config = shortened(*std::move(config));
  return config;
}

std::string holds_another_run(const SweepJob& job, const Config& planned) {
  const auto there = settings_on_record(job.folder);
  const auto difference = there ? settings_difference(*there, planned) : "";
  if (difference.empty()) return "";
  return text("'", job.folder.string(), "' holds a run with other settings (", difference,
              "); choose another folder with --out, or remove that run to begin it anew");
}

SweepPlan check_script(const SweepCommand& command, const SweepList& list) {
  SweepPlan plan{.script = read_file(command.file)};
  std::int64_t iterations = -1;
  for (const SweepJob& job : list.jobs) {
    const Rehearsal rehearsal = rehearse(command, list, job, {});
    if (const auto reason = unfit(job, rehearsal); !reason.empty())
      throw Error(
          text("iap sweep needs a script that calls iap.train exactly once, with the seed and the folder that it is given; ",
               command.file.string(), " is another: ", reason));
    plan.settings.push_back(written(rehearsal.plan->config));
    if (const auto why = holds_another_run(job, plan.settings.back()); !why.empty()) throw Error(why);
    const auto wanted = integer_of(rehearsal.plan->config, "iterations");
    if (command.halving && iterations >= 0 && wanted != iterations)
      throw Error(text("--halving: with ", settings_text(list, job.combination), " the script trains ", wanted,
                       " iterations, with other settings ", iterations, "; they must be as many for all"));
    iterations = std::max(iterations, wanted);
  }
  plan.iterations = static_cast<int>(iterations);
  return plan;
}

std::vector<int> sweep_rungs(const SweepCommand& command, const SweepList& list, int iterations) {
  std::vector<int> rungs{iterations};
  if (!command.halving) return rungs;
  const auto factor = static_cast<std::size_t>(*command.halving);
  if (list.combinations.size() < factor)
    throw Error(text("--halving ", factor, " keeps one of ", factor, " combinations; there ",
                     list.combinations.size() == 1 ? "is 1" : text("are ", list.combinations.size()),
                     "; give more values to --over"));
  for (auto left = list.combinations.size() / factor; left > 0 && rungs.front() >= *command.halving; left /= factor)
    rungs.insert(rungs.begin(), rungs.front() / *command.halving);
  if (rungs.size() == 1)
    throw Error(text("--halving ", factor, ": a run of ", iterations, " iterations cannot be divided by ", factor));
  const auto whole = rehearse(command, list, list.jobs.front(), {}).plan->config;
  const auto part = rehearse(command, list, list.jobs.front(), {text("iterations=", rungs.front())}).plan->config;
  if (integer_of(part, "iterations") != rungs.front())
    throw Error(text("--halving: ", command.file.string(), " trains ", integer_of(part, "iterations"),
                     " iterations where --set iterations=", rungs.front(), " asks for ", rungs.front()));
  if (const auto difference = settings_difference(part, whole); !difference.empty())
    throw Error(text("--halving: a shorter run of ", command.file.string(), " is not the beginning of a longer one (", difference,
                     "); its settings must not follow from its iterations"));
  return rungs;
}

void check_sweep_folder(const SweepList& list) {
  std::error_code ignored;
  for (const auto& job : list.jobs)
    if (is_link(job.folder))
      throw Error(text("'", job.folder.string(), "' is a link to '", std::filesystem::read_symlink(job.folder, ignored).string(),
                       "', and a run's files would be written there; put the folder itself in its place"));
  std::filesystem::path written_over;
  for (const char* name : {"report.html", "sweep.csv"})
    if (const auto path = run_file(list.folder, name); is_there(path)) written_over = path;
  if (written_over.empty() || holds_runs(list.folder)) return;
  throw Error(
      text("'", written_over.string(),
           "' is not of a sweep, no run of which lies beside it, and would be written over; choose another folder with --out"));
}

std::string other_texts(const SweepCommand& command, const SweepList& list, const SweepPlan& plan,
                        const std::vector<std::size_t>& jobs) {
  const auto is_of_another = [&](std::size_t job) {
    try {
      const std::string experiment = read_run_script(list.jobs[job].folder);
      return !experiment.empty() && !is_of_script(experiment, plan.script);
    } catch (const Error&) {
      return false;  // who needs the file says so
    }
  };
  const auto runs = std::ranges::count_if(jobs, is_of_another);
  if (runs == 0) return "";
  return text("note: ", runs, runs == 1 ? " run was" : " runs were", " made by another text of ", command.file.string(),
              ", which is in ", runs == 1 ? "its" : "their", " experiment.lua; --out FOLDER runs ", runs == 1 ? "it" : "them all",
              " by this one");
}

std::string other_bits(const SweepList& list, const SweepPlan& plan, const std::vector<std::size_t>& jobs) {
  Computations all;
  for (const std::size_t job : jobs)
    if (read_record(list.jobs[job].folder).status != JobRecord::Status::done) add_computation(all, plan.settings[job]);
  for (const SweepJob& job : list.jobs) try {
      if (const auto settings = settings_on_record(job.folder)) add_computation(all, *settings);
    } catch (const Error&) {
      continue;  // who needs the file says so
    }
  std::string unlike;
  for (const auto& [name, values] : all) {
    if (values.size() < 2) continue;
    unlike += (unlike.empty() ? "" : "; ") + name;
    for (const auto& value : values) unlike += (value == *values.begin() ? " " : ", ") + value;
  }
  if (unlike.empty()) return "";
  return text("note: not all runs are computed alike (", unlike,
              "): their last bits are not those of a sweep on one machine; with --portable, the same packages on all hosts and "
              "another --out they are");
}

void check_passed(const SweepList& list, const std::vector<std::size_t>& jobs, const std::vector<int>& rungs, bool collect) {
  for (const std::size_t job : jobs) {
    const auto& folder = list.jobs[job].folder;
    const bool told_alone = read_record(folder).status == JobRecord::Status::failed || !record_flaw(folder).empty();
    // Downwards: to a collector, what a rung knew is told by who went beyond it.
    bool counts = false;
    for (auto rung = rungs.rbegin(); rung != rungs.rend(); ++rung) try {
        counts |= passed_figures(folder, *rung).has_value();
      } catch (const NotEvaluated&) {
        if (!told_alone && !(collect && counts)) throw;
      } catch (const Error&) {
        break;  // who reads that run says so
      }
  }
}

}  // namespace iap::cli
