module;
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
module iap.core;
#include "core/there.hpp"

namespace iap {
namespace {

std::filesystem::file_status told(const std::filesystem::file_status& status, const std::filesystem::path& path,
                                  const std::error_code& error) {
  if (status.type() != std::filesystem::file_type::none) return status;
  if (error == std::errc::filename_too_long || error == std::errc::too_many_symbolic_link_levels)
    return std::filesystem::file_status(std::filesystem::file_type::not_found);
  throw Error(text("cannot look at '", path.string(), "': ", error.message()));
}

}  // namespace

extern "C++" std::filesystem::file_status status_of(const std::filesystem::path& path) {
  std::error_code error;
  return told(std::filesystem::status(path, error), path, error);
}

extern "C++" bool is_there(const std::filesystem::path& path) { return std::filesystem::exists(status_of(path)); }

extern "C++" bool is_link(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_symlink(told(std::filesystem::symlink_status(path, error), path, error));
}

extern "C++" bool is_private(const std::filesystem::path& path) noexcept {
  return ::access(path.c_str(), R_OK) != 0 && errno == EACCES;
}

}  // namespace iap
