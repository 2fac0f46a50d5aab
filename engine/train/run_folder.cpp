module;
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
module iap.train;
import iap.core;
import :run_folder;

namespace iap {

RunFolder::RunFolder(const std::filesystem::path& path, bool resume, const std::string& script) : path_(path) {
  const auto refuse = [&](const char* name) {
    throw Error(text("'", path.string(), "' already holds a run (", name,
                     "); continue it with --resume (resume = true), or choose another folder with --out"));
  };
  std::error_code ignored;
  if (!resume) {
    for (const char* name :
         {"checkpoint.iap", "checkpoint.previous.iap", "metrics.csv", "config.json", "best.iap", "final.iap", "result.json"})
      if (std::filesystem::exists(file(name), ignored)) refuse(name);
    if (std::filesystem::exists(file("experiment.lua"), ignored) && read_file(file("experiment.lua")) != script)
      refuse("experiment.lua");
  }
  make_folder(path);
  log_ = AppendFile(file("log.txt"));
  const FileLock lock = log_.lock();
  locked_ = lock == FileLock::held;
  if (lock == FileLock::taken)
    throw Error(text("'", path.string(), "' is in use by another process; wait for it or choose another folder with --out"));
}

bool RunFolder::in_use(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path / "log.txt", ignored)) return false;
  try {
    return AppendFile(path / "log.txt").lock() == FileLock::taken;
  } catch (const Error&) {
    return false;
  }
}

void RunFolder::remove(std::string_view name) {
  std::error_code error;
  std::filesystem::remove(file(name), error);
  if (error) throw Error(text("cannot remove '", file(name).string(), "': ", error.message()));
}

void RunFolder::log(std::string_view line) noexcept {
  try {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    char stamp[32];
    if (!::gmtime_r(&now, &parts) || std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) stamp[0] = '\0';
    log_.append(text(stamp, " ", line, "\n"));
  } catch (...) {
    return;
  }
}

}  // namespace iap
