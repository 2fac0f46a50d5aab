module;
#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
module iap.train;
import iap.core;
import :metrics;
import :run_folder;
import :run_state;

namespace iap {
namespace {

/// Each says that a run was here.
constexpr std::array marks{"checkpoint.iap", "checkpoint.previous.iap", "metrics.csv", "config.json", "best.iap", "final.iap",
                           "result.json"};
/// What other programs have under the same names.
constexpr std::array common_logs{"metrics.jsonl", "events.out.tfevents.iap"};

bool holds_mark(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::ranges::any_of(marks, [&](const char* name) { return std::filesystem::exists(path / name, ignored); });
}

/// @throws Error naming what another program left in `path`, where no run lies.
void check_no_files_of_others(const std::filesystem::path& path) {
  std::error_code ignored;
  for (const char* name : common_logs)
    if (std::filesystem::exists(path / name, ignored))
      throw Error(text("'", (path / name).string(),
                       "' is of no run and would be written over; choose another folder with --out (out = FOLDER)"));
}

/// @throws Error if `path` holds a run; the script alone may lie there.
void check_holds_no_run(const std::filesystem::path& path, const std::string& script) {
  std::error_code ignored;
  const auto refuse = [&](const char* name) {
    // What stopped before its first checkpoint begins anew.
    const bool continues = std::filesystem::exists(path / "checkpoint.iap", ignored) ||
                           std::filesystem::exists(path / "checkpoint.previous.iap", ignored) ||
                           !MetricsFile::has_iterations(run_file(path, "metrics.csv"));
    throw Error(text("'", path.string(), "' already holds a run (", name, ")",
                     continues ? "; continue it with --resume (resume = true), or" : " but no checkpoint.iap to continue from;",
                     " choose another folder with --out (out = FOLDER)"));
  };
  for (const char* name : marks)
    if (std::filesystem::exists(path / name, ignored)) refuse(name);
  if (std::filesystem::exists(path / "experiment.lua", ignored) && read_file(run_file(path, "experiment.lua")) != script)
    refuse("experiment.lua");
  check_no_files_of_others(path);
}

void check_may_begin(const std::filesystem::path& path, bool resume, const std::string& script) {
  if (!resume)
    check_holds_no_run(path, script);
  else if (!holds_mark(path))
    check_no_files_of_others(path);
}

/// Who asks whether a run is at work (`is_in_use`) has its lock for a moment.
FileLock lock_in_time(AppendFile& log) {
  for (int left = 10;; --left) {
    const FileLock lock = log.lock();
    if (lock != FileLock::taken || left == 0) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// Whether `lock`, a way to lock a run's log, finds another process there.
bool is_taken(const std::filesystem::path& path, FileLock (*lock)(AppendFile&)) {
  std::error_code ignored;
  if (!std::filesystem::exists(path / "log.txt", ignored)) return false;
  try {
    AppendFile log(run_file(path, "log.txt"));
    return lock(log) == FileLock::taken;
  } catch (const Error&) {
    return false;
  }
}

[[noreturn]] void refuse_in_use(const std::filesystem::path& path) {
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

bool is_run_file(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const auto is_name = [&name](const char* of_run) { return name == of_run; };
  std::error_code ignored;
  return (std::ranges::any_of(marks, is_name) || std::ranges::any_of(common_logs, is_name) || name == "experiment.lua" ||
          name == "log.txt") &&
         std::filesystem::exists(file.parent_path() / "config.json", ignored);
}

void RunFolder::check(const std::filesystem::path& path, bool resume, const std::string& script) {
  if (is_taken(path, lock_in_time)) refuse_in_use(path);
  check_may_begin(path, resume, script);
}

RunFolder::RunFolder(const std::filesystem::path& path, bool resume, const std::string& script) : path_(path) {
  check_may_begin(path, resume, script);
  make_folder(path);
  log_ = AppendFile(file("log.txt"));
  const FileLock lock = lock_in_time(log_);
  locked_ = lock == FileLock::held;
  if (lock == FileLock::taken) refuse_in_use(path);
}

bool is_in_use(const std::filesystem::path& path) {
  return is_taken(path, [](AppendFile& log) { return log.lock(); });
}

void RunFolder::check_place(std::string_view name) const {
  std::error_code missing;
  const auto path = path_ / name;
  const auto status = std::filesystem::symlink_status(path, missing);  // of a link, the link
  if (std::filesystem::is_directory(status))
    throw Error(text("'", path.string(), "' is a folder where the run keeps a file; move it away"));
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
