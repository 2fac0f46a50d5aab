module;
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
/// Files: read whole, written so that nothing is ever half there, or growing.
export module iap.core:file;

export namespace iap {

/// The whole content. @throws Error naming the path and the reason.
std::string read_file(const std::filesystem::path& path);
/// Replaces `path` atomically, as PartFile does. @throws Error naming the path and the reason.
void write_file_atomic(const std::filesystem::path& path, std::string_view content);
/// Creates the folder and its parents and checks that files can be written into it. @throws Error naming the path and the reason.
void make_folder(const std::filesystem::path& path);

/// A file in the making: until it is whole it stands in the folder of its place, under a name that no other file has, and the old
/// content stands. Its place is what `path` leads to by symbolic links; it keeps the permissions of the old content. A pipe, a
/// device or a file that is open here (/dev/fd/N) is written into as it stands. Members throw Error naming the path and the reason.
class PartFile {
 public:
  /// Creates the part. Waits for the reader of a pipe. @throws Interrupted meanwhile.
  explicit PartFile(const std::filesystem::path& path);
  /// Removes the part unless `commit` was called.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void append(std::string_view bytes);
  void overwrite(std::uint64_t offset, std::string_view bytes);
  /// Puts the file in its place, with what another process may have written into the part as well, and waits until file and name
  /// are on disk.
  void commit();
  /// The file in the making itself, for programs that write it; `path` where that is written into as it stands.
  const std::filesystem::path& part() const;

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_, part_;
  int descriptor_;
  bool committed_ = false;
};

/// What an attempt to lock a file came to.
enum class FileLock : std::uint8_t {
  held,   ///< by this object alone
  taken,  ///< another process, or another object of this one, holds it
  none    ///< the file system, or the system, gives no locks
};

/// What others did to a file that is open here.
enum class FileStanding : std::uint8_t {
  kept,      ///< nothing that shows: its path leads to it, and it is as long as it was left
  changed,   ///< it is longer or shorter than it was left
  replaced,  ///< its path leads to another file
  gone       ///< its path leads nowhere
};

/// A file that only grows: a table, a log. Closes itself.
class AppendFile {
 public:
  AppendFile() = default;
  /// Opens `path`, creating it if it is missing. @throws Error naming the path and the reason.
  explicit AppendFile(const std::filesystem::path& path);
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;
  ~AppendFile();
  /// Adds all of `text` or, where the system refuses, nothing: what it took of it is cut off again.
  /// @throws Error naming the path and the reason.
  void append(std::string_view text);
  /// For who is its only writer: what is appended to a file whose name leads elsewhere by now is lost.
  FileStanding standing() const;
  /// Waits until everything is on disk. @throws Error naming the path and the reason.
  void sync();
  /// Tries to become the only holder of this lock in all processes; it ends with the process.
  FileLock lock();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t end_ = 0;  ///< how long it was left
};

}  // namespace iap
