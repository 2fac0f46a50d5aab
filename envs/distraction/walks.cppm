module;
#include <cstddef>
#include <span>
#include <vector>
export module iap.envs.distraction:walks;
import iap.core;

export namespace iap {

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

}  // namespace iap
