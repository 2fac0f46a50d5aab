module;
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
module iap.core;
import :part_place;
#include "core/folder.hpp"
#include "core/there.hpp"

namespace iap {
namespace {

std::string reason() { return std::strerror(errno); }

/// The first part of `path` that is there and leads to no folder, or "".
std::filesystem::path obstacle_in(const std::filesystem::path& path) {
  std::filesystem::path part;
  std::error_code ignored;
  for (const auto& name : path) {
    part /= name;
    if (!std::filesystem::exists(std::filesystem::symlink_status(part, ignored))) return {};
    if (!std::filesystem::is_directory(part, ignored)) return part;
  }
  return {};
}

/// @throws Error naming what stands where a folder is to be.
void check_obstacles(const std::filesystem::path& path) {
  const std::filesystem::path obstacle = obstacle_in(path);
  if (obstacle.empty()) return;
  std::error_code ignored;
  throw Error(text("cannot create folder '", path.string(), "': '", obstacle.string(), "' is ",
                   std::filesystem::is_symlink(obstacle, ignored) ? "a link that leads to no folder" : "no folder",
                   "; choose another place, or move that away"));
}

bool is_writable(const std::filesystem::path& folder) { return ::access(folder.c_str(), W_OK | X_OK) == 0; }

void check_writable(const std::filesystem::path& folder) {
  if (!is_writable(folder)) throw Error(text("cannot write into folder '", folder.string(), "': ", reason()));
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  check_name("read", path);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw Error(text("cannot read '", path.string(), "': it is a folder"));
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error(text("cannot read '", path.string(), "': ", reason()));
  constexpr std::size_t least = std::size_t{4} << 10, most = std::size_t{1} << 20;
  // One byte more than there should be, so that the first piece already meets the end.
  const std::uintmax_t told = std::filesystem::file_size(path, ignored);
  const std::size_t expected = ignored ? most : static_cast<std::size_t>(told),
                    piece = std::clamp(expected, least - 1, most - 1) + 1;
  const auto check = [&path](std::size_t bytes) {
    check_memory(text("reading '", path.string(), "'"), static_cast<double>(bytes));
  };
  std::string content;
  if (expected > most) {
    check(expected);
    content.reserve(expected + piece);
  }
  // A pipe or a device need not end, and a file may be mostly holes.
  constexpr std::size_t long_content = std::size_t{64} << 20;
  std::size_t next_look = std::max(long_content, expected + 1);
  while (stream) {
    const std::size_t done = content.size();
    if (done >= long_content) check_interrupt();
    if (done >= next_look) {
      next_look = 2 * done;
      check(next_look);
    }
    content.resize(done + piece);
    stream.read(content.data() + done, static_cast<std::streamsize>(piece));
    content.resize(done + static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) throw Error(text("cannot read '", path.string(), "': ", reason()));
  return content;
}

void write_file_atomic(const std::filesystem::path& path, std::string_view content) {
  PartFile file(path);
  file.append(content);
  file.commit();
}

void make_folder(const std::filesystem::path& path) {
  check_name("create folder", path);
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    check_obstacles(path);
    throw Error(text("cannot create folder '", path.string(), "': ", error.message()));
  }
  check_writable(path);
}

extern "C++" void check_folder(const std::filesystem::path& path) {
  check_name("create folder", path);
  check_obstacles(path);
  if (is_there(path)) return check_writable(path);
  auto place = path;
  while (place.has_relative_path() && !is_there(place)) place = folder_of(place);
  if (!is_writable(place)) throw Error(text("cannot create folder '", path.string(), "': ", reason()));
}

}  // namespace iap
