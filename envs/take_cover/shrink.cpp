module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>
module iap.envs.take_cover;

namespace iap::take_cover {

Shrink::Shrink(int from, int to) : outputs_(to), taps_(static_cast<std::size_t>(from)) {
  const double scale = static_cast<double>(from) / to;
  for (int i = 0; i < from; ++i) taps_[static_cast<std::size_t>(i)].output = static_cast<int>(std::floor((i + 0.5) / scale - 0.5));
  for (int output = 0; output < to; ++output) {
    const double centre = (output + 0.5) * scale;
    const int begin = std::max(0, static_cast<int>(centre - scale + 0.5)),
              end = std::min(from, static_cast<int>(centre + scale + 0.5));
    const auto share = [&](int i) { return std::max(0.0, 1 - std::abs(i + 0.5 - centre) / scale); };
    double total = 0;
    for (int i = begin; i < end; ++i) total += share(i);
    // Rounding errors go to the middle, where they are smallest in proportion.
    std::uint32_t given = 0;
    const auto weight = [&](int i) -> std::uint32_t& {
      Tap& tap = taps_[static_cast<std::size_t>(i)];
      return tap.output == output ? tap.weight : tap.next_weight;
    };
    for (int i = begin; i < end; ++i) given += weight(i) = static_cast<std::uint32_t>(std::lround(share(i) / total * (1 << bits)));
    weight(std::clamp(static_cast<int>(centre), 0, from - 1)) += (1U << bits) - given;
    ranges_.push_back({begin, end});
  }
}

}  // namespace iap::take_cover
