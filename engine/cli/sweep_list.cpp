#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/sweep.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.script;
import iap.train;
#include "core/path_endings.hpp"
#include "script/spellings.hpp"

namespace iap::cli {
namespace {

constexpr std::size_t most_jobs = 100'000;
/// An option that takes fractions holds the same for 1 and for 1.0.
constexpr auto same_number = WholeNumbers::same_as_fractions;

/// "60,[1,2],\"a,b\"" at the commas that stand in neither brackets nor quotes.
std::vector<std::string> split_values(std::string_view values) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false, escaped = false;
  for (const char c : values) {
    if (c == '"' && !escaped) quoted = !quoted;
    escaped = quoted && c == '\\' && !escaped;
    if (!quoted) depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (c == ',' && !quoted && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Why the runs of a sweep take an option from nothing but the sweep itself, or "".
std::string belongs_to_sweep(const std::string& path) {
  if (path == "seed") return "seeds have an option of their own: --seeds N, and --seed for the first";
  if (path == "out" || path == "resume") return "each run has its own folder below --out";
  return "";
}

/// Why an option cannot be swept, or "".
std::string refusal(const std::string& path, bool halving) {
  if (auto reason = belongs_to_sweep(path); !reason.empty()) return reason;
  if (path == "threads") return "it changes no result; --threads sets it for all runs";
  if (is_manner(path) || path == "checkpoint_every" || path == "log")
    return text("it changes no result; --set ", path, "=VALUE sets it for all runs");
  if (path == "iterations" && halving) return "--halving sets the iterations itself";
  return "";
}

/// Whether one of two paths is the other or inside it.
bool overlap(const std::string& a, const std::string& b) {
  return (a + ".").starts_with(b + ".") || (b + ".").starts_with(a + ".");
}

void check_paths(const std::vector<SweptOption>& options, const SweepCommand& command) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& path = options[i].path;
    if (const auto reason = refusal(path, command.halving.has_value()); !reason.empty())
      throw Error(text("--over ", path, ": ", reason));
    for (std::size_t k = 0; k < i; ++k)
      if (overlap(path, options[k].path))
        throw Error(path == options[k].path ? text("--over ", path, " was given twice; write all its values behind one")
                                            : text("--over ", path, " and --over ", options[k].path, " set the same option"));
    for (const auto& assignment : command.run.overrides)
      if (const auto given = read_override(assignment, "env.action_repeat=2").path; overlap(path, given))
        throw Error(text("--over ", path, " and --set ", given, " set the same option; leave one out"));
  }
  for (const auto& assignment : command.run.overrides) {
    const auto given = read_override(assignment, "env.action_repeat=2").path;
    const auto reason = given == "threads" ? "each run gets its own; give --threads" : belongs_to_sweep(given);
    if (!reason.empty()) throw Error(text("--set ", given, ": ", reason));
  }
}

void name_options(std::vector<SweptOption>& options) {
  std::vector<std::string> paths;
  for (const auto& option : options) paths.push_back(option.path);
  const auto endings = path_endings(paths);
  for (std::size_t i = 0; i < options.size(); ++i) options[i].name = endings[i];
}

std::string joined(const std::vector<std::string>& values) {
  std::string all;
  for (const auto& value : values) all += (all.empty() ? "" : ",") + value;
  return all;
}

/// Gives combinations whose values differ only in what a file's name cannot hold names of their own. These follow from the values
/// that are alike, not from their order, or a later sweep would take one's run for the other's.
void tell_names_apart(std::vector<Combination>& all) {
  std::vector<bool> told(all.size());
  for (bool changed = true; changed;) {
    changed = false;
    std::map<std::string, std::vector<std::size_t>> called;
    for (std::size_t i = 0; i < all.size(); ++i) called[all[i].name].push_back(i);
    for (const auto& [name, alike] : called) {
      if (alike.size() < 2) continue;
      if (std::ranges::all_of(alike, [&](std::size_t i) { return told[i]; }))
        throw Error(text("--over: ", joined(all[alike[0]].values), " and ", joined(all[alike[1]].values),
                         " would have the same folder, '", name, "'; sweep one of them with another --out"));
      for (const std::size_t i : alike) {
        if (told[i]) continue;
        all[i].name += text("-", crc32(joined(all[i].values)));
        changed = told[i] = true;
      }
    }
  }
}

/// What stands before each option's value in a combination's name.
std::vector<std::string> labels_of(const std::vector<SweptOption>& options) {
  std::vector<std::string> labels;
  for (const auto& option : options) labels.push_back((labels.empty() ? "" : ",") + option.name + "=");
  return labels;
}

/// Gives combinations without runs of their own the names of those in `folder` that have runs and say the same in other words: .1
/// that of 0.1. Not where the name alone does not tell what its runs' values were.
void take_names_there(std::vector<Combination>& all, const std::vector<SweptOption>& options, const std::filesystem::path& folder) {
  if (options.empty()) return;
  std::set<std::string> taken, there;
  std::map<std::string, std::string> said;
  const auto labels = labels_of(options);
  for (const auto& run : names_in(folder)) {
    const auto seed = run.rfind("-seed");
    if (seed == std::string::npos || run.find_first_not_of("0123456789", seed + 5) != std::string::npos) continue;
    const auto name = run.substr(0, seed);
    if (auto meaning = meaning_in_name(name, "", labels, same_number); !meaning.empty()) said.emplace(std::move(meaning), name);
    there.insert(name);
  }
  for (const auto& combination : all) taken.insert(combination.name);
  for (auto& combination : all) {
    const auto meaning = meaning_of(combination.values, same_number);
    if (there.contains(combination.name) || meaning_in_name(combination.name, "", labels, same_number) != meaning) continue;
    const auto found = said.find(meaning);
    if (found != said.end() && taken.insert(found->second).second) combination.name = found->second;
  }
}

std::vector<Combination> product(const std::vector<SweptOption>& options) {
  std::vector<Combination> all(1);
  const auto labels = labels_of(options);
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::vector<Combination> longer;
    for (const auto& combination : all)
      for (const auto& value : options[i].values) {
        longer.push_back(combination);
        longer.back().values.push_back(value);
        longer.back().name += labels[i];
        append_plain(longer.back().name, value);
      }
    if (longer.size() > most_jobs) throw Error(text("--over: more than ", most_jobs, " combinations; take fewer values"));
    all = std::move(longer);
  }
  for (auto& combination : all) combination.name = shortened_name(combination.name);
  tell_names_apart(all);
  return all;
}

}  // namespace

SweptOption read_swept_option(const std::string& over) {
  const auto equals = over.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(text("--over ", over, ": write it as path=value,value, such as optimizer.sigma=0.05,0.1"));
  SweptOption option{.path = over.substr(0, equals), .name = "", .values = split_values(std::string_view(over).substr(equals + 1))};
  std::map<std::string, std::string> seen;
  for (const auto& value : option.values) {
    if (value.empty())
      throw Error(
          text("--over ", over, ": a value is missing; write ", option.path, "=VALUE,VALUE without spaces or empty places"));
    const auto [before, added] = seen.emplace(meaning_of({value}, same_number), value);
    if (!added)
      throw Error(text("--over ", option.path, ": ", value, " stands there twice",
                       before->second == value ? "" : text(" (also as ", before->second, ")"), "; each value is run once"));
  }
  return option;
}

SweepPart read_sweep_part(const std::string& part) {
  const auto slash = part.find('/');
  if (slash == std::string::npos) throw Error(text("--job ", part, ": write it as I/N, such as 1/8, with I from 1 to N"));
  const auto of = read_integer("--job I/N", part.substr(slash + 1), 1, most_jobs);
  return {static_cast<std::size_t>(read_integer("--job I/N", part.substr(0, slash), 1, of)), static_cast<std::size_t>(of)};
}

SweepList sweep_list(const SweepCommand& command) {
  SweepList list;
  list.folder = command.run.out.value_or(std::filesystem::path("runs/sweeps") / command.file.stem());
  for (const auto& over : command.over) list.options.push_back(read_swept_option(over));
  check_paths(list.options, command);
  name_options(list.options);
  list.combinations = product(list.options);
  take_names_there(list.combinations, list.options, list.folder);
  const std::uint64_t first = command.run.seed.value_or(1);
  const auto seeds = static_cast<std::uint64_t>(command.seeds);
  if (first > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) - (seeds - 1))
    throw Error(text("--seed ", first, ": with --seeds ", seeds, " the last seed is too large; the largest is 2^63 - 1"));
  if (list.combinations.size() * seeds > most_jobs)
    throw Error(
        text("--seeds: ", list.combinations.size(), " combinations of ", seeds, " seeds are more than ", most_jobs, " runs"));
  for (std::uint64_t seed = first; seed < first + seeds; ++seed)
    for (std::size_t i = 0; i < list.combinations.size(); ++i) {
      const auto& name = list.combinations[i].name;
      const std::string full = text(name, name.empty() ? "seed" : "-seed", seed);
      list.jobs.push_back({i, seed, full, list.folder / full});
    }
  return list;
}

std::vector<std::string> overrides_of(const SweepCommand& command, const SweepList& list, std::size_t combination) {
  auto overrides = command.run.overrides;
  for (std::size_t i = 0; i < list.options.size(); ++i)
    overrides.push_back(list.options[i].path + "=" + list.combinations[combination].values[i]);
  return overrides;
}

std::vector<std::size_t> jobs_of_part(const SweepCommand& command, const SweepList& list) {
  const SweepPart part = command.part.value_or(SweepPart());
  std::vector<std::size_t> jobs;
  for (std::size_t i = part.number - 1; i < list.jobs.size(); i += part.of) jobs.push_back(i);
  return jobs;
}

}  // namespace iap::cli
