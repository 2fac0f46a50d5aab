module;
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>
/// Episodes as moving pictures.
export module iap.report:video;
import iap.core;
import iap.policy;
import iap.rollout;

export namespace iap {

/// What a picture of an episode shows: the environment with the attended patches drawn on it, the scores of all patches as a heat
/// map, the environment alone beside the attended patches, the environment alone, or a robot from outside, with what its camera
/// sees in a corner, marked as in the overlay. Patches too small to be seen get rings.
enum class PictureView : std::uint8_t { overlay, heatmap, side_by_side, raw, outside };

/// "overlay", "heatmap", "side-by-side", "raw", "outside".
const std::vector<std::string>& picture_view_names();
/// @throws Error with the nearest name.
PictureView picture_view(std::string_view name);

struct VideoOptions {
  PictureView view = PictureView::overlay;
  std::uint64_t seed = 0;  ///< of the episode
  int steps = 0;           ///< ends the episode after so many of the policy's steps; 0: its own end
  int scale = 0;           ///< pixels per pixel of the policy's; 0: the smallest that gives 400 rows, or what a film can hold
  /// Draws the environment anew at the video's size; the policy still sees its own pixels. Otherwise, and where the environment
  /// draws one size only, those are enlarged.
  bool redraw = true;
  double fps = 0;        ///< policy steps per second; 0: real time. Of more than `most_fps`, only every nth is shown.
  double most_fps = 50;  ///< browsers show no more
  int quality = 80;      ///< of a WebP, 0 to 100
};

struct VideoInfo {
  Episode episode;
  int frames = 0, height = 0, width = 0;
  double fps = 0;          ///< frames per second
  bool attention = false;  ///< whether the policy attends to patches of the picture; without, most views show the environment alone
};

/// Plays one episode and writes it; the path's ending decides the format, as for `open_animation`. A policy that sees no image is
/// shown from the environment's own camera. @throws Error as `open_animation`, `run_episode` and `make_env` do, if there is
/// nothing to show, before anything is drawn for frames of more than 16383 rows or columns, and for the view `outside` of an
/// environment that has none.
VideoInfo write_video(const std::filesystem::path& path, Policy& policy, const Config& env, const VideoOptions& options);

}  // namespace iap
