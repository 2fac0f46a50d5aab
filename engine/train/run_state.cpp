module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
module iap.train;
import iap.core;
import :metrics;
import :run_folder;
import :run_state;
import :types;
#include "core/there.hpp"
#include "run_files.hpp"

namespace iap {
namespace {

/// Bytes of a run's files. Models and scripts lie in config.json, several times where there are stages.
constexpr std::uintmax_t most_config = 512ULL << 20, most_summary = 64ULL << 20;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

double number_in(const Config& config, std::string_view key, double fallback) {
  const Config* found = config.find(key);
  return found ? found->number().value_or(fallback) : fallback;
}

std::int64_t integer_in(const Config& config, std::string_view key) {
  const Config* found = config.find(key);
  return found ? found->integer().value_or(0) : 0;
}

/// What cannot be a count of at most `most` is 0, as what is missing.
std::int64_t count_in(const Config& config, std::string_view key, std::int64_t most) {
  const std::int64_t count = integer_in(config, key);
  return count >= 0 && count <= most ? count : 0;
}

/// JSON knows neither NaN nor infinity: such entries are left out.
void put(Config& config, const char* key, double value) {
  if (std::isfinite(value)) config[key] = value;
}

Config to_config(const Confirmation& confirmation) {
  Config config = Config::Map{{"episodes", confirmation.episodes}};
  put(config, "mean", confirmation.mean);
  put(config, "standard_deviation", confirmation.standard_deviation);
  put(config, "low", confirmation.low);
  put(config, "high", confirmation.high);
  if (confirmation.failed > 0) config["failed"] = confirmation.failed;
  return config;
}

/// Nothing where no episode was played.
std::optional<Confirmation> confirmation_of(const Config& config) {
  const std::int64_t episodes = count_in(config, "episodes", most_episodes);
  if (episodes < 1) return {};
  return Confirmation{.episodes = static_cast<int>(episodes),
                      .mean = number_in(config, "mean", none),
                      .standard_deviation = number_in(config, "standard_deviation", none),
                      .low = number_in(config, "low", none),
                      .high = number_in(config, "high", none),
                      .failed = static_cast<int>(count_in(config, "failed", episodes))};
}

/// Runs of versions that wrote no result.json, nor `confirm_episodes`: as many rows as iterations. In a later run they only say
/// that it was stopped at its end, such as in its confirmation.
bool has_all_iterations(const std::filesystem::path& folder) {
  try {
    const Config config = read_run_config(folder);
    return !config.find("confirm_episodes") &&
           MetricsFile::last_iteration(run_file(folder, "metrics.csv")) >= integer_in(config, "iterations");
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::filesystem::path run_file(const std::filesystem::path& folder, std::string_view name) {
  namespace fs = std::filesystem;
  fs::path path = folder;
  std::error_code missing;
  for (const fs::path& part : fs::path(name)) {
    path /= part;
    if (!is_link(path)) continue;
    const fs::path target = fs::canonical(path, missing), root = fs::canonical(folder, missing);
    if (missing || std::ranges::mismatch(root, target).in1 != root.end())
      throw Error(text("'", path.string(), "' is a link to '", fs::read_symlink(path, missing).string(),
                       target.empty() ? "', which leads to nothing" : "', which leads out of its folder",
                       "; put the file itself there, or name another place for what is written"));
  }
  const auto status = status_of(path);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw Error(text("'", path.string(), "' is no regular file; remove it, or name another place for what is written"));
  return path;
}

std::filesystem::path unnamed_place(const std::filesystem::path& name) {
  if (is_link(name)) throw Error(text("'", name.string(), "' is a link; name the file to write with --out FILE (in Lua: out)"));
  return run_file(".", name.native()).lexically_normal();
}

Config read_run_config(const std::filesystem::path& folder) {
  const auto path = run_file(folder, "config.json");
  check_file(path, most_config);
  Config config = parse_json(read_file(path), path.string());
  if (!config.map()) throw Error(text("'", path.string(), "' is no table of settings, but ", config.describe()));
  return config;
}

std::string read_run_script(const std::filesystem::path& folder) {
  const auto script = run_file(folder, "experiment.lua");
  if (!is_there(script)) return "";
  check_file(script, most_script_bytes);
  return read_file(script);
}

std::optional<RunSummary> read_summary(const std::filesystem::path& folder) {
  const auto path = run_file(folder, "result.json");
  if (!is_there(path)) return {};
  check_file(path, most_summary);
  const Config config = parse_json(read_file(path), path.string());
  const Config* reason = config.find("stop_reason");
  if (!reason || !reason->string()) throw Error(text("'", path.string(), "' does not say why its run ended (\"stop_reason\")"));
  RunSummary summary{.iterations = static_cast<std::uint32_t>(integer_in(config, "iterations")),
                     .stop_reason = *reason->string(),
                     .first_eval = number_in(config, "first_eval", none),
                     .last_eval = number_in(config, "last_eval", none),
                     .best_eval = number_in(config, "best_eval", none),
                     .best_iteration = static_cast<std::uint32_t>(integer_in(config, "best_iteration")),
                     .best_failed = static_cast<std::uint32_t>(count_in(config, "best_failed", most_episodes))};
  if (const Config* confirmed = config.find("confirmed")) summary.confirmed = confirmation_of(*confirmed);
  return summary;
}

std::optional<RunSummary> sound_summary(const std::filesystem::path& folder) try {
  return read_summary(folder);
} catch (const Error&) {
  return {};
}

void write_summary(const std::filesystem::path& folder, const RunSummary& summary) {
  Config config = Config::Map{{"iterations", static_cast<std::int64_t>(summary.iterations)},
                              {"stop_reason", summary.stop_reason},
                              {"best_iteration", static_cast<std::int64_t>(summary.best_iteration)}};
  put(config, "first_eval", summary.first_eval);
  put(config, "last_eval", summary.last_eval);
  put(config, "best_eval", summary.best_eval);
  if (summary.best_failed > 0) config["best_failed"] = static_cast<std::int64_t>(summary.best_failed);
  if (summary.confirmed) config["confirmed"] = to_config(*summary.confirmed);
  const auto path = run_file(folder, "result.json");
  const std::string content = to_json(config, 2) + "\n";
  if (!holds(path, content)) write_file_atomic(path, content);
}

std::optional<RunState> run_state(const std::filesystem::path& folder) {
  if (!is_there(folder / "config.json")) return {};
  RunState state;
  const auto summary = sound_summary(folder);
  state.complete = summary ? summary->stop_reason != "on_iteration" : has_all_iterations(folder);
  state.ended = state.complete || summary;
  state.in_use = is_in_use(folder);
  state.script = read_run_script(folder);
  for (const char* name : {"log.txt", "config.json"}) {
    std::error_code missing;
    const auto time = std::filesystem::last_write_time(folder / name, missing);
    if (!missing) state.written = std::max(state.written, time);
  }
  return state;
}

}  // namespace iap
