module;
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.policy;
import iap.render;
import iap.rollout;
import :importance;
import :media;
import :page;
import :video;
import :viewer;

namespace iap {
namespace {

constexpr int video_height = 320, video_quality = 72, still_quality = 80, most_video_frames = 300, stills = 6;
constexpr double most_fps = 25;

std::string still(const Image& image) {
  WebpAnimation picture("a picture", {.quality = still_quality});
  picture.add(image.view());
  return picture.finish();
}

}  // namespace

ReportMedia make_media(PolicyFile& file, const ReportOptions& options) {
  const Config* env = file.metadata.find("env");
  if (!env) throw Error("the policy does not say which environment it is for");
  Policy& policy = file.policy;
  ReportMedia media;
  Viewer viewer(*env, policy.observation(), {.min_height = video_height});
  const FrameRate rate = frame_rate(viewer.env().spec(), 0, most_fps);
  const auto seed = derive_seed({.seed = options.seed, .episode = 0, .purpose = Purpose::evaluation});
  // The first pass tells how long the episode is.
  media.episode = run_episode(viewer.env(), policy, seed);
  const int shown_steps = std::min(media.episode.steps, most_video_frames * rate.every);
  media.whole = shown_steps == media.episode.steps;
  media.seconds = shown_steps / (rate.fps * rate.every);
  WebpAnimation video("the video", {.fps = rate.fps, .quality = video_quality});
  int step = 0;
  run_episode(viewer.env(), policy, seed, [&](const Observation& observation, std::span<const float>, const Policy& acting) {
    const auto taken = static_cast<int>(media.frames.size());
    const bool to_video = step < shown_steps && step % rate.every == 0;
    const bool to_frames = taken < stills && step >= taken * (media.episode.steps - 1) / (stills - 1);
    ++step;
    if (!to_video && !to_frames) return;
    const Image picture = viewer.picture(PictureView::overlay, observation, acting);
    if (to_video) video.add(picture.view());
    if (!to_frames) return;
    media.frames.push_back(still(picture));
    if (!shown_views(acting).empty()) media.heat.push_back(still(viewer.picture(PictureView::heatmap, observation, acting)));
  });
  media.video = video.finish();
  media.height = viewer.height();
  media.width = viewer.width();
  media.importance = sample_importance(policy, *env, options.episodes, options.seed);
  return media;
}

}  // namespace iap
