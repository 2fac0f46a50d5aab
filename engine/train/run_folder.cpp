module;
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
  for (const char* name : {"checkpoint.iap", "checkpoint.previous.iap", "metrics.csv", "config.json", "best.iap", "final.iap",
                           "result.json", "metrics.jsonl", "events.out.tfevents.iap"})
    if (std::filesystem::exists(path / name, ignored)) refuse(name);
  if (std::filesystem::exists(path / "experiment.lua", ignored) && read_file(run_file(path, "experiment.lua")) != script)
    refuse("experiment.lua");
}

/// Who asks whether a run is at work (`in_use`) has its lock for a moment.
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
  throw Error(
      text("'", path.string(), "' is in use by another process; wait for it or choose another folder with --out (out = FOLDER)"));
}

}  // namespace

void RunFolder::check(const std::filesystem::path& path, bool resume, const std::string& script) {
  if (is_taken(path, lock_in_time)) refuse_in_use(path);
  if (!resume) check_holds_no_run(path, script);
}

RunFolder::RunFolder(const std::filesystem::path& path, bool resume, const std::string& script) : path_(path) {
  if (!resume) check_holds_no_run(path, script);
  make_folder(path);
  log_ = AppendFile(file("log.txt"));
  const FileLock lock = lock_in_time(log_);
  locked_ = lock == FileLock::held;
  if (lock == FileLock::taken) refuse_in_use(path);
}

bool RunFolder::in_use(const std::filesystem::path& path) {
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
