module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
module iap.envs.distraction;
import iap.core;
import iap.render;
import iap.sim;
#include "core/files_read.hpp"

namespace iap {
namespace {

double ground_alpha_of(std::string_view model) {
  if (model == "reacher") return 0;
  return model == "walker" || model == "cheetah" ? 1 : 0.3;
}

// The finest mipmap level that a pixel can look at: no pixel's footprint on a cube's face is smaller than that of a pixel in the
// picture's corner would be in a face's middle.
double finest_detail(double fovy_degrees, int height, int width, int face) {
  const double tangent = std::tan(fovy_degrees * std::numbers::pi / 360), step = 2 * tangent / height;
  const double corner = std::hypot(1, tangent, tangent * width / height);
  return std::max(0.0, std::log2(0.5 * face * step * std::pow(corner, -1.5)));
}

int sky_of(const MujocoWorld& world, const Options& options) {
  constexpr double sky_type = 2;
  const auto types = world.array("tex_type");
  const auto sky = std::ranges::find(types, sky_type);
  if (sky == types.end())
    options.fail(
        "the model has no sky for a video to replace; add <texture type=\"skybox\" .../> to the MJCF, or set background = false");
  return static_cast<int>(sky - types.begin());
}

int floor_of(const MujocoWorld& world, const Options& options) {
  const auto materials = world.names("material");
  const auto floor = std::ranges::find(materials, "grid");
  if (floor == materials.end())
    options.fail(
        "the model has no material 'grid' for a video to shine through; call the floor's material that in the MJCF, or set "
        "background = false");
  return static_cast<int>(floor - materials.begin());
}

class Background final : public Disturbance {
 public:
  Background(Options& options, const DisturbanceContext& context)
      : dynamic_(context.dynamic), sky_(sky_of(context.world, options)), grid_(floor_of(context.world, options)) {
    constexpr int most_videos = 100000;
    const auto count = static_cast<std::size_t>(options.integer_in("count", 0, most_videos, context.videos));
    picture_.alpha = options.number_in("video_alpha", 0, 1, 1.0);
    ground_alpha_ = static_cast<float>(options.number_in("ground_alpha", 0, 1, ground_alpha_of(context.model)));
    if (picture_.alpha > 0) find(count, options, context);
  }

  void reset(MujocoWorld&, Random random) override {
    if (videos_.empty()) return;
    walk_.reset(lengths_, dynamic_, random);
    std::ranges::fill(met_, std::weak_ptr<const Texture>());
  }
  void step() override {
    if (!videos_.empty()) walk_.step();
  }
  void apply(MujocoWorld& world, MujocoCamera& view) override {
    if (!videos_.empty()) show(view);
    own_alpha_ = std::exchange(world.material_rgba(grid_)[3], ground_alpha_);
  }
  // Rays of rangefinders go through what cannot be seen.
  void restore(MujocoWorld& world) noexcept override { world.material_rgba(grid_)[3] = own_alpha_; }

 private:
  void show(MujocoCamera& view) {
    auto& met = met_[walk_.frame()];
    shown_ = met.lock();
    if (!shown_) met = shown_ = sky_texture(videos_[walk_.video()], walk_.frame(), picture_);
    view.replace_texture(sky_, shown_);
  }
  void find(std::size_t count, const Options& options, const DisturbanceContext& context) {
    const MujocoWorld& world = context.world;
    videos_ = find_videos(context.folder, context.split);
    if (count > videos_.size()) refuse(count, options);
    if (count > 0) videos_.resize(count);
    std::vector<std::filesystem::path> frames;
    for (const Video& video : videos_) {
      lengths_.push_back(video.length());
      frames.insert(frames.end(), video.frames.begin(), video.frames.end());
    }
    note_files(context.folder, frames);
    met_.resize(std::ranges::max(lengths_));
    // They are read as they are shown, wherever the process has gone by then.
    for (Video& video : videos_)
      for (auto& frame : video.frames) {
        std::error_code gone;
        if (auto whole = std::filesystem::absolute(frame, gone); !gone) frame = std::move(whole);
      }
    picture_.size = static_cast<int>(world.array("tex_width")[sky_]);
    picture_.detail = finest_detail(world.array("cam_fovy")[context.camera], context.height, context.width, picture_.size);
    if (picture_.alpha == 1) return;
    const auto pixels = world.texture_pixels(sky_);
    own_sky_.assign(pixels.begin(), pixels.begin() + static_cast<std::ptrdiff_t>(3) * picture_.size * picture_.size);
    picture_.own = own_sky_;
    picture_.own_sum = crc32({reinterpret_cast<const char*>(own_sky_.data()), own_sky_.size()});
  }

  [[noreturn]] void refuse(std::size_t count, const Options& options) const {
    const std::size_t found = videos_.size();
    const std::string there = found == 1 ? "there is 1 video" : text("there are ", found, " videos");
    options.fail(options.has("count")
                     ? text("count = ", count, " but ", there, "; use at most that, or 0 for all")
                     : text(there, ", and ", count, " are shown where nothing else is said; set background = { count = ", found,
                            " }, or count = 0 for all"));
  }

  bool dynamic_;
  int sky_, grid_;
  float ground_alpha_ = 1, own_alpha_ = 1;
  std::vector<Video> videos_;  ///< none where the model's own sky remains
  std::vector<int> lengths_;
  SkyPicture picture_;
  std::vector<std::uint8_t> own_sky_;
  VideoWalk walk_;
  std::shared_ptr<const Texture> shown_;
  /// Frames that the episode has met, which need not be asked for by name again; `sky_texture` counts them and lets them go.
  std::vector<std::weak_ptr<const Texture>> met_;
};

}  // namespace

/// @lua options env.distraction.background
/// Videos behind the scene, in place of a sky that is drawn: with `render.sky` = false they are refused.
/// @option dynamic boolean = (the distraction's) - the video plays; otherwise an episode has one frame
/// @option count integer 0..100000 = (easy 4, medium 8, hard 0) - of the first videos; 0: all
/// @option video_alpha number 0..1 = 1 - opacity of the video over the sky
/// @option ground_alpha number 0..1 = (reacher 0, cheetah and walker 1, else 0.3) - opacity of the
/// floor, which MuJoCo blends twice: .3 covers 51%
std::unique_ptr<Disturbance> make_background(Options& options, const DisturbanceContext& context) {
  return std::make_unique<Background>(options, context);
}

}  // namespace iap
