#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/sweep.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.train;
#include "core/there.hpp"

namespace iap::cli {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> statuses{"unknown", "begun", "done", "failed"};

double number_in(const Config& config, const char* key) {
  const Config* found = config.find(key);
  return found ? found->number().value_or(none) : none;
}

/// What cannot be a count is 0.
int count_in(const Config& config, const char* key) {
  const Config* found = config.find(key);
  const auto count = found ? found->integer().value_or(0) : 0;
  return std::in_range<int>(count) ? static_cast<int>(count) : 0;
}

std::string string_in(const Config& config, const char* key) {
  const Config* found = config.find(key);
  return found && found->string() ? *found->string() : "";
}

/// Null where there is none. @throws Error where it is no file of the run's or cannot be read.
Config read_job(const std::filesystem::path& folder) {
  const auto path = run_file(folder, "job.json");
  if (!is_there(path)) return {};
  Config config = parse_json(read_file(path), path.string());
  if (!config.map()) throw Error(text("'", path.string(), "' is no table, but ", config.describe()));
  return config;
}

/// JSON knows no NaN: such entries are left out.
void put(Config& config, const char* key, double value) {
  if (std::isfinite(value)) config[key] = value;
}

/// What a crash has torn is no row to the run that goes on, either.
Table read_whole_rows(const std::filesystem::path& folder) { return read_table(run_file(folder, "metrics.csv"), Torn::skipped); }

JobRecord::Figures figures_in(const Table& table, int iterations) {
  const auto iteration = table.column("iteration"), evals = table.column("eval_mean"), returns = table.column("return_mean");
  JobRecord::Figures figures{none, none, 0};
  for (std::size_t i = 0; i < iteration.size(); ++i) {
    const auto number = iteration_of(iteration[i]);
    if (!number || std::cmp_greater(*number, iterations)) continue;
    figures.iterations = static_cast<int>(*number);
    // An earlier evaluation says nothing of a run that has come so far; only one that ended before keeps its last.
    if (std::isfinite(evals[i]) || figures.iterations == iterations) figures.eval = evals[i];
    if (std::isfinite(returns[i])) figures.mean_return = returns[i];
  }
  return figures;
}

bool are_numbers(const JobRecord::Figures& figures) { return std::isfinite(figures.eval) && std::isfinite(figures.mean_return); }

/// That the run was last asked for; NaN where nothing tells.
double planned_iterations(const std::filesystem::path& folder) {
  const auto config = sound_config(folder);
  return config ? number_in(*config, "iterations") : none;
}

/// Whether a run that has ended as `summary` says has done more of the first `iterations` iterations than its table has rows of.
bool lost_rows(const RunSummary& summary, const JobRecord::Figures& figures, int iterations) {
  return std::cmp_less(figures.iterations, std::min(summary.iterations, static_cast<std::uint32_t>(iterations)));
}

/// Whether the run has ended as one of at least so many iterations: there, or before because its optimizer had enough. One that was
/// resumed with fewer than it had done ended where it was, and its settings are those of the longer one.
bool has_ended(const std::filesystem::path& folder, const JobRecord::Figures& figures, int iterations) {
  const auto summary = sound_summary(folder);
  if (!summary || summary->stop_reason == "on_iteration" || lost_rows(*summary, figures, iterations)) return false;
  const bool cut_short = summary->stop_reason == "iterations" && std::cmp_less(summary->iterations, iterations);
  return !cut_short && planned_iterations(folder) >= iterations;
}

}  // namespace

double JobRecord::value(int asked, const std::string& metric) const {
  const auto found = rungs.find(asked);
  if (found == rungs.end()) return none;
  return metric == "eval" ? found->second.eval : found->second.mean_return;
}

JobRecord read_record(const std::filesystem::path& folder) {
  JobRecord record;
  Config config;
  try {
    config = read_job(folder);
  } catch (const Error&) {
    return record;
  }
  for (std::size_t i = 0; i < statuses.size(); ++i)
    if (string_in(config, "status") == statuses[i]) record.status = static_cast<JobRecord::Status>(i);
  record.message = one_line(string_in(config, "message"));
  record.iterations = count_in(config, "iterations");
  record.tries = count_in(config, "tries");
  record.launch = string_in(config, "launch");
  if (const Config* rungs = config.find("rungs"); rungs && rungs->list())
    for (const Config& rung : *rungs->list())
      if (const int asked = count_in(rung, "iterations"); asked > 0 && rung.find("done"))
        record.rungs[asked] = {number_in(rung, "eval"), number_in(rung, "return"), count_in(rung, "done")};
  return record;
}

std::string record_flaw(const std::filesystem::path& folder) try {
  read_job(folder);
  return "";
} catch (const Error& error) {
  return error.what();
}

void write_record(const std::filesystem::path& folder, const JobRecord& record) {
  Config config = Config::Map{
      {"status", statuses[static_cast<std::size_t>(record.status)]}, {"iterations", record.iterations}, {"tries", record.tries}};
  if (!record.message.empty()) config["message"] = record.message;
  if (!record.launch.empty()) config["launch"] = record.launch;
  Config::List rungs;
  for (const auto& [iterations, figures] : record.rungs) {
    Config rung = Config::Map{{"iterations", iterations}, {"done", figures.iterations}};
    put(rung, "eval", figures.eval);
    put(rung, "return", figures.mean_return);
    rungs.push_back(std::move(rung));
  }
  if (!rungs.empty()) config["rungs"] = std::move(rungs);
  write_file_atomic(run_file(folder, "job.json"), to_json(config, 2) + "\n");
}

std::optional<Config> sound_config(const std::filesystem::path& folder) {
  const auto path = run_file(folder, "config.json");
  try {
    return read_run_config(folder);
  } catch (const Error&) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) throw;
    return {};
  }
}

JobRecord::Figures read_figures(const std::filesystem::path& folder, int iterations) {
  const auto figures = figures_in(read_whole_rows(folder), iterations);
  // Whatever ends a run before its last iteration in good order leaves a result.json.
  const auto summary = sound_summary(folder);
  if (figures.iterations < iterations && !summary)
    throw Error(text("stopped at iteration ", figures.iterations, " of ", std::fmin(iterations, planned_iterations(folder)),
                     " (by os.exit, or by an error that the script caught)"));
  if (summary && lost_rows(*summary, figures, iterations))
    throw Error(text("'", (folder / "metrics.csv").string(), "' has lost the rows after iteration ", figures.iterations, " of ",
                     summary->iterations, "; remove the folder '", folder.string(), "', and the sweep runs it anew"));
  if (!are_numbers(figures)) throw Error("metrics.csv has no evaluation or no return that is a number");
  return figures;
}

std::optional<JobRecord::Figures> passed_figures(const std::filesystem::path& folder, int iterations) {
  for (const char* name : {"config.json", "metrics.csv"})
    if (!is_there(folder / name)) return {};
  const Table table = read_whole_rows(folder);
  if (table.columns.empty()) return {};
  const int reached = figures_in(table, std::numeric_limits<int>::max()).iterations;
  // Read after the table: what took a run beyond its rung had put that rung on record before.
  const JobRecord record = read_record(folder);
  if (record.done(iterations)) return record.rungs.at(iterations);
  const bool passed = reached > iterations || record.rungs.upper_bound(iterations) != record.rungs.end();
  const auto figures = figures_in(table, iterations);
  if (!passed && !has_ended(folder, figures, iterations)) return {};
  if (are_numbers(figures)) return figures;
  if (reached > iterations)
    throw NotEvaluated(
        text("'", folder.string(), "' has done ", reached, " iterations and has no evaluation at iteration ", iterations,
             ", where this sweep compares; choose another folder with --out, compare at a multiple of eval_every (--halving, "
             "--set iterations), or remove that run to begin it anew"));
  return {};
}

}  // namespace iap::cli
