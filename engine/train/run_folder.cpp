module;
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
module iap.train;
import iap.core;
import :metrics;
import :run_folder;
import :run_state;

#include "core/folder.hpp"
#include "core/there.hpp"
#include "lock_of_run.hpp"
#include "run_files.hpp"

namespace iap {
namespace {

/// Each says that a run was here.
constexpr std::array marks{"checkpoint.iap", "checkpoint.previous.iap", "metrics.csv", "config.json", "best.iap", "final.iap",
                           "result.json"};
/// What other programs have under the same names.
constexpr std::array common_logs{"metrics.jsonl", "events.out.tfevents.iap"};

/// In front of what has to be said of a folder: where else the run may go.
constexpr const char* elsewhere = " choose another folder with --out (out = FOLDER)";

bool has(const std::filesystem::path& path, const char* name) { return is_there(path / name); }

/// What a link leads to; other paths as they are.
std::filesystem::path led_to(const std::filesystem::path& path) {
  std::error_code missing;
  return is_link(path) ? std::filesystem::weakly_canonical(path, missing) : path;
}

/// Whether the config.json of `path` is one that a run wrote.
bool has_run_config(const std::filesystem::path& path) {
  const auto file = run_file(path, "config.json");
  try {
    const Config config = read_run_config(path);
    return config.find("env") && config.find("policy") && config.find("optimizer");
  } catch (const Error&) {
    if (!std::ifstream(file)) throw;
    return false;
  }
}

/// A script's text without the lines that say of which series and by which options it was run, as another run of it has others.
std::string_view without_heads(std::string_view script) {
  while (script.starts_with("-- run ")) script.remove_prefix(std::min(script.find('\n'), script.size() - 1) + 1);
  return script;
}

/// @throws Error naming what would be lost if `script` began in `path`, where no checkpoint lies. Whoever died before its first
/// one left, written in this order, config.json, experiment.lua, a metrics.csv without iterations, its further forms and a best.iap
/// that only has what the run began at: it begins anew over these.
void check_nothing_lost(const std::filesystem::path& path, const std::string& script) {
  const bool best = has(path, "best.iap");  // seen first, as it is written last
  const auto table = run_file(path, "metrics.csv");
  const bool iterated = MetricsFile::has_iterations(table);
  const std::string rows = has(path, "metrics.csv") && !iterated ? read_file(table) : "";
  const bool begun = rows.starts_with("iteration,return_mean,");
  std::string results;
  const auto add = [&results](const char* name) { results += text(results.empty() ? "" : ", ", name); };
  if (iterated) add("metrics.csv");
  if (best && !begun) add("best.iap");
  for (const char* name : {"final.iap", "result.json"})
    if (has(path, name)) add(name);
  const bool configured = has(path, "config.json"), of_run = configured && has_run_config(path);
  if (of_run && !begun)
    for (const char* name : common_logs)
      if (has(path, name)) add(name);
  if (!results.empty())
    throw Error(text("'", path.string(), "' already holds a run (", results, ") but no checkpoint.iap to continue from;", elsewhere,
                     ", or move ", results.find(',') != std::string::npos ? "these files" : "this file", " away"));
  const auto refuse = [&path](const char* name, const char* what) {
    throw Error(text("'", (path / name).string(), "' is ", what, " and would be written over;", elsewhere, ", or move it away"));
  };
  if (configured && !of_run) refuse("config.json", "of no run");
  if (!rows.empty() && !begun) refuse("metrics.csv", "of no run");
  for (const char* name : common_logs)
    if (!begun && has(path, name)) refuse(name, "of no run");
  if (script.empty() || !has(path, "experiment.lua") || (configured && begun)) return;
  const std::string there = read_run_script(path);
  if (!script.ends_with(configured ? without_heads(there) : there)) refuse("experiment.lua", "another script than this one");
}

/// @throws Error if `path` holds a run that is not to be continued or cannot be, or what a run would write over.
void check_may_begin(const std::filesystem::path& path, bool resume, const std::string& script) {
  const bool continues = holds_checkpoint(path);
  if (!continues) check_nothing_lost(path, script);
  if (resume) return;
  for (const char* name : marks)
    if (has(path, name))
      throw Error(text("'", path.string(), "' already holds a run (", name, ")",
                       continues || has(path, "config.json") ? "; continue it with --resume (resume = true), or"
                                                             : " but no checkpoint.iap to continue from;",
                       elsewhere));
}

/// Who asks whether a run is at work (`lock_of_run`) has its lock for a moment.
FileLock lock_in_time(auto lock) {
  for (int left = 10;; --left) {
    const FileLock found = lock();
    if (found != FileLock::taken || left == 0) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void check_free(const std::filesystem::path& path, FileLock lock) {
  if (lock != FileLock::taken) return;
  throw FolderInUse(
      text("'", path.string(), "' is in use by another process; wait for it or choose another folder with --out (out = FOLDER)"));
}

}  // namespace

bool holds(const std::filesystem::path& file, std::string_view content) try {
  std::error_code missing;
  return std::filesystem::file_size(file, missing) == content.size() && read_file(file) == content;
} catch (const Error&) {
  return false;
}

bool is_run_file(const std::filesystem::path& given) {
  const auto file = led_to(given);
  const std::string name = file.filename().string();
  constexpr std::array others{"experiment.lua", "job.json", "log.txt", "output.txt"};  // two of them a sweep's
  const auto is_name = [&name](const char* of_run) { return name == of_run; };
  return (std::ranges::any_of(marks, is_name) || std::ranges::any_of(common_logs, is_name) ||
          std::ranges::any_of(others, is_name)) &&
         has(file.parent_path(), "config.json");
}

extern "C++" bool holds_checkpoint(const std::filesystem::path& folder) {
  return has(folder, "checkpoint.iap") || has(folder, "checkpoint.previous.iap");
}

extern "C++" bool holds_runs(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (const auto& one = entry->path(); !is_private(one / "config.json") &&  // where anything may lie, as in /tmp
                                         (has(one, "job.json") || (has(one, "config.json") && has(one, "log.txt"))))
      return true;
  return false;
}

extern "C++" std::string kept_by_run(const std::filesystem::path& file) {
  const auto place = led_to(file);
  const auto folder = place.has_parent_path() ? place.parent_path() : ".";
  const bool of_sweep = place.filename() == "sweep.csv" && has(folder, "sweep.csv") && holds_runs(folder);
  if (!of_sweep && !is_run_file(file)) return "";
  return text("the ", of_sweep ? "sweep" : "run", " in '", folder.string(), "' keeps it; choose another place");
}

extern "C++" void refuse_run_file(const std::filesystem::path& file) {
  if (const auto kept = kept_by_run(file); !kept.empty()) throw Error(text("cannot write '", file.string(), "': ", kept));
}

void RunFolder::check(const std::filesystem::path& path, bool resume, const std::string& script) {
  check_folder(path);
  check_free(path, lock_in_time([&] { return lock_of_run(path); }));
  check_may_begin(path, resume, script);
}

RunFolder::RunFolder(const std::filesystem::path& path, bool resume, const std::string& script) : path_(path) {
  // What another process is about to write is nothing to be lost.
  if (resume) check_free(path, lock_in_time([&] { return lock_of_run(path); }));
  check_may_begin(path, resume, script);
  make_folder(path);
  log_ = AppendFile(file("log.txt"));
  const FileLock lock = lock_in_time([this] { return log_.lock(); });
  locked_ = lock == FileLock::held;
  check_free(path, lock);
  check_may_begin(path, resume, script);  // again: a whole run may have come and gone since
}

extern "C++" FileLock lock_of_run(const std::filesystem::path& path) try {
  if (!has(path, "log.txt")) return FileLock::held;
  // To read, which whoever watches another's run may, and shared, as others may be looking, too.
  const int descriptor = ::open(run_file(path, "log.txt").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return FileLock::none;
  const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  const FileLock lock = held ? FileLock::held : errno == EWOULDBLOCK ? FileLock::taken : FileLock::none;
  ::close(descriptor);
  return lock;
} catch (const Error&) {
  return FileLock::none;
}

bool is_in_use(const std::filesystem::path& path) { return lock_of_run(path) == FileLock::taken; }

void RunFolder::check_place(const std::filesystem::path& file) {
  std::error_code missing;
  const auto status = std::filesystem::symlink_status(file, missing);  // of a link, the link
  if (missing == std::errc::filename_too_long)
    throw Error(
        text("cannot write '", file.string(), "': ", missing.message(), "; choose another folder with --out (out = FOLDER)"));
  if (std::filesystem::is_directory(status))
    throw Error(text("'", file.string(), "' is a folder where the run keeps a file; move it away"));
}

void RunFolder::remove(std::string_view name) {
  std::error_code error;
  const auto path = path_ / name;  // of a link, the link
  std::filesystem::remove(path, error);
  if (error) throw Error(text("cannot remove '", path.string(), "': ", error.message()));
}

void RunFolder::log(std::string_view line) noexcept {
  try {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    char stamp[32];
    if (!::gmtime_r(&now, &parts) || std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) stamp[0] = '\0';
    log_.append(text(stamp, " ", one_line(line), "\n"));
  } catch (...) {
    return;
  }
}

}  // namespace iap
