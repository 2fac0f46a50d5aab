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

constexpr int sums = 4 * 255 + 1;
/// Changes by the sum of four bytes, in levels of 255.
using Changes = std::array<int, sums>;

/// Those of a normal deviation of `levels`, rounded.
Changes rounded(double levels) {
  // Four uniform bytes have the mean 4 x 127.5 and the variance 4 x (256^2 - 1) / 12.
  const double own_deviation = std::sqrt((256.0 * 256 - 1) / 3);
  Changes changes{};
  for (int sum = 0; sum < sums; ++sum) changes[sum] = static_cast<int>(std::lround((sum - 510) / own_deviation * levels));
  return changes;
}

/// In how many ways four bytes have each sum, as parts of all.
std::array<double, sums> shares_of_sums() {
  std::array<double, sums> shares{1};
  for (int byte = 0; byte < 4; ++byte) {
    std::array<double, sums> more{};
    for (int sum = 0; sum <= 255 * byte; ++sum)
      for (int value = 0; value <= 255; ++value) more[sum + value] += shares[sum] / 256;
    shares = more;
  }
  return shares;
}

/// Changes with this deviation. Rounding adds to the deviation of a few levels next to nothing, but takes away or multiplies that
/// of fractions of one: there it is the deviation before rounding that gives way.
Changes changes_of(double std) {
  constexpr double least_rounded = 0.005;
  const double wanted = 255 * std;
  if (std >= least_rounded) return rounded(wanted);
  const auto shares = shares_of_sums();
  const auto variance = [&](const Changes& changes) {
    double sum = 0;
    for (int i = 0; i < sums; ++i) sum += shares[i] * changes[i] * changes[i];
    return sum;
  };
  double low = 0, high = 255 * least_rounded;
  for (int halving = 0; halving < 40; ++halving) {
    const double middle = (low + high) / 2;
    (variance(rounded(middle)) < wanted * wanted ? low : high) = middle;
  }
  return rounded(low);
}

/// Noise of every pixel and channel on its own, nearly Gaussian: the sum of four bytes, at most 3.45 standard deviations away;
/// below `least_rounded` a few whole levels, with that deviation. A function of the episode's seed, the step (where it is dynamic)
/// and the pixel's place, and of nothing that was drawn before.
class Noise final : public Disturbance {
 public:
  Noise(double deviation, bool dynamic) : dynamic_(dynamic), change_(changes_of(deviation)) {}

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
  Changes change_;
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
