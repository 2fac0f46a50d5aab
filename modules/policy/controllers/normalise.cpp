module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.policy;
import iap.core;
import :internal;

namespace iap {
namespace {

/// y = (x - mean) / max(deviation, minimum), value by value, clipped to +-clip. Option `over` says of what mean and deviation are:
/// - "episode": of all inputs since the episode's start, this one included: what stays put throughout an episode, such as a
///   background, goes, and what moves is left. The first output of an episode is 0.
/// - "training": of all inputs in the training episodes of all iterations so far, as in ARS V2 (Mania et al. 2018, algorithm 1):
///   they change between iterations and never within an episode. Before there are any, y = x, clipped likewise.
/// Values that are not finite are left out of both.
/// Options: deviation (true; false leaves y = x - mean), minimum (0.01), clip (10).
class Normalise final : public Block {
 public:
  Normalise(Options& options, const BlockContext& context)
      : Block(context, context.inputs),
        over_training_(options.choice("over", {"episode", "training"}, "episode") == "training"),
        divides_(options.boolean("deviation", true)),
        minimum_(options.number_in("minimum", 1e-6, 1e6, 0.01)),
        clip_(options.number_in("clip", 1e-3, 1e6, 10)),
        episode_(static_cast<std::size_t>(context.inputs)),
        totals_(moments()) {
    require_inputs(options, context);
  }
  std::string_view kind() const override { return "normalise"; }
  std::string memory() const override { return over_training_ ? "" : Block::memory(); }
  std::string describe() const override {
    return text("over ", over_training_ ? "training" : "the episode", divides_ ? "" : ", mean alone");
  }
  std::size_t moments() const override { return over_training_ ? episode_.size() : 0; }
  void gathered(std::span<Moment> episode) const override {
    if (over_training_) std::ranges::copy(episode_, episode.begin());
  }
  void use_moments(std::span<const Moment> totals) override { std::ranges::copy(totals, totals_.begin()); }
  void reset(std::uint64_t) override { std::ranges::fill(episode_, Moment{}); }
  void forward(const Observation&, std::span<const float> in, std::span<float> out) override {
    for (std::size_t i = 0; i < in.size(); ++i) {
      // One of them would spoil the moments for all that comes, of all episodes to come where they are those of training.
      if (std::isfinite(in[i])) episode_[i].add(in[i]);
      const auto& [count, mean, squares] = over_training_ ? totals_[i] : episode_[i];
      const double scale = divides_ && count > 0 ? std::max(std::sqrt(squares / count), minimum_) : 1.0;
      out[i] = static_cast<float>(std::clamp((in[i] - mean) / scale, -clip_, clip_));
    }
  }

 private:
  bool over_training_, divides_;
  double minimum_, clip_;
  std::vector<Moment> episode_, totals_;
};

}  // namespace

/// @lua function iap.policy.normalise
/// Takes the mean off its input, value by value, and divides by the deviation.
/// @option over "episode"|"training" = "episode" - both over the episode so far, or over all training episodes, as ARS V2
/// @option deviation boolean = true - whether it divides
/// @option minimum number 1e-6..1e6 = 0.01 - least deviation
/// @option clip number 0.001..1e6 = 10 - what is further from 0 is moved to +-clip
/// @use policy.block
/// @return blueprint - without parameters
/// @example iap.policy.normalise { over = "training" }
/// @see training.md#normalising-over-training
MadeBlock make_normalise(Options& options, const BlockContext& context, ParameterLayout&) {
  constexpr double copies = 2;  // of an episode, and the totals
  check_memory(text(options.owner(), ": what it keeps of its inputs"), copies * sizeof(Moment) * context.inputs);
  return std::make_unique<Normalise>(options, context);
}

}  // namespace iap
