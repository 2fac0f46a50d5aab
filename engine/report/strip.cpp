module;
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.policy;
import iap.render;
import iap.rollout;
import :video;
import :viewer;

namespace iap {
double write_strip(const std::filesystem::path& png, Policy& policy, const Config& env_config, std::uint64_t seed, int frames,
                   int min_height) {
  if (frames < 1) throw Error(text("a strip needs at least 1 frame, got ", frames));
  Viewer viewer(env_config, policy.observation(), {.min_height = min_height});
  // The episode's length is only known afterwards: the first pass measures it, the second repeats it and draws.
  const Episode measured = run_episode(viewer.env(), policy, seed);
  std::vector<Image> pictures;
  int step = 0;
  const auto observe = [&](const Observation& observation, std::span<const float>, const Policy& acting) {
    const auto next = static_cast<int>(pictures.size());
    if (next < frames && step >= next * std::max(1, measured.steps - 1) / std::max(1, frames - 1))
      pictures.push_back(viewer.picture(PictureView::overlay, observation, acting));
    ++step;
  };
  run_episode(viewer.env(), policy, seed, observe);
  write_png(png, side_by_side(pictures, 4).view());
  return measured.total;
}

}  // namespace iap
