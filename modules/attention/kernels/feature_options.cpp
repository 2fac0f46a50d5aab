module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>
module iap.attention;
import iap.core;
import :features;
import :internal;

namespace iap {
namespace {

/// Makes `count` rows of d values orthogonal in so many steps.
double steps_of(int count, int d) { return static_cast<double>(count) * std::min(count, d) * d; }

}  // namespace

/// @lua options attention.kernel
/// The kernel of the attention matrix A(i, j) = K(q_i, k_j), which is never formed but by softmax and brute force. `iap list
/// kernels` says
/// what each can do.
/// @option kernel "relu"|"exp"|"favor++"|"trig"|"hybrid"|"softmax" = "relu" - K(q, k): relu features; random features of exp(q .
/// k); softmax, exact in O(L^2)
/// @option m integer 1..4096 = (exp and favor++ 15, trig and hybrid 10) - random projections
/// @option r integer 1..1024 = 5 - further projections, of hybrid
/// @option ensemble "iid"|"orthogonal" = "orthogonal" - how projections are drawn
/// @option feature_seed integer 0.. = 0 - of the projections
/// @option redraw "never"|"episode"|integer = "never" - new projections: never, in each episode, or in an episode every so many
/// frames
/// @option spread number 0..1e6 = (2 sqrt(d)) - of favor++: squared length of q + k at which it errs least
/// @option input "plain"|"normalised" = "plain" - queries and keys divided by the fourth root of `scale`, or all brought to that
/// length (v1 equations 4 and 5); of all kernels but relu
/// @option scale "d"|"c" = "d" - what that is the fourth root of: their size or that of a patch; of all kernels but relu
/// @option temperature number 1e-6..1e6 = 1 - of the softmax; below 1 it is sharper; of all kernels but relu
/// @option epsilon number 0..1 = 0 - added to features: of relu to each, of exp and favor++ to Lambda exp(w . x) before the factor
/// 1/sqrt(m)
/// @option brute_force boolean = false - the exact kernel that the features estimate, in O(L^2)
/// @see attention.md
FeatureOptions read_feature_options(const RandomFeatures& features, Options& options, int c, int d) {
  constexpr std::int64_t largest_count = std::numeric_limits<std::int64_t>::max();
  FeatureOptions wanted;
  wanted.kind = features.kind;
  wanted.m = static_cast<int>(options.integer_in("m", 1, 4096, features.m));
  wanted.r = wanted.kind == FeatureKind::hybrid ? static_cast<int>(options.integer_in("r", 1, 1024, 5)) : 0;
  wanted.ensemble = options.choice("ensemble", {"iid", "orthogonal"}, "orthogonal") == "iid" ? Ensemble::iid : Ensemble::orthogonal;
  constexpr double most_steps = 1 << 30;  // some seconds
  if (wanted.ensemble == Ensemble::orthogonal && std::max(steps_of(wanted.m, d), steps_of(wanted.r, d)) > most_steps)
    throw OptionError(text(options.owner(), ": option 'ensemble': ", std::max(wanted.m, wanted.r), " orthogonal projections of ", d,
                           " values take too long to draw; take \"iid\", or fewer"));
  wanted.seed = static_cast<std::uint64_t>(options.integer_in("feature_seed", 0, largest_count, 0));
  // A whole number is a number of frames, a word one of the other two.
  wanted.redraw_every = options.value("redraw").number() ? options.integer_in("redraw", 1, largest_count) : 0;
  wanted.redraw = wanted.redraw_every > 0 || options.choice("redraw", {"never", "episode"}, "never") == "episode";
  wanted.form = read_input_form(options, c, d);
  wanted.brute_force = options.boolean("brute_force", false);
  if (wanted.brute_force) {
    // The kernel has it, and the exact one has no features that it could shape.
    if (features.shape) options.goes_with("spread", "brute_force = false");
    if (wanted.kind == FeatureKind::exp) options.goes_with("epsilon", "brute_force = false");
    return wanted;
  }
  if (features.shape) wanted.shape = features.shape(options, d);
  if (wanted.kind == FeatureKind::exp) wanted.epsilon = options.number_in("epsilon", 0, 1, 0);
  return wanted;
}

DrawnProjections::DrawnProjections(const FeatureOptions& options, int d)
    : ensemble_(options.ensemble),
      shape_(options.shape),
      redraw_(options.redraw),
      seed_(options.seed),
      redraw_every_(static_cast<std::uint64_t>(options.redraw_every)),
      episode_(options.seed),
      drawn_{d, options.m, options.r, std::vector<float>(static_cast<std::size_t>(options.m) * d),
             std::vector<float>(static_cast<std::size_t>(options.r) * d)},
      block_(options.ensemble == Ensemble::orthogonal ? static_cast<std::size_t>(d) * d : 0) {
  draw(seed_);
}

double DrawnProjections::bytes(const FeatureOptions& options, int d) {
  const double block = options.ensemble == Ensemble::orthogonal ? static_cast<double>(d) * d : 0.0;
  return sizeof(float) * ((options.m + static_cast<double>(options.r)) * d + options.m) + sizeof(double) * block;
}

void DrawnProjections::draw(std::uint64_t seed) {
  draw_projections(ensemble_, seed, std::span<double>(block_), drawn_);
  if (shape_) shape_(drawn_);
}

bool DrawnProjections::new_episode(std::uint64_t episode_seed) {
  if (!redraw_) return false;
  episode_ = derive_seed({.seed = seed_,
                          .iteration = static_cast<std::uint32_t>(episode_seed),
                          .member = static_cast<std::uint32_t>(episode_seed >> 32),
                          .purpose = Purpose::projection});
  frame_ = 0;
  draw(episode_);
  return true;
}

bool DrawnProjections::new_frame() {
  if (redraw_every_ == 0) return false;
  const std::uint64_t frame = frame_++;
  if (frame == 0 || frame % redraw_every_ != 0) return false;
  const std::uint64_t k = frame / redraw_every_;
  draw(derive_seed({.seed = episode_,
                    .iteration = static_cast<std::uint32_t>(k),
                    .member = static_cast<std::uint32_t>(k >> 32),
                    .purpose = Purpose::projection}));
  return true;
}

}  // namespace iap
