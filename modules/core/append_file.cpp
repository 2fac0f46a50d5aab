module;
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
module iap.core;
import :part_place;
import :write_all;

namespace iap {

AppendFile::AppendFile(const std::filesystem::path& path) : path_(path) {
  check_name("write", path);
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw Error(text("cannot write '", path.string(), "': ", std::strerror(errno)));
  end_ = ::lseek(descriptor_, 0, SEEK_END);
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), end_(other.end_) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(end_, other.end_);
  return *this;
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AppendFile::append(std::string_view text_) {
  const off_t before = ::lseek(descriptor_, 0, SEEK_END);
  if (write_all(descriptor_, text_)) {
    end_ += static_cast<std::int64_t>(text_.size());
    return;
  }
  const int error = errno;
  // Half a line may read as a whole one with a smaller number.
  const bool whole = before >= 0 && ::ftruncate(descriptor_, before) == 0;
  throw Error(text("cannot write '", path_.string(), "': ", std::strerror(error), whole ? "" : "; its last line may be torn"));
}

FileStanding AppendFile::standing() const {
  struct stat open{}, named{};
  if (::stat(path_.c_str(), &named) != 0) return errno == ENOENT || errno == ENOTDIR ? FileStanding::gone : FileStanding::kept;
  if (::fstat(descriptor_, &open) != 0 || open.st_dev != named.st_dev || open.st_ino != named.st_ino) return FileStanding::replaced;
  return open.st_size == end_ ? FileStanding::kept : FileStanding::changed;
}

void AppendFile::sync() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS)
    throw Error(text("cannot write '", path_.string(), "': ", std::strerror(errno)));
}

FileLock AppendFile::lock() {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return FileLock::held;
  return errno == EWOULDBLOCK ? FileLock::taken : FileLock::none;
}

}  // namespace iap
