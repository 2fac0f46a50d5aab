module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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

/// Its input x(t), then scale (x(t) - x(t-1)): velocities for controllers without memory. An episode's first difference is 0.
/// Option: scale (4), because differences of neighbouring frames are a fraction of the values themselves.
class Delta final : public Block {
 public:
  Delta(Options& options, const BlockContext& context)
      : Block(context, checked_outputs(options, std::int64_t{2} * context.inputs)),
        scale_(static_cast<float>(options.number_in("scale", 0, 1e6, 4))),
        before_(static_cast<std::size_t>(context.inputs)) {
    require_inputs(options, context);
  }
  std::string_view kind() const override { return "delta"; }
  std::string describe() const override { return text("scale ", scale_); }
  void reset(std::uint64_t) override { begun_ = false; }
  void forward(const Observation&, std::span<const float> in, std::span<float> out) override {
    const auto difference = out.subspan(in.size());
    std::ranges::copy(in, out.begin());
    constexpr float most = std::numeric_limits<float>::max();  // no input makes it infinite
    for (std::size_t i = 0; i < in.size(); ++i)
      difference[i] = begun_ ? std::clamp(scale_ * (in[i] - before_[i]), -most, most) : 0.0F;
    std::ranges::copy(in, before_.begin());
    begun_ = true;
  }

 private:
  float scale_;
  std::vector<float> before_;
  bool begun_ = false;
};

/// The last n inputs, newest first. Before an episode has n frames its first one stands for those that are missing.
/// Option: n (3).
class Stack final : public Block {
 public:
  Stack(Options& options, const BlockContext& context)
      : Block(context, checked_outputs(options, read_count(options) * context.inputs)),
        inputs_(static_cast<std::size_t>(context.inputs)),
        held_(static_cast<std::size_t>(outputs())) {
    require_inputs(options, context);
  }
  std::string_view kind() const override { return "stack"; }
  std::string describe() const override { return text("n ", held_.size() / inputs_); }
  void reset(std::uint64_t) override { begun_ = false; }
  void forward(const Observation&, std::span<const float> in, std::span<float> out) override {
    if (begun_) std::shift_right(held_.begin(), held_.end(), static_cast<std::ptrdiff_t>(inputs_));
    for (std::size_t at = 0; at < (begun_ ? inputs_ : held_.size()); at += inputs_) std::ranges::copy(in, held_.begin() + at);
    begun_ = true;
    std::ranges::copy(held_, out.begin());
  }

 private:
  static std::int64_t read_count(Options& options) { return options.integer_in("n", 1, 1000, 3); }

  std::size_t inputs_;
  std::vector<float> held_;
  bool begun_ = false;
};

}  // namespace

/// @lua function iap.policy.delta
/// Hands over its input, then `scale` times the difference to the frame before, 0 in an episode's first: what one frame does not
/// show is
/// velocity.
/// @option scale number 0..1e6 = 4 - of the difference
/// @use policy.block
/// @return blueprint - without parameters
/// @example iap.policy.delta { scale = 4 }
/// @see controllers.md
MadeBlock make_delta(Options& options, const BlockContext& context, ParameterLayout&) {
  return std::make_unique<Delta>(options, context);
}

/// @lua function iap.policy.stack
/// The last `n` inputs, newest first; an episode's first frame stands for those before it.
/// @option n integer 1..1000 = 3 - inputs
/// @use policy.block
/// @return blueprint - without parameters
/// @example iap.policy.stack { n = 3 }
/// @see controllers.md
MadeBlock make_stack(Options& options, const BlockContext& context, ParameterLayout&) {
  return std::make_unique<Stack>(options, context);
}

}  // namespace iap
