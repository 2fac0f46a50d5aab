module;
#include <fcntl.h>
#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
module iap.core;
import :write_all;

namespace iap {

AppendFile::AppendFile(const std::filesystem::path& path)
    : path_(path), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) throw Error(text("cannot write '", path.string(), "': ", std::strerror(errno)));
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AppendFile::append(std::string_view text_) {
  const off_t before = ::lseek(descriptor_, 0, SEEK_END);
  if (write_all(descriptor_, text_)) return;
  const int error = errno;
  // Half a line may read as a whole one with a smaller number.
  const bool whole = before >= 0 && ::ftruncate(descriptor_, before) == 0;
  throw Error(text("cannot write '", path_.string(), "': ", std::strerror(error), whole ? "" : "; its last line may be torn"));
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
