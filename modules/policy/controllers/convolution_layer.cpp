module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>
module iap.policy;
import iap.core;
import :convolution;
import :internal;

namespace iap {
namespace {

constexpr std::int64_t most_channels = 1 << 12, largest_window = 1 << 8;
constexpr std::size_t most_values = std::size_t{1} << 24;

int read_size(Options& options, std::string_view key, std::int64_t most, std::int64_t fallback) {
  return static_cast<int>(options.integer_in(key, 1, most, fallback));
}

/// Windows of `size` at every `step` inside `extent`.
int places(int extent, int size, int step) { return extent < size ? 0 : (extent - size) / step + 1; }

/// Where a filter's weights meet the planes that it reads.
struct Windows {
  const Planes &in, &out;
  int kernel, stride;
};

/// Adds what `weights`, those of a filter from number `first` on, make of the planes to the sums of one channel. Weight by weight
/// over whole rows: the additions of one value keep their order, and rows use vector registers.
void add_weights(std::span<const float> weights, std::size_t first, const Windows& windows, const float* in, float* sums) {
  const std::size_t kernel = windows.kernel, stride = windows.stride, pitch = windows.in.width, width = windows.out.width;
  const std::size_t plane = windows.in.height * pitch, height = windows.out.height;
  std::size_t from = first / kernel / kernel, y = first / kernel % kernel, x = first % kernel;
  for (const float weight : weights) {
    const float* pixels = in + from * plane + y * pitch + x;
    float* out = sums;
    for (std::size_t row = 0; row < height; ++row, pixels += stride * pitch, out += width)
      if (stride == 1)
        for (std::size_t i = 0; i < width; ++i) out[i] += weight * pixels[i];
      else
        for (std::size_t i = 0; i < width; ++i) out[i] += weight * pixels[i * stride];
    if (++x < kernel) continue;
    x = 0;
    if (++y < kernel) continue;
    y = 0;
    ++from;
  }
}

}  // namespace

/// @lua options policy.layer
/// A layer of iap.policy.cnn.
/// @option channels integer 1..4096 - filters
/// @option kernel integer 1..256 = 3 - side of a filter's window, pixels
/// @option stride integer 1..256 = 1 - of the window
/// @option padding "valid"|"same" = (the block's) - windows inside the image, or zeros around it
/// @option activation "none"|"tanh"|"relu"|"elu"|"sigmoid" = (the block's) - behind the convolution
/// @option pool integer 1..256 = 1 - side of a pool's window; 1: none
/// @option pool_stride integer 1..256 = pool - of that window
/// @option pooling "max"|"average" = (the block's) - of a pool
/// @option bias boolean = (the block's) - one a filter
ConvolutionLayer::ConvolutionLayer(Options& options, const LayerDefaults& defaults, const Planes& in, const std::string& path,
                                   int number, ParameterLayout& layout)
    : in_(in), padded_(in) {
  const int channels = static_cast<int>(options.integer_in("channels", 1, most_channels));
  kernel_ = read_size(options, "kernel", largest_window, 3);
  stride_ = read_size(options, "stride", largest_window, 1);
  const bool same = options.choice("padding", {"valid", "same"}, defaults.padding) == "same";
  activation_ = read_activation(options, "activation", defaults.activation);
  window_ = read_size(options, "pool", largest_window, 1);
  step_ = read_size(options, "pool_stride", largest_window, window_);
  average_ = options.choice("pooling", {"max", "average"}, defaults.pooling) == "average";
  const bool bias = options.boolean("bias", defaults.bias);

  if (same) {
    // As many windows as strides fit in; where the frame's size is odd, the larger half is below and on the right.
    const auto frame = [&](int extent) { return std::max((extent - 1) / stride_ * stride_ + kernel_ - extent, 0); };
    padded_.height += frame(in.height);
    padded_.width += frame(in.width);
    top_ = frame(in.height) / 2;
    left_ = frame(in.width) / 2;
  }
  convolved_ = {channels, places(padded_.height, kernel_, stride_), places(padded_.width, kernel_, stride_)};
  if (convolved_.height == 0 || convolved_.width == 0)
    options.fail(text("option 'kernel' is ", kernel_, ", but only ", in.height, " x ", in.width,
                      " values come to this layer; take padding = \"same\", or pool or stride less before it"));
  pooled_ = {channels, places(convolved_.height, window_, step_), places(convolved_.width, window_, step_)};
  if (pooled_.height == 0 || pooled_.width == 0)
    options.fail(text("option 'pool' is ", window_, ", but the convolution gives only ", convolved_.height, " x ", convolved_.width,
                      " values; take a smaller one"));
  if (convolved_.count() > most_values)
    options.fail(
        text("needs ", convolved_.count(), " values, at most ", most_values, " are allowed; take fewer channels or a stride"));
  filters_ =
      Affine(layout, path, text("weight_", number), bias ? text("bias_", number) : "", channels, in.channels * kernel_ * kernel_);
}

void ConvolutionLayer::take_memory() {
  framed_.resize(framed_count());
  sums_.resize(convolved_.count());
}

void ConvolutionLayer::initialise(std::span<float> parameters, Random& random) const {
  // relu lets half of the variance through.
  const double gain = activation_ == Activation::relu ? 2 : 1;
  fill_normal(filters_.weight(parameters), std::sqrt(gain / filters_.columns()), random);
}

void ConvolutionLayer::convolve(const float* in) {
  const std::size_t count = static_cast<std::size_t>(convolved_.height) * convolved_.width, at_once = things_between_looks(count);
  Looks looks;
  for (int channel = 0; channel < convolved_.channels; ++channel) {
    const auto [weights, bias] = filters_.row(channel);
    float* sums = sums_.data() + channel * count;
    std::fill_n(sums, count, bias);
    for (std::size_t first = 0; first < weights.size(); first += at_once) {
      const auto some = weights.subspan(first, std::min(at_once, weights.size() - first));
      if (looks.due(some.size() * count)) check_interrupt();
      add_weights(some, first, {padded_, convolved_, kernel_, stride_}, in, sums);
    }
  }
}

void ConvolutionLayer::pool(std::span<float> out) const {
  const float* plane = sums_.data();
  const std::size_t window = static_cast<std::size_t>(window_) * window_;
  const auto at_once = static_cast<int>(std::min<std::size_t>(pooled_.width, things_between_looks(window)));
  std::size_t at = 0;
  Looks looks;
  for (int channel = 0; channel < pooled_.channels;
       ++channel, plane += static_cast<std::size_t>(convolved_.height) * convolved_.width)
    for (int row = 0; row < pooled_.height; ++row)
      for (int column = 0; column < pooled_.width;) {
        const int end = std::min(pooled_.width, column + at_once);
        if (looks.due(window * (end - column))) check_interrupt();
        for (; column < end; ++column, ++at) {
          const float* corner =
              plane + static_cast<std::size_t>(row) * step_ * convolved_.width + static_cast<std::size_t>(column) * step_;
          float value = average_ ? 0.0F : corner[0];
          for (int y = 0; y < window_; ++y)
            for (int x = 0; x < window_; ++x) {
              const float one = corner[static_cast<std::size_t>(y) * convolved_.width + x];
              value = average_ ? value + one : std::max(value, one);
            }
          out[at] = average_ ? value / static_cast<float>(window_ * window_) : value;
        }
      }
}

void ConvolutionLayer::forward(std::span<const float> in, std::span<float> out) {
  check_interrupt();
  const bool is_framed = !framed_.empty();
  if (is_framed)
    for (int channel = 0; channel < in_.channels; ++channel)
      for (int row = 0; row < in_.height; ++row)
        std::ranges::copy(
            in.subspan((static_cast<std::size_t>(channel) * in_.height + row) * in_.width, in_.width),
            framed_.begin() + (static_cast<std::ptrdiff_t>(channel) * padded_.height + row + top_) * padded_.width + left_);
  convolve(is_framed ? framed_.data() : in.data());
  activate(activation_, sums_);
  if (window_ == 1 && step_ == 1)
    std::ranges::copy(sums_, out.begin());
  else
    pool(out);
}

}  // namespace iap
