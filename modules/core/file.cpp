module;
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "core/write_all.hpp"
module iap.core;

namespace iap {
namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

std::string reason() { return std::strerror(errno); }

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw Error(text("cannot read '", path.string(), "': it is a folder"));
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error(text("cannot read '", path.string(), "': ", reason()));
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::string content;
  while (stream) {
    const std::size_t done = content.size();
    content.resize(done + piece);
    stream.read(content.data() + done, piece);
    content.resize(done + static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) throw Error(text("cannot read '", path.string(), "': ", reason()));
  return content;
}

void write_file_atomic(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::path temporary = path;
  temporary += ".part";
  const auto fail = [&] {
    const std::string why = reason();
    ::unlink(temporary.c_str());
    throw Error(text("cannot write '", path.string(), "': ", why));
  };
  {
    const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (file.number() < 0) fail();
    if (!write_all(file.number(), content) || ::fsync(file.number()) != 0) fail();
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail();
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  // Without this the rename itself may be lost in a power cut; some file systems refuse to sync a folder, which is no failure.
  if (const Descriptor directory(folder, O_RDONLY | O_DIRECTORY); directory.number() >= 0) ::fsync(directory.number());
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Error(text("cannot create folder '", path.string(), "': ", error.message()));
  if (::access(path.c_str(), W_OK | X_OK) != 0) throw Error(text("cannot write into folder '", path.string(), "': ", reason()));
}

}  // namespace iap
