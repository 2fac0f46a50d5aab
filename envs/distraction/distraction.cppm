module;
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
export module iap.envs.distraction:distraction;
import iap.core;
import iap.sim;
import :camera_motion;
import :videos;

export namespace iap {

/// What replaces the sky and how much of the floor remains.
struct BackgroundRange {
  std::string folder;  ///< of videos; empty for the painted ones
  Split split = Split::train;
  int count = 0;  ///< of the first videos; 0 for all
  bool dynamic = false;
  double video_alpha = 1;  ///< of the video over the model's sky
  double ground_alpha = 1;
};

/// How far the materials' colours stray from the model's, as a share of full brightness.
struct ColourRange {
  double max_delta = 0;
  double step_std = 0;  ///< of each control step
};

/// A colour for each material (Distracting Control Suite, "colour"): uniform around the model's own, then a random walk.
class ColourWalk {
 public:
  /// `own` holds red, green, blue of each material.
  ColourWalk(const ColourRange& range, std::vector<double> own) : range_(range), own_(std::move(own)), now_(own_) {}
  void reset(Random& random);
  void step(Random& random);
  std::span<const double> colours() const { return now_; }

 private:
  double limited(std::size_t i, double value) const;
  ColourRange range_;
  std::vector<double> own_, now_;
};

/// Which frame shows: a random video, start and direction; a playing video turns back at both ends.
class VideoWalk {
 public:
  /// Draws a video of `lengths.size()` with so many frames each.
  void reset(std::span<const int> lengths, bool dynamic, Random& random);
  void step();
  int video() const { return video_; }
  int frame() const { return frame_; }

 private:
  int video_ = 0, frame_ = 0, length_ = 1, direction_ = 1;
  bool dynamic_ = false;
};

/// The Distracting Control Suite's distractions (Stone et al. 2021) of one environment: what its camera sees changes, the physics
/// does not. All draws are functions of the episode's seed; each distraction has streams of its own.
class Distraction {
 public:
  /// Reads `config`, which is "easy", "medium", "hard" or a table: {difficulty, dynamic, videos, split, background, camera,
  /// colour}; each of the last three is false, true or a table of its own numbers. `model` names the suite's model; `height` and
  /// `camera` are those of the pictures. @throws Error naming the option.
  Distraction(const Config& config, const std::string& owner, std::string_view model, MujocoWorld& world, int camera, int height,
              int width);
  ~Distraction();

  /// Every option; building from it gives the same distractions.
  const Config& config() const { return config_; }
  /// Begins an episode; `world` is in its initial state.
  void reset(MujocoWorld& world, std::uint64_t seed);
  /// Advances by one control step.
  void step();
  /// Changes what `view` sees of `world`, until the world's next step. @throws Error naming a background that cannot be read.
  void apply(MujocoWorld& world, MujocoCamera& view);

 private:
  struct Impl;
  Config config_;
  std::unique_ptr<Impl> impl_;
};

/// Takes out of `table`, a complete `config()`, the numbers that followed from its option `changed` ("difficulty", "dynamic",
/// "camera.dynamic", ...), so that they follow from its next value.
void forget_derived_distractions(Config& table, std::string_view changed);

}  // namespace iap
