module;
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>
module iap.envs.distraction;
import iap.core;

namespace iap {

double ColourWalk::limited(std::size_t i, double value) const {
  const double low = std::clamp(own_[i] - range_.max_delta, 0.0, 1.0), high = std::clamp(own_[i] + range_.max_delta, 0.0, 1.0);
  return std::clamp(value, low, high);
}

void ColourWalk::reset(Random& random) {
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const double low = std::clamp(own_[i] - range_.max_delta, 0.0, 1.0), high = std::clamp(own_[i] + range_.max_delta, 0.0, 1.0);
    now_[i] = random.uniform(low, high);
  }
}

void ColourWalk::step(Random& random) {
  if (range_.step_std == 0) return;
  for (std::size_t i = 0; i < now_.size(); ++i) now_[i] = limited(i, now_[i] + range_.step_std * random.normal());
}

void VideoWalk::reset(std::span<const int> lengths, bool dynamic, Random& random) {
  video_ = static_cast<int>(random.below(static_cast<std::uint32_t>(lengths.size())));
  length_ = lengths[video_];
  frame_ = static_cast<int>(random.below(static_cast<std::uint32_t>(length_)));
  direction_ = random.below(2) ? 1 : -1;
  dynamic_ = dynamic;
}

// The last frame shows twice before the video runs backwards, as in the reference.
void VideoWalk::step() {
  if (!dynamic_) return;
  frame_ += direction_;
  if (frame_ <= 0) {
    frame_ = 0;
    direction_ = 1;
  }
  if (frame_ >= length_) {
    frame_ = length_ - 1;
    direction_ = -1;
  }
}

}  // namespace iap
