module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.envs.car_racing;
import iap.core;
import iap.render;
#include "core/file_identity.hpp"
#include "core/files_read.hpp"

namespace iap {
namespace {

using Pixels = std::vector<std::uint8_t>;

// Every pixel of the result is the mean of the pixels that it covers, or the nearest one where the result is larger.
void append_scaled(const Image& image, int height, int width, Pixels& out) {
  const auto& shape = image.shape();
  const auto range = [](int i, int to, int from) {
    const int begin = i * from / to;
    return std::pair{begin, std::max(begin + 1, (i + 1) * from / to)};
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int channel = 0; channel < 3; ++channel) {
        const auto [top, bottom] = range(y, height, shape.height);
        const auto [left, right] = range(x, width, shape.width);
        int sum = 0;
        for (int row = top; row < bottom; ++row)
          for (int column = left; column < right; ++column)
            sum += image.bytes()[(static_cast<std::size_t>(row) * shape.width + column) * 3 + channel];
        const int count = (bottom - top) * (right - left);
        out.push_back(static_cast<std::uint8_t>((sum + count / 2) / count));
      }
}

Pixels read_frames(std::span<const std::filesystem::path> files, int height, int width, std::size_t frame_size) {
  Pixels pixels;
  pixels.reserve(files.size() * frame_size);
  for (const auto& file : files) {
    check_interrupt();
    append_scaled(read_png(file), height, width, pixels);
  }
  return pixels;
}

// Kept while an environment uses them, under the names of the files and what tells them from others that take their places.
std::shared_ptr<const Pixels> shared_frames(std::span<const std::filesystem::path> files, int height, int width,
                                            std::size_t frame_size) {
  static ForkMutex mutex;
  static std::map<std::string, std::weak_ptr<const Pixels>> known;
  const std::lock_guard lock(mutex);
  std::string key = text(height, " ", width);
  for (const auto& file : files) {
    std::error_code ignored;
    key += text("\n", std::filesystem::absolute(file, ignored).string(), "\n", file_identity(file));
  }
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto& kept = known[key];
  auto pixels = kept.lock();
  if (!pixels) kept = pixels = std::make_shared<const Pixels>(read_frames(files, height, width, frame_size));
  return pixels;
}

}  // namespace

Frames::Frames(const std::filesystem::path& folder, int height, int width, std::size_t most)
    : frame_size_(static_cast<std::size_t>(height) * width * 3) {
  check_file(folder);  // for a NUL in the name, which would end messages
  std::error_code failure;
  auto files = numbered_entries(folder, false, failure);
  const auto refuse = [&](const std::string& why) {
    throw Error(text("car-racing: option 'frames': '", folder.string(), "' ", why));
  };
  if (failure) refuse(text("cannot be read (", failure.message(), "); name a folder of numbered PNG frames"));
  std::erase_if(files, [](const auto& file) { return !ends_in(file, {".png"}); });
  if (files.empty()) refuse("holds no .png files; convert the video to numbered PNG frames");
  note_files(folder.string(), files);
  files.resize(std::min(files.size(), most));
  check_memory(text("car-racing: option 'frames': '", folder.string(), "': what is kept of ", files.size(), " frames"),
               static_cast<double>(files.size()) * static_cast<double>(frame_size_));
  pixels_ = shared_frames(files, height, width, frame_size_);
}

}  // namespace iap
