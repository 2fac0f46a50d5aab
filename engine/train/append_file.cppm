module;
#include <filesystem>
#include <string_view>
/// Files that only grow: tables and logs.
module iap.train:append_file;

namespace iap {

/// A file that only grows. Closes itself.
class AppendFile {
 public:
  AppendFile() = default;
  /// Opens `path`, creating it if it is missing. @throws Error naming the path and the reason.
  explicit AppendFile(const std::filesystem::path& path);
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;
  ~AppendFile();
  /// @throws Error naming the path and the reason.
  void append(std::string_view text);
  /// Waits until everything is on disk.
  void sync();
  /// Tries to become the only holder of this lock in all processes; it ends with the process. False if another one holds it.
  bool lock();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace iap
