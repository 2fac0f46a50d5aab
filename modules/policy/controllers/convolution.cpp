module;
#include <cstddef>
#include <span>
#include <string>
#include <vector>
/// One layer of a convolutional network.
module iap.policy:convolution;
import iap.core;
import :block;
import :internal;

namespace iap {

/// Values in planes: channel by channel, rows top-down.
struct Planes {
  int channels = 0, height = 0, width = 0;
  std::size_t count() const { return static_cast<std::size_t>(channels) * height * width; }
};

/// What a layer's options are unless it says so itself.
struct LayerDefaults {
  Activation activation = Activation::relu;
  std::string padding, pooling;
  bool bias = true;
};

/// Convolution (as cross-correlation), activation, then pooling. Parameters: weight_<n>, channels x (channels before x kernel x
/// kernel) in PyTorch's order, and bias_<n>.
class ConvolutionLayer {
 public:
  /// Reads the layer's options. `number` counts from 1; the layer works once it has taken its memory. @throws Error naming the
  /// layer where its window does not fit.
  ConvolutionLayer(Options& options, const LayerDefaults& defaults, const Planes& in, const std::string& path, int number,
                   ParameterLayout& layout);

  /// Bytes that it works in, and taking them.
  double bytes() const { return sizeof(float) * static_cast<double>(framed_count() + convolved_.count()); }
  void take_memory();
  /// What comes out.
  const Planes& shape() const { return pooled_; }
  void initialise(std::span<float> parameters, Random& random) const;
  void bind(std::span<const float> parameters) { filters_.bind(parameters); }
  /// `in` as the layer's input planes, `out` as shape() says.
  void forward(std::span<const float> in, std::span<float> out);

 private:
  std::size_t framed_count() const { return padded_.count() != in_.count() ? padded_.count() : 0; }
  void convolve(const float* in);
  void pool(std::span<float> out) const;

  Planes in_, padded_, convolved_, pooled_;
  int kernel_ = 0, stride_ = 0, top_ = 0, left_ = 0, window_ = 0, step_ = 0;
  Activation activation_ = Activation::relu;
  bool average_ = false;
  Affine filters_;
  std::vector<float> framed_, sums_;  // the input within its frame of zeros, if there is one; what is pooled
};

}  // namespace iap
