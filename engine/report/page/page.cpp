module;
#include <cstddef>
#include <filesystem>
#include <optional>
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
import :html;
import :importance;
import :media;
import :page;
import :run_data;
import :sections;

namespace iap {
namespace {

std::string shown(const Config* value) { return value && value->string() ? *value->string() : "?"; }

std::string env_of(const Run& run) {
  const Config* env = run.config.find("env");
  return shown(env ? env->find("name") : nullptr);
}

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

std::string lede_of(const std::vector<RunGroup>& groups, std::size_t runs) {
  const Run& run = groups.front().runs.front();
  const Config* optimizer = run.config.find("optimizer");
  std::string words =
      text(counted(static_cast<double>(runs), "run"), groups.size() > 1 ? text(" of ", groups.size(), " kinds") : "");
  words += text(", trained by ", escaped(shown(optimizer ? optimizer->find("kind") : nullptr)));
  const auto& images = run.policy->policy.observation().images;
  if (!images.empty()) words += text(" from ", images.front().shape.height, " × ", images.front().shape.width, " pixels");
  for (const RunGroup& group : groups)
    for (const Run& one : group.runs)
      if (one.stopped_early()) words += text(". ", escaped(one.name), " stands at iteration ", one.iterations, " of ", one.planned);
  return words + ".";
}

std::string pictures_of(RunGroup& group, const std::string& name, const ReportOptions& options) {
  Run& run = group.runs[group.best];
  if (!options.pictures) return "";
  try {
    const ReportMedia media = make_media(*run.policy, options);
    return watch_section(media, run, name) + (media.importance.ranges.empty() ? "" : importance_section(media.importance, name)) +
           probe_section(media, name);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    return section(name.empty() ? "Pictures" : "Pictures: " + name, "",
                   text("<p>There are none: ", escaped(error.what()), "</p>\n"));
  }
}

}  // namespace

void write_report(std::span<const std::filesystem::path> folders, const std::filesystem::path& out, const ReportOptions& options) {
  if (folders.empty()) throw Error("a report needs at least one run");
  if (options.episodes < 1) throw Error(text("a report's number of episodes must be positive, got ", options.episodes));
  std::vector<Run> runs;
  for (const auto& folder : folders) runs.push_back(read_run(folder, options.policy, options.trust));
  const std::size_t count = runs.size();
  std::vector<RunGroup> groups = group_runs(std::move(runs));
  const bool single = groups.size() == 1;
  const std::string title = escaped(title_of(groups));
  std::string page = text(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
      title, " - iap report</title>\n<style>\n", embedded::style_css, "</style>\n</head>\n<body>\n<main>\n<header>\n",
      "<p class=\"eyebrow\">iap report</p>\n<h1>", title, "</h1>\n<p class=\"lede\">", lede_of(groups, count), "</p>\n</header>\n");
  page += single ? tiles_section(groups.front()) : comparison_section(groups);
  page += curves_section(groups);
  for (RunGroup& group : groups) {
    const std::string name = single ? "" : group.label;
    page += pictures_of(group, name, options);
    page += parameters_section(group.runs[group.best].policy->policy, name);
  }
  page += settings_section(groups);
  std::string names;
  for (const auto& folder : folders) names += " " + folder.string();
  page += text("<footer>Made by <code>iap report", escaped(names), "</code></footer>\n</main>\n</body>\n</html>\n");
  write_file_atomic(out, page);
}

std::filesystem::path report_place(std::span<const std::filesystem::path> folders) {
  return folders.size() == 1 ? folders.front() / "report.html" : "report.html";
}

}  // namespace iap
