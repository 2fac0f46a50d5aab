module;
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
module iap.core;
import :part_place;
import :write_all;

namespace iap {
namespace {

/// The folder of a file, open to be synced: without that a rename may be lost in a power cut.
class Folder {
 public:
  explicit Folder(const std::filesystem::path& folder) {
    descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    good_ = descriptor_ >= 0 || errno == EACCES;  // who may only write into a folder cannot sync it
  }
  ~Folder() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  bool good() const { return good_; }
  bool sync() const { return descriptor_ < 0 || synced(descriptor_); }

 private:
  int descriptor_ = -1;
  bool good_ = false;
};

}  // namespace

PartFile::PartFile(const std::filesystem::path& path) : path_(path), part_(path) {
  check_name("write", path);
  struct stat there{};
  const bool replaces = ::stat(path.c_str(), &there) == 0;
  if (!replaces && errno != ENOENT && errno != ELOOP) fail();  // it may be there, with permissions to be kept
  const Replaced before{path, there};
  const int stream = stream_number(path);
  if (stream >= 0)
    descriptor_ = ::fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  else if (replaces && !S_ISREG(there.st_mode))
    descriptor_ = open_special(path);
  else
    descriptor_ = make_part(folder_of(followed(path)), replaces ? &before : nullptr, part_);
  if (descriptor_ < 0) fail();
}

PartFile::~PartFile() {
  // While the lock is held, nobody else takes this name for a leftover.
  if (!committed_ && part_ != path_) ::unlink(part_.c_str());
  ::close(descriptor_);
}

const std::filesystem::path& PartFile::part() const { return part_; }

void PartFile::append(std::string_view bytes) {
  if (!write_all(descriptor_, bytes)) fail();
}

void PartFile::overwrite(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == ESPIPE)
      throw Error(text("cannot write '", path_.string(), "': such a file is completed at its beginning, which a pipe does not ",
                       "let; name a file"));
    if (written <= 0) fail();
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void PartFile::commit() {
  committed_ = part_ == path_;
  if (committed_) {
    if (!synced(descriptor_)) fail();
    return;
  }
  const auto place = followed(path_);
  // Opened first: a process without a handle left learns so while the old content stands.
  const Folder folder(folder_of(place));
  if (!folder.good() || ::fsync(descriptor_) != 0 || ::rename(part_.c_str(), place.c_str()) != 0) fail();
  committed_ = true;
  if (!folder.sync()) fail();
}

void PartFile::fail() const { throw Error(text("cannot write '", path_.string(), "': ", std::strerror(errno))); }

}  // namespace iap
