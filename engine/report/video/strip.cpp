module;
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.policy;
import iap.render;
import iap.rollout;
import :figures;
import :strip_captions;
import :video;
import :viewer;

namespace iap {
namespace {

/// The steps that a strip shows of an episode: the first, the last, and evenly spaced ones between.
std::vector<int> shown_steps(int steps, int frames) {
  const int count = std::min(frames, steps);
  std::vector<int> shown;
  for (int i = 0; i < count; ++i) shown.push_back(i * (steps - 1) / std::max(1, count - 1));
  return shown;
}

/// The widest picture that cairo, which writes the captions, can hold.
constexpr int most_pixels = 32767;

void check_width(const StripOptions& options, int width, int gap) {
  const std::int64_t count = options.steps > 0 ? std::min(options.frames, options.steps) : options.frames;
  const std::int64_t whole = count * width + (count - 1) * gap;
  if (whole > most_pixels)
    throw Error(text("a strip of ", count, " pictures, each ", width, " pixels wide, would be ", whole, " pixels wide, and ",
                     most_pixels,
                     " are the most; show fewer (--strip; in Lua: frames), smaller ones (--scale), or another view (--view)"));
}

/// What the lower end of a heat map's colours is.
std::string lowest_score(const Policy& policy) {
  const std::string blocks = mapped_blocks(policy);
  return blocks.empty() ? "lowest score of a picture" : text("lowest score of ", blocks, " in a picture");
}

}  // namespace

StripInfo write_strip(const std::filesystem::path& png, Policy& policy, const Config& env_config, const StripOptions& options) {
  if (options.frames < 1) throw Error(text("a strip needs at least 1 frame, got ", options.frames));
  check_picture_name(png, "a strip");
  Viewer viewer(env_config, policy.observation(),
                {.scale = options.scale,
                 .min_height = options.min_height,
                 .largest = most_pixels,
                 .pairs = options.view == PictureView::side_by_side,
                 .redraw = options.redraw,
                 .steps = options.steps,
                 .outside = options.view == PictureView::outside});
  // Between pictures the gap is wider than within one.
  const int within = viewer.gap(options.view), gap = within > 0 ? within + 12 : 4;
  check_width(options, viewer.width(options.view), gap);
  // The episode's length is only known afterwards: the first pass measures it, the second repeats it and draws.
  StripInfo strip{.episode = run_episode(viewer.env(), policy, options.seed)};
  const std::vector<int> shown = shown_steps(strip.episode.steps, options.frames);
  std::vector<Image> pictures;
  std::vector<StripMoment> moments;
  run_episode(viewer.env(), policy, options.seed,
              [&](const Observation& observation, std::span<const float>, const Policy& acting) {
                if (pictures.size() == shown.size() || viewer.steps() != shown[pictures.size()]) return;
                pictures.push_back(viewer.picture(options.view, observation, acting));
                moments.push_back({viewer.steps(), viewer.total()});
              });
  strip.attention = !shown_views(policy).empty();
  Image image = side_by_side(pictures, gap);
  if (options.captions) {
    const bool mapped = options.view == PictureView::heatmap && strip.attention;
    const auto captions = strip_captions(moments, viewer.env().spec().control_dt);
    image = with_captions(image, pictures.front().shape().width, gap, captions, mapped ? lowest_score(policy) : "");
  }
  write_png(png, image.view());
  strip.pictures = static_cast<int>(pictures.size());
  strip.height = image.shape().height;
  strip.width = image.shape().width;
  return strip;
}

}  // namespace iap
