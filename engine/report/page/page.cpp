module;
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iap::embedded {
extern const std::string_view style_css;
}
module iap.report;
import iap.core;
import iap.policy;
import iap.train;
import :html;
import :importance;
import :media;
import :page;
import :run_data;
import :sections;

namespace iap {
namespace {

void check_page_name(const std::filesystem::path& out) { check_ending(out, "a report is a web page", {".html", ".htm"}); }

/// Of a word of the run's files, as much as the page's first lines have room for.
std::string cut(const std::string& word) {
  constexpr std::size_t longest = 256;
  return word.substr(0, whole_characters(word, longest));
}

/// A name in the page's first lines.
std::string shown(const Config* value) { return value && value->string() ? cut(*value->string()) : "?"; }

std::string env_of(const Run& run) { return shown(env_name(run.config)); }

/// The environments, each once, in the order of the groups.
std::string title_of(const std::vector<RunGroup>& groups) {
  std::vector<std::string> names;
  for (const RunGroup& group : groups) {
    const std::string name = env_of(group.runs.front());
    bool known = false;
    for (const auto& other : names) known = known || other == name;
    if (!known) names.push_back(name);
  }
  std::string title;
  for (const auto& name : names) title += (title.empty() ? "" : ", ") + name;
  return title;
}

/// Adds the names of the images that the blocks of `architecture` look at: whatever does has an option for it.
void collect_images(const Config& architecture, std::set<std::string>& names) {
  if (const Config* image = architecture.find("image"); image && image->string()) names.insert(*image->string());
  if (const auto* map = architecture.map())
    for (const auto& [key, value] : *map) collect_images(value, names);
  if (const auto* list = architecture.list())
    for (const auto& value : *list) collect_images(value, names);
}

/// The images that blocks of the policy look at; the environment may offer others.
std::vector<ImageSpec> seen_images(const Policy& policy) {
  std::set<std::string> names;
  collect_images(policy.architecture(), names);
  std::vector<ImageSpec> seen;
  for (const auto& image : policy.observation().images)
    if (names.contains(image.name)) seen.push_back(image);
  return seen;
}

/// The sum of a column that counts training episodes, such as those that an unstable simulation ended.
double counted_episodes(const Run& run, const std::string& column) {
  double sum = 0;
  if (std::ranges::find(run.metrics.columns, column) == run.metrics.columns.end()) return sum;
  for (const double count : run.metrics.column(column))
    if (std::isfinite(count)) sum += count;
  return sum;
}

/// The size that an environment's option `pixels` gives its pictures, or "".
std::string pixels_of(const Config& env) {
  const Config* pixels = env.find("pixels");
  const auto* sides = pixels ? pixels->list() : nullptr;
  if (!sides || sides->size() != 2 || !(*sides)[0].integer() || !(*sides)[1].integer()) return "";
  return text(*(*sides)[0].integer(), " × ", *(*sides)[1].integer());
}

/// Adds `word` unless it is "" or there.
void add_once(std::vector<std::string>& words, const std::string& word) {
  if (!word.empty() && std::ranges::find(words, word) == words.end()) words.push_back(word);
}

/// Adds the sizes of an image that the run's policy looks at in the stages that the run has come to. The policy's own may be
/// another one: that of the evaluations.
void add_sizes(const Run& run, const ImageSpec& seen, std::vector<std::string>& sizes) {
  const std::string own = text(seen.shape.height, " × ", seen.shape.width);
  const Config *env = run.config.find("env"), *curriculum = run.config.find("curriculum");
  const Config* played = run.policy->metadata.find("env");
  // Not all environments have this option, nor is it every image's.
  if (!env || !played || pixels_of(*played) != own) return add_once(sizes, own);
  if (!curriculum || !curriculum->list()) return add_once(sizes, pixels_of(*env));
  const double reached = last_stage(run.metrics);
  for (std::size_t i = 0; i < curriculum->list()->size() && static_cast<double>(i) < reached; ++i) {
    const Config& stage = (*curriculum->list())[i];
    add_once(sizes, pixels_of(stage.find("pixels") ? stage : *env));
  }
}

/// "a", "a and b", "a, b and c".
std::string enumerated(const std::vector<std::string>& words) {
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i) all += (i == 0 ? "" : i + 1 < words.size() ? ", " : " and ") + words[i];
  return all;
}

/// Where a run is that has done fewer iterations than it was asked for: a result.json that says why it ended is one of a run that
/// has, but for one that was meant to go on afterwards.
std::string standing(const Run& run) {
  const std::string where = text(" at iteration ", run.iterations, " of ", run.planned);
  const bool ended = run.summary && run.summary->iterations == run.iterations && run.summary->stop_reason != "iterations";
  return ended ? text(" ended", where, " (", escaped(cut(run.summary->stop_reason)), ")") : " stands" + where;
}

std::string lede_of(const std::vector<RunGroup>& groups, std::size_t runs) {
  std::vector<std::string> optimizers, sizes;
  bool some_see_nothing = false;
  for (const RunGroup& group : groups)
    for (const Run& run : group.runs) {
      const Config* optimizer = run.config.find("optimizer");
      add_once(optimizers, escaped(shown(optimizer ? optimizer->find("kind") : nullptr)));
      const auto seen = seen_images(run.policy->policy);
      for (const ImageSpec& image : seen) add_sizes(run, image, sizes);
      some_see_nothing = some_see_nothing || seen.empty();
    }
  std::string words =
      text(counted(static_cast<double>(runs), "run"), groups.size() > 1 ? text(" of ", groups.size(), " kinds") : "");
  words += ", trained by " + enumerated(optimizers);
  if (!sizes.empty()) words += text(" from ", enumerated(sizes), " pixels", some_see_nothing ? ", in part without" : "");
  for (const RunGroup& group : groups)
    for (const Run& one : group.runs)
      if (one.stopped_early()) words += text(". ", escaped(one.name), standing(one));
  for (const RunGroup& group : groups)
    for (const Run& one : group.runs) {
      if (const double ended = counted_episodes(one, "unstable"); ended > 0)
        words += text(". ", escaped(one.name), ": the simulation became unstable in ", counted(ended, "training episode"));
      const auto value = failed_return(one);
      if (const double failed = counted_episodes(one, "failed"); failed > 0 && value)
        words += text(". ", escaped(one.name), ": ", counted(failed, "training episode"), " failed and ",
                      failed == 1 ? "counts" : "count", " as ", figure(*value));
    }
  return words + ".";
}

/// What browsers are told, and people.
std::string refresh_line(int seconds) {
  return seconds > 0 ? text("<meta http-equiv=\"refresh\" content=\"", seconds, "\">\n") : "";
}
constexpr std::string_view goes_on = " The run goes on; this page renews itself.";

std::string page_head(const std::string& title, const std::string& lede, int refresh) {
  return text("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", refresh_line(refresh),
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>", title,
              " - iap report</title>\n<style>\n", embedded::style_css, "</style>\n</head>\n<body>\n<main>\n<header>\n",
              "<p class=\"eyebrow\">iap report</p>\n<h1>", title, "</h1>\n<p class=\"lede\">", lede, refresh > 0 ? goes_on : "",
              "</p>\n</header>\n");
}

/// What `iap report` is told beside the runs to make this page, " --policy final"; trust is the reader's to give.
std::string flags_of(const ReportOptions& options) {
  const ReportOptions usual;
  std::string flags;
  if (options.policy) flags += *options.policy == PolicyChoice::final ? " --policy final" : " --policy best";
  if (!options.pictures) return flags + " --no-pictures";
  if (options.episodes != usual.episodes) flags += text(" --episodes ", options.episodes);
  if (options.seed != usual.seed) flags += text(" --seed ", options.seed);
  return flags;
}

std::string page_end(std::span<const std::filesystem::path> folders, const std::string& flags) {
  std::string names;
  for (const auto& folder : folders) names += " " + shell_word(folder.string());
  return text("<footer>Made by <code>iap report", escaped(names), flags, "</code></footer>\n</main>\n</body>\n</html>\n");
}

void erase(std::string& page, std::string_view part) {
  if (const auto found = page.find(part); found != std::string::npos) page.erase(found, part.size());
}

std::string made_pictures(RunGroup& group, const std::string& name, const ReportOptions& options) {
  Run& run = group.runs[group.best];
  try {
    const ReportMedia media = make_media(*run.policy, options);
    return watch_section(media, run, name, options.trust) + importance_section(media, name) +
           probe_section(media, run.policy->policy, name);
  } catch (const Error& error) {
    return section(name.empty() ? "Pictures" : "Pictures: " + name, "",
                   text("<p>There are none: ", escaped(error.what()), "</p>\n"));
  }
}

std::string pictures_of(RunGroup& group, const std::string& name, const ReportOptions& options) {
  if (!options.pictures) return "";
  if (!options.memory) return made_pictures(group, name, options);
  const Run& run = group.runs[group.best];
  // Not of the file, which may be another one by now.
  const std::string policy = save_policy(run.policy->policy, run.policy->metadata);
  const std::string key = text(run.folder.string(), " ", run.final, " ", name, " ", policy);
  const auto kept = options.memory->pictures.find(key);
  const std::string pictures = kept != options.memory->pictures.end() ? kept->second : made_pictures(group, name, options);
  options.memory->pictures = {{key, pictures}};
  return pictures;
}

}  // namespace

void write_report(std::span<const std::filesystem::path> folders, const std::filesystem::path& out, const ReportOptions& options) {
  check_page_name(out);
  if (folders.empty()) throw Error("a report needs at least one run");
  if (options.episodes < 1) throw Error(text("a report's number of episodes must be positive, got ", options.episodes));
  check_distinct(folders);
  std::vector<Run> runs;
  for (const auto& folder : folders) runs.push_back(read_run(folder, options.policy, options.trust));
  // What was refused until here leaves no folder behind.
  if (out.has_parent_path()) make_folder(out.parent_path());
  const std::size_t count = runs.size();
  std::vector<RunGroup> groups = group_runs(std::move(runs));
  const bool single = groups.size() == 1;
  const std::string title = escaped(title_of(groups));
  std::string page = page_head(title, lede_of(groups, count), options.refresh);
  page += single ? tiles_section(groups.front()) : comparison_section(groups);
  page += curves_section(groups);
  for (RunGroup& group : groups) {
    const std::string name = single ? "" : group.label;
    page += pictures_of(group, name, options);
    page += parameters_section(group.runs[group.best].policy->policy, name);
  }
  page += settings_section(groups);
  write_file_atomic(out, page + page_end(folders, flags_of(options)));
}

void write_waiting_page(const std::filesystem::path& folder, const std::filesystem::path& out, int refresh) {
  const std::string name = escaped(std::filesystem::absolute(folder / "").lexically_normal().parent_path().filename().string());
  check_page_name(out);
  const auto summary = sound_summary(folder);
  const bool trained_none = summary && summary->iterations < 1;
  const std::string lede = trained_none ? "It trained no iteration; there is nothing to report."
                                        : "Its first iteration is not complete; there is nothing to report yet.";
  write_file_atomic(out, page_head(name, lede, refresh) + page_end(std::span(&folder, 1), ""));
}

void settle_page(const std::filesystem::path& out) {
  std::string page = read_file(out);
  constexpr std::string_view begin = "<meta http-equiv=\"refresh\"";
  if (const auto found = page.find(begin); found != std::string::npos) page.erase(found, page.find('\n', found) + 1 - found);
  erase(page, goes_on);
  write_file_atomic(out, page);
}

std::filesystem::path report_place(std::span<const std::filesystem::path> folders) {
  const bool in_run = folders.size() == 1;
  const auto folder = in_run ? (folders.front() / "report.html").parent_path() : std::filesystem::path(".");
  if (::access(folder.c_str(), W_OK | X_OK) != 0 && (errno == EACCES || errno == EROFS))
    throw Error(text("cannot write into folder '", folder.string(), "': ", std::strerror(errno),
                     "; name the file to write with --out FILE (in Lua: out)"));
  return in_run ? run_file(folder, "report.html") : unnamed_place("report.html");
}

}  // namespace iap
