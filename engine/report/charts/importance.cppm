module;
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
/// Which patches a policy finds important: the histogram of their scores, and what patches of certain scores show (AttentionAgent,
/// "Region of Interest to Importance Mapping").
module iap.report:importance;
import iap.core;
import iap.env;
import iap.policy;
import iap.rollout;
import :html;

namespace iap {

/// A piece of a frame around a patch.
struct PatchExample {
  Image image;
  double left = 0, top = 0, size = 0;  ///< the patch inside the square image, as parts of its side
};

/// Patches whose scores lie between two quantiles of all scores, both included: as many as the label says, and those that share
/// the score of an end.
struct ScoreRange {
  std::string label;
  double low = 0, high = 0;  ///< scores
  std::size_t count = 0;     ///< patches that have them
  std::vector<PatchExample> examples;
};

struct Importance {
  std::string block, image;
  float white = 1;  ///< of `image`, in the examples: `white_of`
  int patch = 0, patches = 0, chosen = 0;
  bool weighs_all = false;  ///< `chosen` are the heaviest, as of `weighs_all` below
  int episodes = 0;
  std::size_t frames = 0;
  double mean_return = 0;
  std::size_t scores = 0;  ///< of patches in frames
  ScoreHistogram histogram;
  std::vector<ScoreRange> ranges;  ///< highest first; slices of the histogram
};

/// Whether the block whose view is at `path` sums over all patches by their scores, which its chosen ones are but the heaviest of:
/// trans, look, and a rank that hands over nothing but its centroid.
bool weighs_all(const Policy& policy, const std::string& path);

/// Who watches an episode, counted from 0, beside what is sampled of it.
using Watchers = std::function<StepObserver(int episode)>;

/// What other pictures of the image so called, beside which examples stand, show white.
using Whites = std::function<float(const std::string& image)>;

/// Plays `episodes` episodes on the evaluation seeds of `seed` and keeps evenly spread frames of each, of those in which the block
/// looked. Empty (no ranges) for a policy without attention to an image; of several, it is the first block's image. The examples
/// are drawn at random, at most one per frame while frames last.
/// @throws Error as `run_episode`.
Importance sample_importance(Policy& policy, Env& env, int episodes, std::uint64_t seed, const Watchers& watchers = {},
                             const Whites& whites = {});

}  // namespace iap
