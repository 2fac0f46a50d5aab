#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "cli/sweep.hpp"
import iap.core;

namespace iap::cli {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> statuses{"unknown", "begun", "done", "failed"};

double number_in(const Config& config, const char* key) {
  const Config* found = config.find(key);
  return found ? found->number().value_or(none) : none;
}

std::string string_in(const Config& config, const char* key) {
  const Config* found = config.find(key);
  return found && found->string() ? *found->string() : "";
}

/// JSON knows no NaN: such entries are left out.
void put(Config& config, const char* key, double value) {
  if (std::isfinite(value)) config[key] = value;
}

}  // namespace

double JobRecord::value(int asked, const std::string& metric) const {
  const auto found = rungs.find(asked);
  if (found == rungs.end()) return none;
  return metric == "eval" ? found->second.eval : found->second.mean_return;
}

JobRecord read_record(const std::filesystem::path& folder) {
  const auto path = folder / "job.json";
  std::error_code ignored;
  JobRecord record;
  if (!std::filesystem::exists(path, ignored)) return record;
  const Config config = parse_json(read_file(path), path.string());
  for (std::size_t i = 0; i < statuses.size(); ++i)
    if (string_in(config, "status") == statuses[i]) record.status = static_cast<JobRecord::Status>(i);
  record.message = string_in(config, "message");
  if (const Config* iterations = config.find("iterations")) record.iterations = static_cast<int>(iterations->integer().value_or(0));
  if (const Config* tries = config.find("tries")) record.tries = static_cast<int>(tries->integer().value_or(0));
  if (const Config* rungs = config.find("rungs"); rungs && rungs->list())
    for (const Config& rung : *rungs->list())
      if (const double asked = number_in(rung, "iterations"); std::isfinite(asked + number_in(rung, "done")))
        record.rungs[static_cast<int>(asked)] = {number_in(rung, "eval"), number_in(rung, "return"),
                                                 static_cast<int>(number_in(rung, "done"))};
  return record;
}

void write_record(const std::filesystem::path& folder, const JobRecord& record) {
  Config config = Config::Map{
      {"status", statuses[static_cast<std::size_t>(record.status)]}, {"iterations", record.iterations}, {"tries", record.tries}};
  if (!record.message.empty()) config["message"] = record.message;
  Config::List rungs;
  for (const auto& [iterations, figures] : record.rungs) {
    Config rung = Config::Map{{"iterations", iterations}, {"done", figures.iterations}};
    put(rung, "eval", figures.eval);
    put(rung, "return", figures.mean_return);
    rungs.push_back(std::move(rung));
  }
  if (!rungs.empty()) config["rungs"] = std::move(rungs);
  write_file_atomic(folder / "job.json", to_json(config, 2) + "\n");
}

JobRecord::Figures read_figures(const std::filesystem::path& folder, int iterations) {
  const Table table = read_table(folder / "metrics.csv");
  const auto iteration = table.column("iteration"), evals = table.column("eval_mean"), returns = table.column("return_mean");
  JobRecord::Figures figures{none, none, 0};
  for (std::size_t i = 0; i < iteration.size(); ++i) {
    if (iteration[i] > iterations) continue;
    figures.iterations = static_cast<int>(iteration[i]);
    if (std::isfinite(evals[i])) figures.eval = evals[i];
    if (std::isfinite(returns[i])) figures.mean_return = returns[i];
  }
  return figures;
}

}  // namespace iap::cli
