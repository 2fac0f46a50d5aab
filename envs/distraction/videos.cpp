module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>
module iap.envs.distraction;
import iap.core;
import iap.render;
#include "core/there.hpp"

namespace iap {
namespace {

namespace fs = std::filesystem;

constexpr int painted_training = 60, painted_validation = 30;
constexpr std::uint64_t first_validation_seed = 1000;

constexpr std::array<std::string_view, 30> davis_validation{
    "bike-packing",   "blackswan",     "bmx-trees",      "breakdance",     "camel",
    "car-roundabout", "car-shadow",    "cows",           "dance-twirl",    "dog",
    "dogs-jump",      "drift-chicane", "drift-straight", "goat",           "gold-fish",
    "horsejump-high", "india",         "judo",           "kite-surf",      "lab-coat",
    "libby",          "loading",       "mbike-trick",    "motocross-jump", "paragliding-launch",
    "parkour",        "pigs",          "scooter-black",  "shooting",       "soapbox"};

const char* name_of(Split split) { return split == Split::train ? "train" : "validation"; }

Error trouble(const fs::path& folder, const std::string& what) {
  return Error(text("the videos in ", folder.string(), ": ", what));
}

std::vector<fs::path> entries(const fs::path& folder, bool folders) {
  check_file(folder);  // for a NUL in the name, which would end messages
  std::error_code code;
  auto found = numbered_entries(folder, folders, code);
  if (code) throw trouble(folder, text("the folder cannot be read (", code.message(), "); name a folder of folders of frames"));
  return found;
}

Video read_video(const fs::path& folder) {
  Video video{.name = folder.filename().string()};
  video.frames = entries(folder, false);
  std::erase_if(video.frames, [](const fs::path& path) { return !ends_in(path, {".png", ".jpg", ".jpeg"}); });
  if (video.frames.empty()) throw trouble(folder, "the folder holds no PNG or JPEG file; fill or remove it");
  return video;
}

std::vector<Video> painted_videos(Split split) {
  const bool train = split == Split::train;
  std::vector<Video> videos;
  for (int i = 0; i < (train ? painted_training : painted_validation); ++i) {
    const std::uint64_t seed = (train ? 0 : first_validation_seed) + i;
    videos.push_back({text("painted-", seed), {}, seed});
  }
  return videos;
}

}  // namespace

int Video::length() const { return frames.empty() ? PaintedVideo::frames : static_cast<int>(frames.size()); }

std::vector<Video> find_videos(const fs::path& folder, Split split) {
  if (folder.empty()) return painted_videos(split);
  const auto is_folder = [](const fs::path& path) { return fs::is_directory(status_of(path)); };
  if (!is_folder(folder)) throw trouble(folder, "there is no such folder; name a folder of folders of frames");
  const bool divided = is_folder(folder / "train") && is_folder(folder / "validation");
  std::vector<Video> videos;
  double frames = 0;
  for (const fs::path& path : entries(divided ? folder / name_of(split) : folder, true)) {
    const bool validation = std::ranges::find(davis_validation, path.filename().string()) != davis_validation.end();
    if (!divided && validation != (split == Split::validation)) continue;
    videos.push_back(read_video(path));
    frames += videos.back().length();
    check_memory(text("the videos in ", folder.string(), ": a list of their frames"), bytes_a_path * frames);
  }
  if (videos.empty())
    throw trouble(folder,
                  text("no video of the split '", name_of(split), "'; give each video a folder of frames, in folders 'train' ",
                       "and 'validation' or under DAVIS 2017's names"));
  return videos;
}

}  // namespace iap
