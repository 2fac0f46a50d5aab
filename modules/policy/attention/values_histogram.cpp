module;
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;

namespace iap {
namespace {

/// Which fraction of the patch's pixels has an intensity (the mean of the colours; the fourth channel, depth, does not count) in
/// each of `bins` equal parts of [0, 1]; what lies outside counts as the nearest end.
class HistogramValues final : public PatchValues {
 public:
  explicit HistogramValues(const ValueContext& context)
      : grid_(context.grid), bins_(static_cast<int>(context.options.integer_in("bins", 1, 256, 8))) {}
  int size() const override { return bins_; }
  void write(const ImageView& image, int patch, std::span<float> out) override {
    const int channels = grid_.image().channels, colours = std::min(channels, 3), size = grid_.size();
    const int top = patch / grid_.columns() * grid_.stride(), left = patch % grid_.columns() * grid_.stride();
    const float share = 1.0F / static_cast<float>(size * size);
    std::ranges::fill(out, 0.0F);
    for (int y = top; y < top + size; ++y)
      for (int x = left; x < left + size; ++x) {
        const std::size_t first = (static_cast<std::size_t>(y) * grid_.image().width + x) * channels;
        float intensity = 0;
        for (int channel = 0; channel < colours; ++channel) intensity += pixel_at(image, first + channel);
        const float place = intensity / static_cast<float>(colours) * static_cast<float>(bins_);
        // Not a number: the first bin.
        const int bin = place > 0 ? static_cast<int>(std::min(place, static_cast<float>(bins_ - 1))) : 0;
        out[bin] += share;
      }
  }

 private:
  PatchGrid grid_;
  int bins_;
};

}  // namespace

MadeValues make_histogram_values(const ValueContext& context) { return std::make_unique<HistogramValues>(context); }

}  // namespace iap
