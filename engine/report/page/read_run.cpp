module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>
module iap.report;
import iap.core;
import iap.policy;
import iap.train;
import :run_data;
#include "core/there.hpp"

namespace iap {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

double last_finite(const std::vector<double>& values) {
  for (std::size_t i = values.size(); i-- > 0;)
    if (std::isfinite(values[i])) return values[i];
  return missing;
}

void check_columns(const Table& metrics, const std::filesystem::path& file, const std::vector<std::string>& columns) {
  try {
    for (const auto& name : columns) metrics.column(name);
  } catch (const Error& error) {
    throw Error(text(file.string(), ": ", error.what()));
  }
}

std::int64_t last_iteration(const Table& metrics, const std::filesystem::path& file) {
  check_columns(metrics, file, {"iteration"});
  const double cell = metrics.column("iteration").back();
  const auto iteration = iteration_of(cell);
  if (!iteration) throw Error(text("'", file.string(), "' ends with iteration ", cell, ", which is none; remove that row"));
  return *iteration;
}

void check_ascending(const Table& metrics, const std::filesystem::path& file) {
  double before = -std::numeric_limits<double>::infinity();
  std::size_t row = 0;
  for (const double iteration : metrics.column("iteration")) {
    ++row;
    if (iteration <= before)
      throw Error(text("'", file.string(), "' has iteration ", iteration, " in row ", row, ", after iteration ", before,
                       "; each has one row, in their order, so remove those that do not belong there"));
    if (!std::isnan(iteration)) before = iteration;
  }
}

/// Behind an error about a folder that is no run's: what to do with one of a sweep, or "".
std::string sweep_hint(const std::filesystem::path& folder) {
  std::error_code error, ignored;
  bool found = false;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && !found && entry != end; entry.increment(error))
    found = std::filesystem::exists(entry->path() / "job.json", ignored) &&
            std::filesystem::exists(entry->path() / "config.json", ignored);
  if (!found) return "";
  const auto page = folder / "report.html";
  return text("; it is a sweep's, ",
              std::filesystem::exists(page, ignored) ? text("whose page is '", page.string(), "'") : "which has no page yet",
              "; iap report ", shell_word(folder.string()), "/*seed*/ makes one of its runs");
}

}  // namespace

std::int64_t integer_of(const Config& config, std::string_view key) {
  const Config* found = config.find(key);
  return found ? found->integer().value_or(0) : 0;
}

void check_metrics(const Table& metrics, const std::filesystem::path& file, const std::vector<std::string>& columns) {
  check_columns(metrics, file, columns);
  check_ascending(metrics, file);
}

Run read_run(const std::filesystem::path& folder, std::optional<PolicyChoice> choice, Trust trust) {
  const auto status = status_of(folder);
  if (!std::filesystem::exists(status)) throw Error(text("there is no run '", folder.string(), "'"));
  if (!std::filesystem::is_directory(status))
    throw Error(text("'", folder.string(), "' is no folder; a report needs the folder of a run"));
  for (const char* name : {"config.json", "metrics.csv"})
    if (!is_there(folder / name))
      throw Error(text("'", folder.string(), "' is not the folder of a run: it has no ", name, sweep_hint(folder)));
  Run run{.folder = folder, .name = std::filesystem::absolute(folder / "").lexically_normal().parent_path().filename().string()};
  run.config = run_settings(folder);
  const auto file = run_file(folder, "metrics.csv");
  run.metrics = read_table(file);
  run.script = read_run_script(folder);
  run.seed = integer_of(run.config, "seed");
  run.planned = integer_of(run.config, "iterations");
  if (!run.metrics.rows.empty()) run.iterations = last_iteration(run.metrics, file);
  const auto result = run_file(folder, "result.json");
  try {
    run.summary = read_summary(folder);
  } catch (const Error& error) {
    if (!std::ifstream(result)) throw;  // it may be right
    throw Error(text(error.what(), "; resume the run, which writes it anew, or remove it"));
  }
  if (run.iterations < 1 && run.summary && run.summary->iterations < 1)
    throw Error(text("the run in '", folder.string(), "' trained no iteration; there is nothing to report"));
  if (run.iterations < 1)
    throw Error(text("the run in '", folder.string(), "' has not finished its first iteration; there is nothing to report yet"));
  check_metrics(run.metrics, file, {"iteration", "return_mean", "eval_mean", "eval_std", "seconds", "steps"});
  const auto evaluations = run.metrics.column("eval_mean");
  // The first rows may be lost.
  run.first_eval = run.metrics.column("iteration").front() == 0 ? evaluations.front() : missing;
  run.last_eval = last_finite(evaluations);
  run.best_eval = missing;
  for (const double value : evaluations)
    if (std::isfinite(value) && !(value <= run.best_eval)) run.best_eval = value;
  run.seconds = last_finite(run.metrics.column("seconds"));
  run.steps = last_finite(run.metrics.column("steps"));
  const auto policy = policy_path(folder, choice);
  run.policy = read_policy_file(policy, trust);
  run.final = policy.filename() == "final.iap";
  return run;
}

}  // namespace iap
