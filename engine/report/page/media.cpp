module;
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.render;
import iap.rollout;
import :importance;
import :media;
import :page;
import :probe;
import :recording;
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

/// What is probed beside: a wider block would take longer to fit than the report may.
constexpr int widest_block = 512;

/// Writes down what the policy's blocks hand over while it plays for another purpose; never fails.
class ProbeBeside {
 public:
  ProbeBeside(const Policy& policy, const Config& env, int episodes) : policy_(policy) {
    attempt([&] {
      env_ = StateEnv::make(env, policy.observation());
      for (const auto& path : probed_blocks(policy))
        if (policy.block(path).outputs() <= widest_block) options_.blocks.push_back(path);
      if (options_.blocks.empty())
        throw Error(text("probe: its blocks hand over more than ", widest_block, " values each; iap probe fits them"));
      options_.episodes = episodes;
      recording_.emplace(policy, options_.blocks, *env_, episodes);
    });
  }

  /// What to play in; null where there is no state.
  Env* env() { return env_.get(); }

  StepObserver watcher(int episode) {
    if (!recording_) return {};
    return [this, observer = recording_->observer(episode, *env_)](const Observation& seen, std::span<const float> action,
                                                                   const Policy& policy) {
      if (reason_.empty()) attempt([&] { observer(seen, action, policy); });
    };
  }

  void finish(ReportMedia& media) {
    if (reason_.empty()) attempt([&] { media.probe = read_out(*recording_, policy_, options_); });
    media.no_probe = reason_;
  }

 private:
  template <typename Work>
  void attempt(Work work) {
    try {
      work();
    } catch (const Error& error) {
      reason_ = error.what();
    }
  }

  const Policy& policy_;
  std::unique_ptr<StateEnv> env_;
  ProbeOptions options_;
  std::optional<Recording> recording_;
  std::string reason_;
};

/// What follows from the same episodes: which patches matter, and what is known of the state. One that fails takes these along, and
/// nothing else.
void study_episodes(Policy& policy, const Config& config, const ReportOptions& options, const Viewer& viewer, ReportMedia& media) {
  ProbeBeside beside(policy, config, options.episodes);
  const auto plain = beside.env() ? nullptr : make_env(config);
  Env& env = beside.env() ? *beside.env() : *plain;
  try {
    media.importance = sample_importance(
        policy, env, options.episodes, options.seed, [&](int episode) { return beside.watcher(episode); },
        [&](const std::string& image) { return viewer.white(image); });
  } catch (const Error& error) {
    media.no_importance = error.what();
    media.no_probe = error.what();
    return;
  }
  beside.finish(media);
}

/// Draws the episode that `viewer` has played before, which told how long it is.
void draw_film(Viewer& viewer, Policy& policy, ReportMedia& media) {
  const EnvSpec& spec = viewer.env().spec();
  const FrameRate rate = frame_rate(spec, 0, most_fps);
  media.steps = std::min(media.episode.steps, most_video_frames * rate.every);
  media.whole = media.steps == media.episode.steps;
  media.seconds = media.steps * spec.control_dt;
  media.pace = rate.fps * rate.every * spec.control_dt;
  media.frames.clear();
  media.heat.clear();
  WebpAnimation video("the video", {.fps = rate.fps, .quality = video_quality});
  int step = 0;
  run_episode(viewer.env(), policy, media.seed, [&](const Observation& observation, std::span<const float>, const Policy& acting) {
    const auto taken = static_cast<int>(media.frames.size());
    const bool to_video = step < media.steps && step % rate.every == 0;
    const bool to_frames = taken < stills && step >= taken * (media.episode.steps - 1) / (stills - 1);
    ++step;
    if (!to_video && !to_frames) return;
    media.rested = media.rested || std::ranges::any_of(shown_views(acting), [](const auto& view) { return !view.looked; });
    const Image picture = viewer.picture(PictureView::overlay, observation, acting);
    if (to_video) video.add(picture.view());
    if (!to_frames) return;
    media.frames.push_back(still(picture));
    if (!shown_views(acting).empty()) media.heat.push_back(still(viewer.picture(PictureView::heatmap, observation, acting)));
  });
  media.video = video.finish();
  media.height = viewer.height();
  media.width = viewer.width();
}

}  // namespace

ReportMedia make_media(PolicyFile& file, const ReportOptions& options) {
  const Config* env = recorded_env(file.metadata);
  if (!env) throw Error("the policy does not say which environment it is for");
  Policy& policy = file.policy;
  ReportMedia media;
  media.seed = derive_seed({.seed = options.seed, .episode = 0, .purpose = Purpose::evaluation});
  for (bool studied = false;;) {
    const bool redraw = media.as_seen.empty();
    Viewer viewer(*env, policy.observation(), {.min_height = video_height, .largest = largest_frame, .redraw = redraw});
    try {
      media.episode = run_episode(viewer.env(), policy, media.seed);
      if (!std::exchange(studied, true)) study_episodes(policy, *env, options, viewer, media);
      const Importance& beside = media.importance;
      if (!beside.image.empty()) viewer.whiten(beside.image, beside.white);
      draw_film(viewer, policy, media);
      return media;
    } catch (const Error&) {
      if (viewer.astray().empty()) throw;
      media.as_seen = viewer.astray();
    }
  }
}

}  // namespace iap
