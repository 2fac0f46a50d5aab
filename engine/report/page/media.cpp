module;
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

/// What follows from the same episodes: which patches matter, and what is known of the state.
void study_episodes(Policy& policy, const Config& config, const ReportOptions& options, ReportMedia& media) {
  ProbeBeside beside(policy, config, options.episodes);
  const auto plain = beside.env() ? nullptr : make_env(config);
  Env& env = beside.env() ? *beside.env() : *plain;
  media.importance =
      sample_importance(policy, env, options.episodes, options.seed, [&](int episode) { return beside.watcher(episode); });
  beside.finish(media);
}

/// Plays the episode once, which tells how long it is and whether the environment can be drawn larger.
std::unique_ptr<Viewer> viewer_of(Policy& policy, const Config& env, ReportMedia& media) {
  ViewerOptions options{.min_height = video_height, .largest = largest_frame};
  auto viewer = std::make_unique<Viewer>(env, policy.observation(), options);
  try {
    media.episode = run_episode(viewer->env(), policy, media.seed);
  } catch (const Error&) {
    if (!viewer->only_as_seen()) throw;
    media.as_seen = true;
    options.redraw = false;
    viewer = std::make_unique<Viewer>(env, policy.observation(), options);
    media.episode = run_episode(viewer->env(), policy, media.seed);
  }
  return viewer;
}

}  // namespace

ReportMedia make_media(PolicyFile& file, const ReportOptions& options) {
  const Config* env = recorded_env(file.metadata);
  if (!env) throw Error("the policy does not say which environment it is for");
  Policy& policy = file.policy;
  ReportMedia media;
  media.seed = derive_seed({.seed = options.seed, .episode = 0, .purpose = Purpose::evaluation});
  const auto own = viewer_of(policy, *env, media);
  Viewer& viewer = *own;
  const FrameRate rate = frame_rate(viewer.env().spec(), 0, most_fps);
  media.steps = std::min(media.episode.steps, most_video_frames * rate.every);
  media.whole = media.steps == media.episode.steps;
  media.seconds = media.steps * viewer.env().spec().control_dt;
  media.pace = rate.fps * rate.every * viewer.env().spec().control_dt;
  WebpAnimation video("the video", {.fps = rate.fps, .quality = video_quality});
  int step = 0;
  run_episode(viewer.env(), policy, media.seed, [&](const Observation& observation, std::span<const float>, const Policy& acting) {
    const auto taken = static_cast<int>(media.frames.size());
    const bool to_video = step < media.steps && step % rate.every == 0;
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
  study_episodes(policy, *env, options, media);
  return media;
}

}  // namespace iap
