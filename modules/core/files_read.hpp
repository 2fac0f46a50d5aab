#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// What files hold that options name and that travel with nothing (videos, a WAD, a scanned building): under the name of each file
/// or folder, in a few words that tell it from another one.
using FilesRead = std::map<std::string, std::string>;

/// From now on `log` takes what this thread notes; null ends that. Returns the log of before.
FilesRead* log_files(FilesRead* log) noexcept;

/// Notes that `name` stands for `files` in this order, told from others by their number, names and sizes and by how each begins and
/// ends, as they may be many and large: whatever reads files that travel with nothing calls it, or `note_contents`, each time that
/// it is built.
void note_files(const std::string& name, std::span<const std::filesystem::path> files);
/// The same by all that they hold.
void note_contents(const std::string& name, std::span<const std::filesystem::path> files);

/// A record as programs kept it that noted of beginnings and ends nothing.
std::string without_ends(std::string record);

/// Keeps what this thread notes while it lives.
class FilesLog {
 public:
  FilesLog() : outer_(log_files(&files)) {}
  ~FilesLog() { log_files(outer_); }
  FilesLog(const FilesLog&) = delete;
  FilesLog& operator=(const FilesLog&) = delete;

  FilesRead files;

 private:
  FilesRead* outer_;
};
}
}  // namespace iap
