#include "targets.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
import iap.core;

namespace fuzz {
namespace {

constexpr std::array all{
    Target{"capi", play_capi},       Target{"checkpoint", play_checkpoint},
    Target{"json", play_json},       Target{"metrics", play_metrics},
    Target{"mjcf", play_mjcf},       Target{"npz", play_npz},
    Target{"obj", play_obj},         Target{"options", play_options},
    Target{"picture", play_picture}, Target{"policy", play_policy},
    Target{"run", play_run},         Target{"set", play_set},
    Target{"table", play_table},     Target{"urdf", play_urdf},
    Target{"wad", play_wad},
};

/// A folder of this process, removed when it ends in good order.
struct Scratch {
  std::filesystem::path path =
      (access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
      ("iap-fuzz-" + std::to_string(getpid()));
  Scratch() { std::filesystem::create_directories(path); }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

std::span<const Target> targets() { return all; }

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(all, name, &Target::name);
  return found == all.end() ? nullptr : &*found;
}

std::filesystem::path scratch_file(const std::string& name, std::string_view content) {
  static const Scratch scratch;
  const auto path = scratch.path / name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string edited(std::string file, std::string_view changes) {
  constexpr std::size_t head = 3, most = 8;
  while (!file.empty() && changes.size() > head) {
    const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(changes[i])}; };
    const std::size_t at = (byte(0) << 8 | byte(1)) % file.size();
    const auto bytes = changes.substr(head, std::min(byte(2) % most + 1, file.size() - at));
    file.replace(at, bytes.size(), bytes);
    changes.remove_prefix(head + bytes.size());
  }
  return file;
}

std::string resealed(std::string_view file) {
  constexpr std::size_t length_at = 8 + sizeof(std::uint32_t), payload_at = length_at + sizeof(std::uint64_t);
  if (file.size() < payload_at + sizeof(std::uint32_t)) return std::string(file);
  std::string sealed(file.substr(0, file.size() - sizeof(std::uint32_t)));
  const std::uint64_t length = sealed.size() - payload_at;
  std::memcpy(sealed.data() + length_at, &length, sizeof length);
  const std::uint32_t checksum = iap::crc32(sealed);
  sealed.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return sealed;
}

}  // namespace fuzz
