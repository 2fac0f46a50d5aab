module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
module iap.envs.distraction;
import iap.core;
import iap.sim;

namespace iap {
namespace {

/// Noise of every pixel and channel on its own, nearly Gaussian: the sum of four bytes, at most 3.45 standard deviations away. A
/// function of the episode's seed, the step (where it is dynamic) and the pixel's place, and of nothing that was drawn before.
class Noise final : public Disturbance {
 public:
  Noise(double deviation, bool dynamic) : dynamic_(dynamic) {
    // Four uniform bytes have the mean 4 x 127.5 and the variance 4 x (256^2 - 1) / 12.
    const double own_deviation = std::sqrt((256.0 * 256 - 1) / 3);
    for (std::size_t sum = 0; sum < change_.size(); ++sum)
      change_[sum] = static_cast<int>(std::lround((static_cast<double>(sum) - 510) / own_deviation * 255 * deviation));
  }

  void reset(MujocoWorld&, Random random) override {
    for (auto& word : key_) word = random.bits();
    step_ = 0;
  }
  void step() override { ++step_; }
  void disturb(std::span<std::uint8_t> rgb) override {
    const std::uint32_t moment = dynamic_ ? step_ : 0;
    std::array<std::uint32_t, 4> words{};
    for (std::size_t i = 0; i < rgb.size(); ++i) {
      if (i % 4 == 0) words = philox({static_cast<std::uint32_t>(i / 4), moment, 0, 0}, key_);
      const std::uint32_t word = words[i % 4];
      const std::uint32_t sum = (word & 255) + (word >> 8 & 255) + (word >> 16 & 255) + (word >> 24);
      rgb[i] = static_cast<std::uint8_t>(std::clamp(rgb[i] + change_[sum], 0, 255));
    }
  }

 private:
  bool dynamic_;
  std::array<int, 4 * 255 + 1> change_{};  ///< by the sum of four bytes
  std::array<std::uint32_t, 2> key_{};
  std::uint32_t step_ = 0;
};

}  // namespace

/// @lua options env.distraction.noise
/// Noise on the picture, nearly Gaussian; not part of the Distracting Control Suite. s is the difficulty's 0.1, 0.2 or 0.3.
/// @option dynamic boolean = (the distraction's) - anew in each step; otherwise the same for an episode
/// @option std number 0..1 = (s / 2) - standard deviation of every pixel and channel, in parts of full brightness
std::unique_ptr<Disturbance> make_noise(Options& options, const DisturbanceContext& context) {
  return std::make_unique<Noise>(options.number_in("std", 0, 1, 0.5 * context.scale), context.dynamic);
}

}  // namespace iap
