module;
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/write_all.hpp"
module iap.render;
import iap.core;
#include "part_file.hpp"

namespace iap {

PartFile::PartFile(const std::filesystem::path& path) : path_(path), part_(path) {
  part_ += ".part";
  descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail();
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_) ::unlink(part_.c_str());
}

void PartFile::append(std::string_view bytes) {
  if (!write_all(descriptor_, bytes)) fail();
}

void PartFile::overwrite(std::uint64_t offset, std::string_view bytes) {
  if (::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes.size())) fail();
}

void PartFile::commit() {
  if (::fsync(descriptor_) != 0 || ::rename(part_.c_str(), path_.c_str()) != 0) fail();
  committed_ = true;
}

void PartFile::fail() const { throw Error(text("cannot write '", path_.string(), "': ", std::strerror(errno))); }

}  // namespace iap
