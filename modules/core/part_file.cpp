module;
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
module iap.core;
import :write_all;

namespace iap {
namespace {

// Without this a rename may be lost in a power cut; some file systems refuse to sync a folder, which is no failure.
void sync_folder_of(const std::filesystem::path& path) {
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

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
  if (::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes.size())) fail();
}

void PartFile::commit() {
  if (::fsync(descriptor_) != 0 || ::rename(part_.c_str(), path_.c_str()) != 0) fail();
  committed_ = true;
  sync_folder_of(path_);
}

void PartFile::fail() const { throw Error(text("cannot write '", path_.string(), "': ", std::strerror(errno))); }

}  // namespace iap
