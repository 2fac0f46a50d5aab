module;
#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import iap.optim;
import iap.policy;
import iap.train;
import :html;
import :run_data;
#include "core/files_read.hpp"
#include "core/path_endings.hpp"

namespace iap {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

bool is_plain(const Config& value) { return !value.map() && !value.list(); }

/// Characters of a setting that are shown in full.
constexpr std::size_t longest_setting = 4096;

/// A long value by its beginning and what tells it apart: `words` are what would be shown, as far as somebody wrote them.
std::string shortened(std::string_view words, std::string_view whole) {
  constexpr std::size_t beginning = 256;
  return text(printable(words.substr(0, whole_characters(words, beginning))), " ... (", whole.size() >> 10, " kB, sum ",
              crc32(whole), ")");
}

std::string shown_text(const std::string& string) { return string.size() <= longest_setting ? string : shortened(string, string); }

std::string shown(const Config& value) {
  if (value.string()) return shown_text(*value.string());
  if (value.boolean()) return *value.boolean() ? "yes" : "no";
  if (value.is_null()) return "–";
  if (const auto number = value.number()) {
    constexpr double longest = 1e15;
    return *number == std::floor(*number) && std::abs(*number) < longest ? figure(*number) : csv_cell(*number);
  }
  if (value.map()) return shown_text(to_json(value));
  std::string words;
  for (const auto& item : *value.list()) {
    words += (words.empty() ? "" : ", ") + shown(item);
    if (words.size() > longest_setting) return shortened(words, to_json(value));
  }
  return words;
}

/// 1 and 1.0 are the same value.
std::string exact(const Config& value) {
  if (const auto whole = value.integer()) return std::to_string(*whole);
  const auto* list = value.list();
  if (!list) return to_json(value);
  std::string items;
  for (const auto& item : *list) items += (items.empty() ? "" : ",") + exact(item);
  return "[" + items + "]";
}

/// A table's key as a part of a path.
std::string path_part(const std::string& key) {
  const bool plain = key.find_first_of(".\"") == std::string::npos && key.find_first_not_of("0123456789") != std::string::npos;
  return plain ? key : to_json(key);
}

/// The record of what environments read, by the files' names.
constexpr std::string_view files_record = "files";

/// That record, and all other settings.
std::pair<Settings, Settings> files_apart(const Settings& settings) {
  std::pair<Settings, Settings> apart;
  for (const auto& setting : settings) (first_part(setting.first) == files_record ? apart.first : apart.second).insert(setting);
  return apart;
}

/// Whether `record` of files says what `earlier` says, and more: programs kept none at first, and then a shorter one.
bool completes(const Settings& record, const Settings& earlier) {
  return record != earlier && std::ranges::all_of(earlier, [&](const auto& file) {
           const auto found = record.find(file.first);
           return found != record.end() && without_ends(found->second.shown) == file.second.shown;
         });
}

/// The key under which an environment's config holds the files of its model.
constexpr std::string_view model_files = "model_files";

/// Two files of a model are the same, as far as a reader can tell, if their summaries are.
std::string summary(const Config& file) {
  const std::string content = file.string() ? *file.string() : to_json(file);
  return text(content.size() >> 10, " kB, sum ", crc32(content));
}

/// Writes a run's settings down by their paths. What they take is counted: paths of deep tables repeat each other's beginnings,
/// and each value may be long, so that a file of megabytes could become a page of gigabytes.
class Flattener {
 public:
  Settings settings;

  void add(const Config& value, const std::string& path) {
    count(path);
    const auto below = [&](std::string_view key) { return path.empty() ? std::string(key) : text(path, ".", key); };
    if (path.ends_with(model_files) && value.map()) {
      for (const auto& [name, content] : *value.map()) put(below(name), {summary(content), summary(content)});
    } else if (const auto* map = value.map()) {
      for (const auto& [key, item] : *map) add(item, below(path == files_record ? key : path_part(key)));
    } else if (const auto* list = value.list(); list && !std::ranges::all_of(*list, is_plain)) {
      for (std::size_t i = 0; i < list->size(); ++i) add((*list)[i], below(std::to_string(i + 1)));
    } else {
      put(path, {shown_text(exact(value)), shown(value)});
    }
  }

 private:
  void count(const std::string& words) {
    constexpr std::size_t most = std::size_t{8} << 20;
    bytes_ += words.size();
    if (bytes_ > most)
      throw Error(text("the settings of a run have names and values of more than ", memory_text(static_cast<double>(most)),
                       " together, the most that is shown; its config.json is none that iap wrote"));
  }
  void put(const std::string& path, Setting value) {
    count(path);
    count(value.shown);
    settings[path] = std::move(value);
  }

  std::size_t bytes_ = 0;
};

/// What somebody wrote down tells groups apart in fewer words than all that followed from it.
const Config& asked_for(const Config& config) {
  const Config* given = config.find("given");
  return given && given->map() ? *given : config;
}

/// "sigma=0.2" of the folders sigma=0.2-seed1 and sigma=0.2-seed2; a single run's whole name; "" where names have no common
/// beginning.
std::string folder_name(const RunGroup& group) {
  const std::string& first = group.runs.front().name;
  if (group.runs.size() == 1) return first;
  std::size_t common = first.size();
  for (const Run& run : group.runs)
    common = std::min(common, static_cast<std::size_t>(std::ranges::mismatch(first, run.name).in1 - first.begin()));
  // Never within a letter of several bytes.
  while (common > 0 && common < first.size() && (static_cast<unsigned char>(first[common]) & 0xC0) == 0x80) --common;
  std::string name = first.substr(0, common);
  constexpr std::string_view seed = "-seed";
  const auto end = name.rfind(seed);
  if (end != std::string::npos && name.find_first_not_of("0123456789", end + seed.size()) == std::string::npos) name.erase(end);
  return name;
}

/// A name for each group after its folders, where possible another one than for the others.
std::vector<std::string> folder_names(const std::vector<RunGroup>& groups) {
  std::vector<std::string> common, names;
  for (const auto& group : groups) common.push_back(folder_name(group));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& runs = groups[i].runs;
    const bool tells = !common[i].empty() && std::ranges::count(common, common[i]) == 1;
    names.push_back(tells || runs.size() == 1 ? common[i] : text(runs.front().name, " and ", runs.size() - 1, " more"));
  }
  return names;
}

/// "sigma 0.2, top 10": the settings in which they differ, unless these are too many.
std::vector<std::string> labels_of(const std::vector<Settings>& all) {
  constexpr std::size_t most_in_a_label = 3;
  std::vector<std::string> labels(all.size());
  const auto differing = differing_settings(all);
  if (differing.size() > most_in_a_label) return labels;
  const std::vector<std::string> paths(differing.begin(), differing.end());
  const auto endings = path_endings(paths);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < paths.size(); ++k)
      if (const auto found = all[i].find(paths[k]); found != all[i].end())
        labels[i] += (labels[i].empty() ? "" : ", ") + endings[k] + " " + found->second.shown;
  return labels;
}

void name_groups(std::vector<RunGroup>& groups) {
  if (groups.size() == 1) {
    const Config* name = env_name(groups.front().runs.front().config);
    groups.front().label = name ? shown(*name) : groups.front().runs.front().name;
    return;
  }
  std::vector<Settings> all;
  for (const auto& group : groups) all.push_back(flat_settings(asked_for(group.runs.front().config)));
  // The script's own options mostly are what it was asked for in other words.
  if (std::set(all.begin(), all.end()).size() < all.size())
    for (std::size_t i = 0; i < groups.size(); ++i)
      all[i].merge(flat_settings(Config::Map{{"script_options", script_options_of(groups[i].runs.front().config)}}));
  tell_values_apart(all);
  const auto names = folder_names(groups), labels = labels_of(all);
  for (std::size_t i = 0; i < groups.size(); ++i)
    groups[i].label = !labels[i].empty() && std::ranges::count(labels, labels[i]) == 1 ? labels[i] : names[i];
}

/// With their band. Where only some of the seeds have a value, their mean would jump: there it has none, with a gap or without.
Curve mean_of_seeds(const std::map<double, std::vector<double>>& by_iteration, std::size_t seeds, bool gaps) {
  Curve mean;
  for (const auto& [iteration, values] : by_iteration) {
    const bool whole = values.size() == seeds;
    if (!whole && !gaps) continue;
    double sum = 0;
    for (const double value : values) sum += value;
    mean.x.push_back(iteration);
    mean.y.push_back(whole ? sum / static_cast<double>(seeds) : missing);
    mean.low.push_back(whole ? std::ranges::min(values) : missing);
    mean.high.push_back(whole ? std::ranges::max(values) : missing);
  }
  return mean;
}

/// Puts as many folders before the names of runs as tell them apart.
void tell_apart(std::vector<Run>& runs) {
  std::map<std::string, std::vector<Run*>> called;
  for (Run& run : runs) called[run.name].push_back(&run);
  for (const auto& [name, alike] : called) {
    if (alike.size() < 2) continue;
    std::vector<std::filesystem::path> above;
    for (const Run* run : alike) above.push_back(std::filesystem::absolute(run->folder / "").lexically_normal().parent_path());
    std::set<std::string> names;
    while (names.size() < alike.size() && std::ranges::any_of(above, &std::filesystem::path::has_relative_path)) {
      names.clear();
      for (std::size_t i = 0; i < alike.size(); ++i) {
        above[i] = above[i].parent_path();
        const auto folder = above[i].filename().string();
        if (!folder.empty()) alike[i]->name = text(folder, "/", alike[i]->name);
        names.insert(alike[i]->name);
      }
    }
  }
}

}  // namespace

std::optional<double> failed_return(const Run& run) {
  const Config* value = run.config.find("failed_return");
  return value ? value->number() : std::nullopt;
}

void check_distinct(std::span<const std::filesystem::path> folders) {
  std::map<std::filesystem::path, std::filesystem::path> seen;  // as it is, as it was given
  for (const auto& folder : folders) {
    std::error_code error;
    const auto canonical = std::filesystem::canonical(folder, error);
    if (error) continue;  // who reads it says so
    const auto [first, added] = seen.emplace(canonical, folder);
    if (!added)
      throw Error(text("'", folder.string(), "' is the run that '", first->second.string(),
                       "' names, too; it would count as two seeds, so name it once"));
  }
}

Config run_settings(const std::filesystem::path& folder) {
  Config config = read_run_config(folder);
  if (const Config* optimizer = config.find("optimizer")) config["optimizer"] = current_optimizer(*optimizer);
  return config;
}

RunIdentity identity_of(const std::filesystem::path& folder, const Config& config) {
  const Config* name = env_name(config);
  return {folder, name ? shown(*name) : "", flat_settings(config), integer_of(config, "seed")};
}

void lend_files(std::span<RunIdentity> runs) {
  std::map<Settings, std::set<Settings>> records;  // by all other settings
  for (const RunIdentity& run : runs) {
    auto [files, others] = files_apart(run.settings);
    if (!files.empty()) records[std::move(others)].insert(std::move(files));
  }
  for (RunIdentity& run : runs) {
    const auto [files, others] = files_apart(run.settings);
    const std::set<Settings>& known = records[others];
    const auto lends = [&](const Settings& record) {  // the one that a fuller one completes is that one
      return completes(record, files) && std::ranges::none_of(known, [&](const auto& fuller) { return completes(fuller, record); });
    };
    if (std::ranges::count_if(known, lends) != 1) continue;
    for (const auto& [name, content] : *std::ranges::find_if(known, lends)) run.settings.insert_or_assign(name, content);
  }
}

void check_seeds(std::span<const RunIdentity> runs) {
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (runs[i].seed != runs[j].seed || runs[i].settings != runs[j].settings) continue;
      const auto& [first, second] = std::minmax(runs[i].folder, runs[j].folder);
      throw Error(text("'", first.string(), "' and '", second.string(), "' have the same settings and the same seed, ",
                       runs[i].seed, "; they would count as two seeds, so leave one of them out"));
    }
}

std::vector<RunGroup> group_runs(std::vector<Run> runs) {
  tell_apart(runs);
  std::vector<RunIdentity> identities;
  for (const Run& run : runs) identities.push_back(identity_of(run.folder, run.config));
  lend_files(identities);
  check_seeds(identities);
  std::vector<RunGroup> groups;
  std::vector<const RunIdentity*> kinds;  // the first of each group
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto found = std::ranges::find_if(kinds, [&](const auto* kind) { return kind->settings == identities[i].settings; });
    const auto at = static_cast<std::size_t>(found - kinds.begin());
    if (at == kinds.size()) {
      groups.emplace_back();
      kinds.push_back(&identities[i]);
    }
    groups[at].runs.push_back(std::move(runs[i]));
  }
  for (auto& group : groups) {
    std::ranges::sort(group.runs, {}, [](const Run& run) { return std::pair(run.seed, run.folder); });
    const auto reached = [](const Run& run) {
      return std::isnan(run.best_eval) ? -std::numeric_limits<double>::infinity() : run.best_eval;
    };
    group.best = static_cast<std::size_t>(std::ranges::max_element(group.runs, {}, reached) - group.runs.begin());
  }
  name_groups(groups);
  return groups;
}

Settings flat_settings(const Config& config) {
  Config relevant = deciding_settings(config);
  relevant.map()->erase("seed");
  Flattener flattener;
  flattener.add(relevant, "");
  return std::move(flattener.settings);
}

std::set<std::string> differing_settings(const std::vector<Settings>& all) {
  std::set<std::string> paths;
  // What differs anywhere differs from the first.
  const auto compare = [&paths](const Settings& settings, const Settings& other) {
    for (const auto& [path, value] : settings)
      if (const auto found = other.find(path); found == other.end() || found->second != value) paths.insert(path);
  };
  for (const auto& settings : all) {
    compare(settings, all.front());
    compare(all.front(), settings);
  }
  return paths;
}

void tell_values_apart(std::vector<Settings>& all) {
  for (const auto& path : differing_settings(all)) {
    std::vector<Setting*> values;
    for (auto& settings : all)
      if (const auto found = settings.find(path); found != settings.end()) values.push_back(&found->second);
    std::map<std::string, std::string> exact;  // by what is shown
    const auto reads_alike = [&](const Setting* value) {
      return exact.emplace(value->shown, value->exact).first->second != value->exact;
    };
    if (!std::ranges::any_of(values, reads_alike)) continue;
    for (Setting* value : values) value->shown = value->exact;
  }
}

bool is_evaluated(std::string_view name) { return name.starts_with("eval_"); }

std::vector<Curve> learning_curves(const RunGroup& group, const std::string& name, int colour) {
  const bool several = group.runs.size() > 1, gaps = !is_evaluated(name);
  std::vector<Curve> curves;
  std::map<double, std::vector<double>> by_iteration;
  for (const Run& run : group.runs) {
    Curve curve{.label = text(group.label, ", seed ", run.seed), .colour = colour, .thin = several};
    const auto iteration = run.metrics.column("iteration"), values = run.metrics.column(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool there = std::isfinite(values[i]);
      if (!there && !gaps) continue;
      curve.x.push_back(iteration[i]);
      curve.y.push_back(there ? values[i] : missing);
      auto& all = by_iteration[iteration[i]];
      if (there) all.push_back(values[i]);
    }
    curves.push_back(std::move(curve));
  }
  if (!several) return curves;
  Curve mean = mean_of_seeds(by_iteration, group.runs.size(), gaps);
  mean.label = text(group.label, ", mean of ", counted(static_cast<double>(group.runs.size()), "seed"));
  mean.colour = colour;
  if (std::ranges::any_of(mean.y, [](double value) { return std::isfinite(value); })) curves.push_back(std::move(mean));
  return curves;
}

}  // namespace iap
