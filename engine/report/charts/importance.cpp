module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.policy;
import iap.rollout;
import :axis;
import :html;
import :importance;
import :viewer;
#include "core/copy_pixels.hpp"

namespace iap {
namespace {

constexpr std::size_t frames_per_episode = 16;
constexpr int bar_count = 50;
constexpr std::size_t examples_per_range = 12, range_count = 4;

struct KeptFrame {
  Image image;  ///< as the policy saw it, in the end 8-bit RGB
  std::vector<float> scores;
};

/// The side of the square that is cut out around a patch.
int example_side(const ImageShape& shape, const AttentionView& view) {
  return std::min({std::max({3 * view.patch, shape.height / 5, 16}), shape.height, shape.width});
}

/// What `count` frames take in the end: each as it was seen and as a picture, its scores alone, sorted and drawn from, and the
/// examples that are cut out.
void weigh(std::size_t count, int episode, const ImageShape& shape, const AttentionView& view) {
  constexpr std::size_t channels = 3, lists_of_scores = 6;
  const auto pixels = static_cast<double>(shape.height) * shape.width, frames = static_cast<double>(count);
  const auto scores = static_cast<double>(view.scores.size());
  const double frame = static_cast<double>(shape.bytes()) + channels * pixels + lists_of_scores * sizeof(float) * scores;
  const double examples = range_count * std::min(static_cast<double>(examples_per_range), frames * scores);
  check_memory(text("importance: what ", episode + 1, episode ? " episodes leave (" : " episode leaves (", count, " frames of ",
                    describe(shape), ")"),
               frames * frame + examples * channels * std::pow(example_side(shape, view), 2));
}

/// Makes pictures of what was seen, all as bright. Returns what they show white, `white` at least.
float make_pictures(std::vector<KeptFrame>& frames, float white) {
  for (const KeptFrame& frame : frames) white = std::max(white, white_of(frame.image.view()));
  for (KeptFrame& frame : frames) frame.image = rgb_copy(frame.image.view(), white);
  return white;
}

/// Keeps evenly spread steps of an episode whose length is not known beforehand: whenever there are too many, every other one goes.
class EvenSample {
 public:
  /// `before`: frames that are kept of earlier episodes.
  EvenSample(int episode, std::size_t before) : episode_(episode), before_(before) {}

  void offer(const ImageView& image, const AttentionView& view) {
    if (step_++ % every_ != 0) return;
    if (frames_.size() == 2 * frames_per_episode) {
      for (std::size_t i = 1; i < frames_per_episode; ++i) frames_[i] = std::move(frames_[2 * i]);
      frames_.resize(frames_per_episode);
      every_ *= 2;
    }
    weigh(before_ + frames_.size() + 1, episode_, image.shape, view);
    frames_.push_back({copy_of(image), {view.scores.begin(), view.scores.end()}});
  }
  std::vector<KeptFrame>& frames() { return frames_; }

 private:
  std::vector<KeptFrame> frames_;
  int episode_;
  std::size_t before_, step_ = 0, every_ = 1;
};

/// How many of `count` scores lie below the part 1 - `part` of them that is highest.
std::size_t below(double part, std::size_t count) {
  return count - static_cast<std::size_t>(std::lround((1 - part) * static_cast<double>(count)));
}

std::string percent(double part) { return text(figure(std::round(part * 1e4) / 100), "%"); }

/// AttentionAgent's: the most important, those around the top 5%, the unimportant; and the middle.
std::vector<ScoreRange> score_ranges(const std::vector<float>& sorted, double chosen_part) {
  const double top = std::min(chosen_part, 0.04);
  const auto between = [&](std::string label, double low, double high) {
    // Of few scores, a part may be none; each range shows one at least.
    const std::size_t first = std::min(below(low, sorted.size()), sorted.size() - 1),
                      end = std::max(below(high, sorted.size()), first + 1);
    ScoreRange range{std::move(label), sorted[first], sorted[end - 1], 0, {}};
    range.count = static_cast<std::size_t>(std::ranges::upper_bound(sorted, static_cast<float>(range.high)) -
                                           std::ranges::lower_bound(sorted, static_cast<float>(range.low)));
    return range;
  };
  return {between(text("highest ", percent(top)), 1 - top, 1), between("around the top 5%", 0.94, 0.96),
          between("the middle", 0.45, 0.55), between("lowest 5%", 0, 0.05)};
}

/// The edges of about `bar_count` bars of equal width, on round numbers.
std::vector<double> linear_edges(double low, double high) {
  Range range{low, high};
  if (!(high > low)) range = {low - 0.5, low + 0.5};
  return linear_axis(range, bar_count).ticks;
}

/// The same of equal ratio, a round number of them per decade.
std::vector<double> logarithmic_edges(double low, double high) {
  const double decades = std::log10(high / low);
  double per_decade = 1;
  for (const double candidate : {2, 5, 10, 20, 50})
    if (candidate * decades <= bar_count) per_decade = candidate;
  std::vector<double> edges;
  const double last = std::ceil(std::log10(high) * per_decade);
  for (double i = std::floor(std::log10(low) * per_decade); i <= last; ++i) edges.push_back(std::pow(10.0, i / per_decade));
  return edges;
}

/// Edges as of `signed_decades`, a round number of them per decade.
std::vector<double> signed_edges(double low, double high, double linear) {
  const double begin = signed_decades(low, linear), end = signed_decades(high, linear);
  double per_decade = 1;
  for (const double candidate : {2, 5, 10, 20, 50})
    if (candidate * (end - begin) <= bar_count) per_decade = candidate;
  std::vector<double> edges;
  const double first = std::floor(begin * per_decade), last = std::max(std::ceil(end * per_decade), first + 1);
  for (double i = first; i <= last; ++i) edges.push_back(from_signed_decades(i / per_decade, linear));
  return edges;
}

/// Of scores that are not all positive and span orders of magnitude, as those of kernels with both signs may: the power of ten
/// within which the smallest of them lie side by side. 0 for others.
double linear_part(const std::vector<float>& sorted) {
  constexpr double many = 1000, most_decades = 24;
  if (sorted.front() > 0) return 0;
  std::vector<double> sizes;
  for (const float score : sorted)
    if (score != 0) sizes.push_back(std::abs(double{score}));
  if (sizes.empty()) return 0;
  std::ranges::sort(sizes);
  if (sizes.back() <= many * sizes[sizes.size() / 2]) return 0;
  const double smallest = std::max(sizes[sizes.size() / 100], sizes.back() / std::pow(10.0, most_decades));
  return std::pow(10.0, std::ceil(std::log10(smallest)));
}

ScoreHistogram histogram_of(const std::vector<float>& sorted, const std::vector<ScoreRange>& ranges) {
  // Sums of softmax weights spread over decades: on a linear axis all but the few highest would share one bar.
  constexpr double long_tail = 8;
  const double low = sorted.front(), high = sorted.back();
  ScoreHistogram histogram{.logarithmic = low > 0 && high > long_tail * sorted[(sorted.size() - 1) / 2],
                           .linear = linear_part(sorted)};
  const auto edges = histogram.linear > 0    ? signed_edges(low, high, histogram.linear)
                     : histogram.logarithmic ? logarithmic_edges(low, high)
                                             : linear_edges(low, high);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) histogram.bars.push_back({edges[i], edges[i + 1], 0});
  for (const float score : sorted) {
    const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, double{score});
    histogram.bars[static_cast<std::size_t>(above - edges.begin()) - 1].count += 1;
  }
  // The first and the last bar hold nothing beyond the extreme scores.
  for (std::size_t i = 0; i < ranges.size(); ++i)
    histogram.slices.push_back({ranges[i].low == low ? edges.front() : ranges[i].low,
                                ranges[i].high == high ? edges.back() : ranges[i].high, static_cast<int>(i)});
  return histogram;
}

/// A square around the patch, wide enough to tell what it belongs to, moved into the image where it would leave it.
PatchExample cut_example(const Image& image, const AttentionView& view, int patch) {
  const auto& shape = image.shape();
  const int side = example_side(shape, view);
  const int patch_left = patch % view.columns * view.stride, patch_top = patch / view.columns * view.stride;
  const int left = std::clamp(patch_left + view.patch / 2 - side / 2, 0, shape.width - side);
  const int top = std::clamp(patch_top + view.patch / 2 - side / 2, 0, shape.height - side);
  PatchExample example{Image({side, side, 3, PixelType::uint8}), double(patch_left - left) / side, double(patch_top - top) / side,
                       double(view.patch) / side};
  for (int y = 0; y < side; ++y)
    std::memcpy(example.image.bytes().data() + static_cast<std::size_t>(3) * side * y,
                image.bytes().data() + 3 * (static_cast<std::size_t>(top + y) * shape.width + left),
                static_cast<std::size_t>(3) * side);
  return example;
}

void draw_examples(ScoreRange& range, const std::vector<KeptFrame>& frames, const AttentionView& view, Random& random) {
  std::vector<std::pair<std::uint32_t, int>> candidates;  // frame, patch
  for (std::size_t frame = 0; frame < frames.size(); ++frame)
    for (std::size_t patch = 0; patch < frames[frame].scores.size(); ++patch)
      if (const float score = frames[frame].scores[patch]; score >= range.low && score <= range.high)
        candidates.emplace_back(static_cast<std::uint32_t>(frame), static_cast<int>(patch));
  std::set<std::uint32_t> used;
  std::vector<std::pair<std::uint32_t, int>> others;
  const auto take = [&](const std::pair<std::uint32_t, int>& candidate) {
    range.examples.push_back(cut_example(frames[candidate.first].image, view, candidate.second));
  };
  while (!candidates.empty() && range.examples.size() < examples_per_range) {
    const std::size_t at = random.below(static_cast<std::uint32_t>(candidates.size()));
    std::swap(candidates[at], candidates.back());
    const auto candidate = candidates.back();
    candidates.pop_back();
    if (used.insert(candidate.first).second)
      take(candidate);
    else
      others.push_back(candidate);
  }
  for (std::size_t i = 0; i < others.size() && range.examples.size() < examples_per_range; ++i) take(others[i]);
}

/// The attention block of `block` and what it holds whose view is at `path`: its own, or that of a head or query below it.
const Block* viewing_block(const Block& block, const std::string& path) {
  if (is_attention_block(block.kind()) && (path + ".").starts_with(block.path() + ".")) return &block;
  for (const auto& child : block.children())
    if (const Block* found = viewing_block(*child, path)) return found;
  return nullptr;
}

}  // namespace

bool weighs_all(const Policy& policy, const std::string& path) {
  const Block* block = viewing_block(policy.root(), path);
  if (!block || block->kind() != "rank") return block && (block->kind() == "trans" || block->kind() == "look");
  const Config *values = block->config().find("values"), *motion = block->config().find("motion");
  const Config centroid = "centroid";
  return values && (*values == centroid || *values == Config(Config::List{centroid})) && !(motion && *motion == Config(true));
}

Importance sample_importance(Policy& policy, Env& env, int episodes, std::uint64_t seed, const Watchers& watchers,
                             const Whites& whites) {
  Importance result;
  result.episodes = episodes;
  std::vector<KeptFrame> frames;
  AttentionView view;
  for (int episode = 0; episode < episodes; ++episode) {
    EvenSample sample(episode, frames.size());
    const StreamKey key{.seed = seed, .episode = static_cast<std::uint32_t>(episode), .purpose = Purpose::evaluation};
    const StepObserver watcher = watchers ? watchers(episode) : StepObserver();
    const Episode played = run_episode(env, policy, derive_seed(key),
                                       [&](const Observation& observation, std::span<const float> action, const Policy& acting) {
                                         if (watcher) watcher(observation, action, acting);
                                         const auto views = shown_views(acting);
                                         if (views.empty()) return;
                                         view = views.front();
                                         if (!view.looked) return;
                                         const auto& images = policy.observation().images;
                                         const auto image = std::ranges::find(images, view.image, &ImageSpec::name);
                                         const auto& present = observation.images[static_cast<std::size_t>(image - images.begin())];
                                         sample.offer(view.frame.data ? view.frame : present, view);
                                       });
    result.mean_return += played.total / episodes;
    std::ranges::move(sample.frames(), std::back_inserter(frames));
  }
  if (frames.empty()) return result;
  result.image = view.image;
  result.white = make_pictures(frames, whites ? whites(view.image) : 1);
  std::vector<float> sorted;
  for (const KeptFrame& frame : frames)
    std::ranges::copy_if(frame.scores, std::back_inserter(sorted), [](float score) { return std::isfinite(score); });
  if (sorted.empty()) return result;
  std::ranges::sort(sorted);
  result.block = view.block;
  result.patch = view.patch;
  result.patches = view.rows * view.columns;
  result.chosen = static_cast<int>(view.selected.size());
  result.weighs_all = weighs_all(policy, view.block);
  result.frames = frames.size();
  result.ranges = score_ranges(sorted, static_cast<double>(result.chosen) / result.patches);
  result.scores = sorted.size();
  result.histogram = histogram_of(sorted, result.ranges);
  Random random({.seed = seed, .purpose = Purpose::user});
  for (ScoreRange& range : result.ranges) draw_examples(range, frames, view, random);
  return result;
}

}  // namespace iap
