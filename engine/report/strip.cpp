module;
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.render;
import iap.rollout;

namespace iap {
namespace {

Image attended_picture(const Observation& observation, const Policy& policy, int min_height) {
  const ImageView& frame = observation.images.front();
  const int factor = std::max(1, (min_height + frame.shape.height - 1) / frame.shape.height);
  Image picture = enlarge(frame, factor);
  const auto& name = policy.observation().images.front().name;
  for (const auto& view : policy.views())
    if (view.image == name) overlay_patches(picture, view.columns, view.patch * factor, view.stride * factor, view.selected);
  return picture;
}

}  // namespace

double write_strip(const std::filesystem::path& png, Policy& policy, const Config& env_config, std::uint64_t seed, int frames,
                   int min_height) {
  const auto& images = policy.observation().images;
  if (images.empty() || images.front().shape.channels != 3 || images.front().shape.type != PixelType::uint8)
    throw Error("a strip needs a policy that sees an RGB image");
  if (frames < 1) throw Error(text("a strip needs at least 1 frame, got ", frames));
  const auto env = make_env(env_config);
  // The episode's length is only known afterwards: the first pass measures it, the second repeats it and draws.
  const Episode measured = run_episode(*env, policy, seed);
  std::vector<Image> pictures;
  int step = 0;
  const auto observe = [&](const Observation& observation, std::span<const float>, const Policy& acting) {
    const auto next = static_cast<int>(pictures.size());
    if (next < frames && step >= next * std::max(1, measured.steps - 1) / std::max(1, frames - 1))
      pictures.push_back(attended_picture(observation, acting, min_height));
    ++step;
  };
  run_episode(*env, policy, seed, observe);
  write_png(png, side_by_side(pictures, 4).view());
  return measured.total;
}

}  // namespace iap
