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

/// y = (x - mean) / max(deviation, minimum), value by value, clipped to +-clip, with mean and deviation of all inputs since the
/// episode's start, this one included (Welford's recurrence): what stays put throughout an episode, such as a background, goes, and
/// what moves is left. The first output of an episode is 0.
/// Options: deviation (true; false leaves y = x - mean), minimum (0.01), clip (10).
class EpisodeNormalise final : public Block {
 public:
  EpisodeNormalise(Options& options, const BlockContext& context)
      : Block(context, context.inputs),
        divides_(options.boolean("deviation", true)),
        minimum_(options.number_in("minimum", 1e-6, 1e6, 0.01)),
        clip_(options.number_in("clip", 1e-3, 1e6, 10)),
        mean_(static_cast<std::size_t>(context.inputs)),
        squares_(mean_.size()) {
    require_inputs(options, context);
  }
  std::string_view kind() const override { return "normalise"; }
  std::string describe() const override { return divides_ ? "over the episode" : "over the episode, mean alone"; }
  void reset(std::uint64_t) override {
    count_ = 0;
    std::ranges::fill(mean_, 0.0);
    std::ranges::fill(squares_, 0.0);
  }
  void forward(const Observation&, std::span<const float> in, std::span<float> out) override {
    count_ += 1;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double x = in[i], before = x - mean_[i];
      mean_[i] += before / count_;
      squares_[i] += before * (x - mean_[i]);
      const double scale = divides_ ? std::max(std::sqrt(squares_[i] / count_), minimum_) : 1.0;
      out[i] = static_cast<float>(std::clamp((x - mean_[i]) / scale, -clip_, clip_));
    }
  }

 private:
  bool divides_;
  double minimum_, clip_;
  double count_ = 0;
  std::vector<double> mean_, squares_;  ///< sum of squared differences to the mean
};

}  // namespace

MadeBlock make_normalise(Options& options, const BlockContext& context, ParameterLayout&) {
  return std::make_unique<EpisodeNormalise>(options, context);
}

}  // namespace iap
