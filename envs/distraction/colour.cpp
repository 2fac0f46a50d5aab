module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>
module iap.envs.distraction;
import iap.core;
import iap.sim;

namespace iap {
namespace {

// Red, green and blue of each of the RGBA in `rgba`.
std::vector<double> without_opacity(std::span<const double> rgba) {
  std::vector<double> rgb;
  for (std::size_t i = 0; i < rgba.size(); ++i)
    if (i % 4 != 3) rgb.push_back(rgba[i]);
  return rgb;
}

// Geoms that show a colour of their own, as MuJoCo decides it: those without a material, and those whose colour is not the default.
std::vector<int> coloured_geoms(const MujocoWorld& world) {
  constexpr std::array none{.5, .5, .5, 1.};
  const auto materials = world.array("geom_matid"), rgba = world.array("geom_rgba");
  std::vector<int> geoms;
  for (std::size_t i = 0; i < materials.size(); ++i)
    if (materials[i] < 0 || !std::ranges::equal(none, std::span(rgba).subspan(4 * i, 4))) geoms.push_back(static_cast<int>(i));
  return geoms;
}

class Colour final : public Disturbance {
 public:
  Colour(const ColourRange& range, const MujocoWorld& world)
      : materials_(range, without_opacity(world.array("mat_rgba"))), coloured_(coloured_geoms(world)), geoms_(range, own(world)) {}

  void reset(MujocoWorld&, Random random) override {
    // Geoms have a stream of their own, so that they change nothing of the materials' colours, which are the reference's.
    Random seed = random;
    const std::uint64_t high = seed.bits();
    geom_random_ = Random({.seed = high << 32 | seed.bits(), .member = 1, .purpose = Purpose::environment});
    random_ = random;
    materials_.reset(random_);
    geoms_.reset(geom_random_);
  }
  void step() override {
    materials_.step(random_);
    geoms_.step(geom_random_);
  }
  void apply(MujocoWorld& world, MujocoCamera&) override {
    const auto materials = materials_.colours(), geoms = geoms_.colours();
    for (std::size_t i = 0; i < materials.size(); ++i)
      world.material_rgba(static_cast<int>(i / 3))[i % 3] = static_cast<float>(materials[i]);
    for (std::size_t i = 0; i < geoms.size(); ++i) world.geom_rgba(coloured_[i / 3])[i % 3] = static_cast<float>(geoms[i]);
  }

 private:
  std::vector<double> own(const MujocoWorld& world) const {
    const auto rgba = world.array("geom_rgba");
    std::vector<double> all;
    for (const int geom : coloured_)
      for (int i = 0; i < 4; ++i) all.push_back(rgba[4 * geom + i]);
    return without_opacity(all);
  }

  ColourWalk materials_;
  std::vector<int> coloured_;
  ColourWalk geoms_;
  Random random_{0}, geom_random_{0};
};

}  // namespace

/// @lua options env.distraction.colour
/// Colours of materials, and of geoms that show one of their own (`rgba`); s is the difficulty's 0.1, 0.2 or 0.3.
/// @option dynamic boolean = (the distraction's) - colours walk during an episode
/// @option max_delta number 0..1 = (s) - most that a channel differs from the model's, in parts of full brightness
/// @option step_std number 0..1 = (0.03 s if dynamic, else 0) - deviation of the walk, a step
std::unique_ptr<Disturbance> make_colour(Options& options, const DisturbanceContext& context) {
  const double s = context.scale, moving = context.dynamic ? s : 0;
  const ColourRange range{options.number_in("max_delta", 0, 1, s), options.number_in("step_std", 0, 1, 0.03 * moving)};
  return std::make_unique<Colour>(range, context.world);
}

}  // namespace iap
