module;
#include <filesystem>
#include <string>
#include <string_view>
/// The folder of a run: who may write into it, its log.
module iap.train:run_folder;
import iap.core;
import :run_state;

namespace iap {

/// Whether there is nothing to write: `file` has this `content`.
bool holds(const std::filesystem::path& file, std::string_view content);

/// The claimed folder of a run.
class RunFolder {
 public:
  /// Creates and claims `path`. @throws Error if it cannot be written, is in use by another process, or (unless `resume`) holds
  /// a run whose experiment.lua is not `script` alone.
  RunFolder(const std::filesystem::path& path, bool resume, const std::string& script);
  /// @throws Error where the constructor would, for what lies in `path` or who works there; nothing is created.
  static void check(const std::filesystem::path& path, bool resume, const std::string& script);
  /// @throws Error as run_file.
  std::filesystem::path file(std::string_view name) const { return run_file(path_, name); }
  const std::filesystem::path& path() const { return path_; }
  /// False where the file system gives no locks: another process may write there too.
  bool locked() const { return locked_; }
  /// @throws Error naming `file` where it is made anew and a folder stands there.
  static void check_place(const std::filesystem::path& file);
  /// Removes a file that need not be there. @throws Error naming it.
  void remove(std::string_view name);
  /// Appends a line with the time to log.txt. Never fails: the log must not stop a run.
  void log(std::string_view line) noexcept;

 private:
  std::filesystem::path path_;
  AppendFile log_;
  bool locked_ = false;
};

}  // namespace iap
