module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.policy;
import iap.render;
import iap.rollout;
import :video;
import :viewer;

namespace iap {

const std::vector<std::string>& picture_view_names() {
  static const std::vector<std::string> names{"overlay", "heatmap", "side-by-side", "raw", "outside"};
  return names;
}

PictureView picture_view(std::string_view name) {
  const auto& names = picture_view_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw Error(text("there is no view '", name, "'", did_you_mean(name, names)));
  return static_cast<PictureView>(found - names.begin());
}

FrameRate frame_rate(const EnvSpec& spec, double fps, double most_fps) {
  // Steps of hours, or of nanoseconds, are shown at a pace at which somebody can look, and which every format can hold.
  constexpr double unknown = 25, slowest = 0.1, most_every = 1e6;
  if (!(fps >= 0 && std::isfinite(fps))) throw Error(text("a video's fps must not be negative, got ", fps, "; 0 is real time"));
  if (fps > 0 && fps < slowest)
    throw Error(text("a video's fps must be at least ", slowest, ", a picture for ten seconds, got ", fps, "; 0 is real time"));
  if (!(most_fps > 0)) throw Error(text("a video's most_fps must be above 0, got ", most_fps));
  if (fps == 0) fps = spec.control_dt > 0 ? std::max(1 / spec.control_dt, slowest) : unknown;
  // 1 / control_dt may miss a whole number by a rounding error.
  const int every = static_cast<int>(std::clamp(std::ceil(fps / most_fps - 1e-6), 1.0, most_every));
  return {every, std::min(fps / every, most_fps)};
}

VideoInfo write_video(const std::filesystem::path& path, Policy& policy, const Config& env, const VideoOptions& options) {
  Viewer viewer(env, policy.observation(),
                {.scale = options.scale,
                 .largest = largest_frame,
                 .pairs = options.view == PictureView::side_by_side,
                 .redraw = options.redraw,
                 .steps = options.steps,
                 .outside = options.view == PictureView::outside});
  const FrameRate rate = frame_rate(viewer.env().spec(), options.fps, options.most_fps);
  const auto writer = open_animation(path, {.fps = rate.fps, .quality = options.quality});
  VideoInfo video{.fps = rate.fps};
  // Frames of a depth camera share their scale, whatever the last of them will have seen.
  if (viewer.sees_depth()) run_episode(viewer.env(), policy, options.seed);
  int step = 0;
  video.episode = run_episode(viewer.env(), policy, options.seed,
                              [&](const Observation& observation, std::span<const float>, const Policy& acting) {
                                if (step++ % rate.every != 0) return;
                                const Image picture = viewer.picture(options.view, observation, acting);
                                writer->add(picture.view());
                                video.height = picture.shape().height;
                                video.width = picture.shape().width;
                                ++video.frames;
                              });
  writer->finish();
  video.attention = !shown_views(policy).empty();
  return video;
}

}  // namespace iap
