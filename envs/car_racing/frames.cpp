module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <vector>
module iap.envs.car_racing;
import iap.core;
import iap.render;
#include "core/files_read.hpp"

namespace iap {
namespace {

// Every pixel of the result is the mean of the pixels that it covers, or the nearest one where the result is larger.
std::vector<std::uint8_t> scaled(const Image& image, int height, int width) {
  const auto& shape = image.shape();
  const auto range = [](int i, int to, int from) {
    const int begin = i * from / to;
    return std::pair{begin, std::max(begin + 1, (i + 1) * from / to)};
  };
  std::vector<std::uint8_t> out;
  out.reserve(static_cast<std::size_t>(height) * width * 3);
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
  return out;
}

}  // namespace

Frames::Frames(const std::filesystem::path& folder, int height, int width) {
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
  for (const auto& file : files) frames_.push_back(scaled(read_png(file), height, width));
}

}  // namespace iap
