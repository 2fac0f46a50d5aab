module;
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
module iap.render;
import iap.core;
#include "animation_formats.hpp"

namespace iap {
namespace {

struct Format {
  std::string_view ending;
  std::unique_ptr<AnimationWriter> (*open)(const std::filesystem::path& path, const AnimationOptions& options);
};

constexpr std::array formats{Format{".webp", open_webp}, Format{".png", open_apng}, Format{".apng", open_apng},
                             Format{".mp4", open_mp4}};

}  // namespace

std::string animation_endings() {
  std::string endings;
  for (const auto& format : formats) endings += text(endings.empty() ? "" : ", ", format.ending);
  return endings;
}

std::unique_ptr<AnimationWriter> open_animation(const std::filesystem::path& path, const AnimationOptions& options) {
  check_animation_options(path.string(), options);
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& format : formats)
    if (ending == format.ending) return format.open(path, options);
  throw Error(text("cannot write '", path.string(), "' as a moving picture: its name must end in one of ", animation_endings()));
}

void check_animation_options(const std::string& name, const AnimationOptions& options) {
  if (!(options.fps > 0 && options.fps <= 1000))
    throw Error(text("cannot write '", name, "': fps must be above 0 and at most 1000, got ", options.fps));
  if (options.quality < 0 || options.quality > 100)
    throw Error(text("cannot write '", name, "': quality must be in [0, 100], got ", options.quality));
}

void check_animation_frame(const std::string& name, const ImageView& frame, ImageShape& shape) {
  const ImageShape& got = frame.shape;
  if (got.type != PixelType::uint8 || got.channels != 3 || got.height < 1 || got.width < 1)
    throw Error(text("cannot add a frame of ", got.height, " x ", got.width, " x ", got.channels,
                     got.type == PixelType::uint8 ? " bytes" : " floats", " to '", name, "': frames are 8-bit RGB"));
  constexpr int largest = 16383;
  if (got.height > largest || got.width > largest)
    throw Error(
        text("cannot add a frame of ", got.height, " x ", got.width, " to '", name, "': ", largest, " pixels are the most"));
  if (shape.channels == 0) shape = got;
  if (!(got == shape))
    throw Error(text("cannot add a frame of ", got.height, " x ", got.width, " to '", name, "', whose frames are ", shape.height,
                     " x ", shape.width));
}

std::int64_t frame_begin_ms(int index, double fps) {
  constexpr double longest = 1e15;
  return std::llround(std::min(index * 1000.0 / fps, longest));
}

}  // namespace iap
