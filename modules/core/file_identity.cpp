module;
#include <sys/stat.h>

#include <filesystem>
#include <string>
module iap.core;
#include "core/file_identity.hpp"

namespace iap {

extern "C++" std::string file_identity(const std::filesystem::path& file) {
  struct stat there{};
  if (::stat(file.c_str(), &there) != 0) return "none";
  return text(there.st_dev, " ", there.st_ino, " ", there.st_size, " ", there.st_ctim.tv_sec, " ", there.st_ctim.tv_nsec);
}

}  // namespace iap
