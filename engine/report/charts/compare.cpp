module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>
module iap.report;
import iap.core;
import iap.train;
import :run_data;
#include "core/there.hpp"
#include "cut_apart.hpp"

namespace iap {
namespace {

/// The values of a column that are there, by iteration; none where no run has one.
std::map<double, std::vector<double>> values_by_iteration(const std::vector<std::filesystem::path>& runs,
                                                          const std::string& column) {
  std::map<double, std::vector<double>> values;
  for (const auto& run : runs) {
    const auto file = run_file(run, "metrics.csv");
    const Table metrics = read_table(file);
    check_metrics(metrics, file, {"iteration", column});
    const auto iteration = metrics.column("iteration"), value = metrics.column(column);
    for (std::size_t i = 0; i < value.size(); ++i) {
      auto& all = values[iteration[i]];
      if (std::isfinite(value[i])) all.push_back(value[i]);
    }
  }
  return values;
}

/// Of the runs of a group that say what they are: a folder may hold nothing but a table.
std::vector<RunIdentity> identities_of(const CurveGroup& group) {
  std::vector<RunIdentity> identities;
  for (const auto& run : group.runs)
    if (is_there(run / "config.json")) identities.push_back(identity_of(run, run_settings(run)));
  lend_files(identities);
  return identities;
}

/// A file of Lua is another environment only where its text is another one, too: it may have been copied.
bool same_world(const RunIdentity& one, const RunIdentity& other) {
  const auto file = [](const RunIdentity& run) { return std::filesystem::path(run.env).filename(); };
  const auto source = [](const RunIdentity& run) {
    const auto found = run.settings.find("env.source");
    return found == run.settings.end() ? std::string_view() : std::string_view(found->second.exact);
  };
  return one.env.empty() || other.env.empty() || file(one) == file(other) || (!source(one).empty() && source(one) == source(other));
}

/// Where evaluations play, if that is another environment than the one trained in.
Settings evaluation_world(const RunIdentity& run) {
  Settings settings;
  for (const auto& [path, value] : run.settings)
    if (path.starts_with("eval_env.")) settings.emplace(path, value);
  return settings;
}

bool same_evaluations(const RunIdentity& one, const RunIdentity& other) {
  const auto world = evaluation_world(one);
  return !world.empty() && world == evaluation_world(other);
}

void check_worlds(const std::vector<RunIdentity>& runs, const std::string& label, const std::string& column) {
  const bool evaluated = is_evaluated(column);
  for (const RunIdentity& run : runs)
    if (const RunIdentity& first = runs.front(); !same_world(run, first) && !(evaluated && same_evaluations(run, first)))
      throw Error(text("curve '", label, "': '", first.folder.string(), "' plays ", first.env, " and '", run.folder.string(),
                       "' plays ", run.env, "; what they earn has no mean, so give each environment a curve of its own"));
}

/// Captions have no room for more settings, nor for longer names.
constexpr std::size_t most_named = 3, longest_name = 48;

std::string shortened(const std::string& label) {
  constexpr std::size_t half = longest_name / 2;
  if (label.size() <= longest_name) return label;
  return label.substr(0, whole_characters(label, half)) + "…" + label.substr(whole_characters(label, label.size() - half));
}

/// A setting's own name stands last in its path.
std::string ending_of(const std::string& path) {
  if (path.size() <= longest_name) return path;
  return "…" + path.substr(whole_characters(path, path.size() - longest_name));
}

/// "optimizer.sigma, policy.blocks.1.top and 2 more": what the runs differ in beside their seeds; "" if in nothing.
std::string differences_of(const std::vector<RunIdentity>& runs) {
  std::vector<Settings> all;
  for (const RunIdentity& run : runs) all.push_back(run.settings);
  const auto paths = differing_settings(all);
  std::string words;
  std::size_t named = 0;
  for (const auto& path : paths) {
    if (named++ == most_named) return text(words, " and ", paths.size() - most_named, " more");
    words += (words.empty() ? "" : ", ") + ending_of(path);
  }
  return words;
}

/// Who groups runs of other settings may mean it, and whoever sees the picture has to know. "" where all differ in their seeds
/// alone.
std::string warning_of(const std::vector<CurveGroup>& groups) {
  std::string words;
  std::size_t lines = 0;
  std::vector<std::string> labels;
  for (const auto& group : groups) labels.push_back(group.label);
  labels = cut_apart(labels, shortened);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string differences = differences_of(identities_of(groups[i]));
    if (differences.empty() || lines++ >= most_named) continue;
    words += text(words.empty() ? "" : "; ", groups.size() > 1 ? labels[i] + " in " : "", differences);
  }
  if (lines > most_named) words += text("; ", lines - most_named, lines - most_named == 1 ? " more line" : " more lines");
  return words.empty() ? "" : text("Runs of a line differ in more than their seeds: ", words, ".");
}

/// What lines and bands are, where there are bands.
std::string caption_of(const std::vector<CurveGroup>& groups, Band band) {
  std::size_t least = std::numeric_limits<std::size_t>::max(), most = 0;
  for (const auto& group : groups) {
    least = std::min(least, group.runs.size());
    most = std::max(most, group.runs.size());
  }
  if (most < 2) return "";
  const std::string warning = warning_of(groups);
  const std::string_view run = warning.empty() ? "seed" : "run";
  const std::string kinds[]{text("from the lowest to the highest ", run), "one standard error of the mean to either side",
                            text("one standard deviation between the ", run, "s to either side")};
  return text("Line: mean of ", least == most ? "" : text(least, " to "), most, " ", run,
              "s. Band: ", kinds[static_cast<std::size_t>(band)], ".", warning.empty() ? "" : " ", warning);
}

}  // namespace

const std::vector<std::string>& band_names() {
  static const std::vector<std::string> names{"range", "error", "deviation"};
  return names;
}

Series mean_curve(const CurveGroup& group, const std::string& column, Band band) {
  if (group.runs.empty()) throw Error(text("curve '", group.label, "': there are no runs to take the mean of"));
  check_distinct(group.runs);
  const auto identities = identities_of(group);
  check_worlds(identities, group.label, column);
  check_seeds(identities);
  const auto count = static_cast<double>(group.runs.size());
  Series curve{.label = group.label};
  const auto add = [&](double iteration, double mean, double low, double high) {
    curve.x.push_back(iteration);
    curve.y.push_back(mean);
    if (group.runs.size() < 2) return;
    curve.low.push_back(low);
    curve.high.push_back(high);
  };
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  double gap = none;  // an iteration without a mean between two that have one
  for (const auto& [iteration, values] : values_by_iteration(group.runs, column)) {
    if (values.size() < group.runs.size()) {
      if (!is_evaluated(column) && !curve.x.empty()) gap = iteration;
      continue;
    }
    if (!std::isnan(gap)) add(gap, none, none, none);
    gap = none;
    double mean = 0, square = 0;
    for (const double value : values) mean += value / count;
    for (const double value : values) square += (value - mean) * (value - mean);
    const auto [lowest, highest] = std::ranges::minmax(values);
    const double deviation = std::sqrt(square / (count - 1)), half = band == Band::error ? deviation / std::sqrt(count) : deviation;
    add(iteration, mean, band == Band::range ? lowest : mean - half, band == Band::range ? highest : mean + half);
  }
  if (curve.x.empty()) throw Error(text("curve '", group.label, "': no iteration has a '", column, "' in every run"));
  return curve;
}

void write_comparison(const std::filesystem::path& png, const std::vector<CurveGroup>& groups, const std::string& column,
                      const std::string& title, Band band) {
  Chart chart{.title = title, .x_label = "iteration", .y_label = column == "eval_mean" ? "return" : column};
  for (const auto& group : groups) chart.series.push_back(mean_curve(group, column, band));
  chart.caption = caption_of(groups, band);
  write_chart(png, chart);
}

}  // namespace iap
