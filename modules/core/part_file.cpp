module;
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
module iap.core;
import :write_all;

namespace iap {
namespace {

/// The folder of a file, open to be synced: without that a rename may be lost in a power cut.
class Folder {
 public:
  explicit Folder(const std::filesystem::path& path) {
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    good_ = descriptor_ >= 0 || errno == EACCES;  // who may only write into a folder cannot sync it
  }
  ~Folder() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  bool good() const { return good_; }
  /// Some file systems refuse to sync a folder, which is no failure.
  bool sync() const {
    return descriptor_ < 0 || ::fsync(descriptor_) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
  }

 private:
  int descriptor_ = -1;
  bool good_ = false;
};

}  // namespace

PartFile::PartFile(const std::filesystem::path& path) : path_(path), part_(path) {
  part_ += ".part";
  descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail();
}

PartFile::~PartFile() {
  ::close(descriptor_);
  if (!committed_) ::unlink(part_.c_str());
}

const std::filesystem::path& PartFile::part() const { return part_; }

void PartFile::append(std::string_view bytes) {
  if (!write_all(descriptor_, bytes)) fail();
}

void PartFile::overwrite(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail();
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void PartFile::commit() {
  // Opened first: a process without a handle left learns so while the old content stands.
  const Folder folder(path_);
  if (!folder.good() || ::fsync(descriptor_) != 0 || ::rename(part_.c_str(), path_.c_str()) != 0) fail();
  committed_ = true;
  if (!folder.sync()) fail();
}

void PartFile::fail() const { throw Error(text("cannot write '", path_.string(), "': ", std::strerror(errno))); }

}  // namespace iap
