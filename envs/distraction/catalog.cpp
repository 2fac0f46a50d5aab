module;
#include <memory>
#include <span>
#include <string>
#include <vector>
module iap.envs.distraction;
import iap.core;

namespace iap {

std::unique_ptr<Disturbance> make_background(Options& options, const DisturbanceContext& context);
std::unique_ptr<Disturbance> make_camera(Options& options, const DisturbanceContext& context);
std::unique_ptr<Disturbance> make_colour(Options& options, const DisturbanceContext& context);
std::unique_ptr<Disturbance> make_noise(Options& options, const DisturbanceContext& context);

std::span<const DisturbanceEntry> disturbance_catalog() {
  static const std::vector<DisturbanceEntry> catalog{
      {"background", "the sky shows a video, the floor fades", true, make_background},
      {"camera", "the camera stands elsewhere and moves", true, make_camera},
      {"colour", "the materials' colours", true, make_colour},
      {"noise", "the picture's pixels, as a camera's sensor does; not part of the Distracting Control Suite", false, make_noise},
  };
  return catalog;
}

}  // namespace iap
