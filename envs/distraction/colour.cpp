module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>
module iap.envs.distraction;
import iap.core;
import iap.sim;

namespace iap {
namespace {

class Colour final : public Disturbance {
 public:
  Colour(const ColourRange& range, std::vector<double> own) : walk_(range, std::move(own)) {}

  void reset(MujocoWorld&, Random random) override {
    random_ = random;
    walk_.reset(random_);
  }
  void step() override { walk_.step(random_); }
  void apply(MujocoWorld& world, MujocoCamera&) override {
    const auto colours = walk_.colours();
    for (std::size_t i = 0; i < colours.size(); ++i)
      world.material_rgba(static_cast<int>(i / 3))[i % 3] = static_cast<float>(colours[i]);
  }

 private:
  ColourWalk walk_;
  Random random_{0};
};

}  // namespace

/// @lua options env.distraction.colour
/// Colours of the bodies; s is the difficulty's 0.1, 0.2 or 0.3.
/// @option dynamic boolean = (the distraction's) - colours walk during an episode
/// @option max_delta number 0..1 = (s) - most that a channel differs from the model's, in parts of full brightness
/// @option step_std number 0..1 = (0.03 s if dynamic, else 0) - deviation of the walk, a step
std::unique_ptr<Disturbance> make_colour(Options& options, const DisturbanceContext& context) {
  const double s = context.scale, moving = context.dynamic ? s : 0;
  const ColourRange range{options.number_in("max_delta", 0, 1, s), options.number_in("step_std", 0, 1, 0.03 * moving)};
  std::vector<double> own;
  const auto rgba = context.world.array("mat_rgba");
  for (std::size_t i = 0; i < rgba.size(); ++i)
    if (i % 4 != 3) own.push_back(rgba[i]);
  return std::make_unique<Colour>(range, std::move(own));
}

}  // namespace iap
