module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;
import :internal;

namespace iap {
namespace {

constexpr int fixed_filters = 4;

/// Row n of Pascal's triangle over 2^n: n = size - 1 gives the binomial window of `size`.
std::vector<double> binomial(int size) {
  std::vector<double> window{1};
  for (int n = 1; n < size; ++n) {
    window.push_back(0);
    for (std::size_t i = window.size() - 1; i > 0; --i) window[i] = (window[i] + window[i - 1]) / 2;
    window[0] /= 2;
  }
  return window;
}

/// The window of `size` that smooths with a binomial one and then takes the difference `kernel` (three values).
std::vector<double> difference(int size, const std::array<double, 3>& kernel) {
  const auto smooth = binomial(size - 2);
  std::vector<double> window(size);
  for (std::size_t i = 0; i < smooth.size(); ++i)
    for (std::size_t k = 0; k < kernel.size(); ++k) window[i + k] += smooth[i] * kernel[k];
  return window;
}

/// Smoothing, derivative down the rows, derivative along a row, Laplacian; each of every colour's mean, 0 for depth beside colours.
std::vector<float> fixed_weights(int size, int filters, int channels) {
  const auto smooth = binomial(size), first = difference(size, {-0.5, 0, 0.5}), second = difference(size, {1, -2, 1});
  const int colours = std::min(channels, 3);
  std::vector<float> weights(static_cast<std::size_t>(filters) * size * size * channels);
  std::size_t at = 0;
  for (int filter = 0; filter < filters; ++filter)
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x)
        for (int channel = 0; channel < channels; ++channel, ++at) {
          const std::array<double, fixed_filters> values{smooth[y] * smooth[x], first[y] * smooth[x], smooth[y] * first[x],
                                                         second[y] * smooth[x] + smooth[y] * second[x]};
          if (channel < colours) weights[at] = static_cast<float>(values[filter] / colours);
        }
  return weights;
}

/// `filters` filters on a window of size x size pixels with the patch in its middle (half a pixel up and left of it where one size
/// is odd and the other even): sum of weight times (pixel + pixel offset), pixels outside the image counting as 0. Weights are
/// filters x size x size x channels, learned (they begin as N(0, 1 / weights a filter)) or fixed.
class ConvolutionValues final : public PatchValues {
 public:
  explicit ConvolutionValues(const ValueContext& context)
      : grid_(context.grid),
        pixel_offset_(context.pixel_offset),
        learned_(context.options.choice("convolution", {"learned", "fixed"}, "learned") == "learned"),
        size_(static_cast<int>(context.options.integer_in("convolution_size", 1, 255, 3))),
        filters_(static_cast<int>(context.options.integer_in("convolution_channels", 1, 1 << 12, fixed_filters))),
        values_(static_cast<std::size_t>(size_) * size_ * grid_.image().channels) {
    if (learned_) {
      offset_ = context.layout.add(context.array("convolution"), {filters_, static_cast<int>(values_)});
      return;
    }
    if (filters_ > fixed_filters)
      context.options.fail(text("option 'convolution_channels' is ", filters_, ", but there are only ", fixed_filters,
                                " fixed filters; use convolution = \"learned\" for more"));
    if (size_ < 3 || size_ % 2 == 0)
      context.options.fail(text("option 'convolution_size' is ", size_, ", but fixed filters need an odd size of at least 3"));
    fixed_ = fixed_weights(size_, filters_, grid_.image().channels);
    weights_ = fixed_;
  }
  int size() const override { return filters_; }
  void initialise(std::span<float> parameters, Random& random) const override {
    if (learned_) fill_normal(parameters.subspan(offset_, filters_ * values_), 1 / std::sqrt(static_cast<double>(values_)), random);
  }
  void bind(std::span<const float> parameters, std::span<const float>) override {
    if (learned_) weights_ = parameters.subspan(offset_, filters_ * values_);
  }
  void write(const ImageView& image, int patch, std::span<float> out) override {
    const ImageShape& shape = grid_.image();
    const int margin = static_cast<int>(std::floor((grid_.size() - size_) / 2.0));
    const int top = patch / grid_.columns() * grid_.stride() + margin, left = patch % grid_.columns() * grid_.stride() + margin;
    std::ranges::fill(out, 0.0F);
    for (int y = std::max(top, 0); y < std::min(top + size_, shape.height); ++y)
      for (int x = std::max(left, 0); x < std::min(left + size_, shape.width); ++x)
        for (int channel = 0; channel < shape.channels; ++channel) {
          const float pixel =
              pixel_at(image, (static_cast<std::size_t>(y) * shape.width + x) * shape.channels + channel) + pixel_offset_;
          const std::size_t at = (static_cast<std::size_t>(y - top) * size_ + (x - left)) * shape.channels + channel;
          for (int filter = 0; filter < filters_; ++filter) out[filter] += pixel * weights_[filter * values_ + at];
        }
  }

 private:
  PatchGrid grid_;
  float pixel_offset_;
  bool learned_;
  int size_, filters_;
  std::size_t values_;  // a filter
  std::size_t offset_ = 0;
  std::vector<float> fixed_;
  std::span<const float> weights_;
};

}  // namespace

MadeValues make_convolution_values(const ValueContext& context) { return std::make_unique<ConvolutionValues>(context); }

}  // namespace iap
