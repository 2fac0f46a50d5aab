module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.policy;
import iap.core;
import :convolution;
import :internal;
import :retina;

namespace iap {
namespace {

/// A convolutional network over an image: the papers' policies without attention (v1 section 5.3). Each of `layers` is a table:
/// channels, kernel (3), stride (1), pool (1: none), pool_stride (pool), and its own padding, activation, pooling or bias.
/// Options: image, pool (averages before everything, as of the attention blocks), pixel_offset (see Retina::pixel_offset; added to
/// uint8 values / 255 and to floats as they are: depth counts in metres), activation (relu), padding ("valid"; "same" frames with
/// zeros so that stride 1 keeps the size), pooling ("max" or "average"), bias (true). Hands over the last layer's values channel by
/// channel, rows top-down, as PyTorch's flatten does; dense layers are blocks behind it. Weights begin as N(0, 2 / weights a
/// filter) with relu, else N(0, 1 / weights a filter), biases at 0.
class Cnn final : public Block {
 public:
  struct Built {
    Retina image;
    float pixel_offset;
    std::vector<ConvolutionLayer> layers;
  };
  Cnn(const BlockContext& context, Built built, int outputs) : Block(context, outputs), built_(std::move(built)) {
    planes_.resize(built_.image.shape().count());
    for (ConvolutionLayer& layer : built_.layers) layer.take_memory();
    for (std::size_t i = 0; i + 1 < built_.layers.size(); ++i) between_.emplace_back(built_.layers[i].shape().count());
  }
  std::string_view kind() const override { return "cnn"; }
  std::string memory() const override { return built_.image.compares_frames() ? Block::memory() : ""; }
  std::string describe() const override {
    const ImageShape& seen = built_.image.shape();
    std::string shapes = text(seen.height, " x ", seen.width, " x ", seen.channels);
    for (const auto& layer : built_.layers)
      shapes += text(" -> ", layer.shape().height, " x ", layer.shape().width, " x ", layer.shape().channels);
    return shapes;
  }
  void initialise(std::span<float> parameters, Random& random) const override {
    for (const auto& layer : built_.layers) layer.initialise(parameters, random);
  }
  void bind(std::span<const float> parameters) override {
    for (auto& layer : built_.layers) layer.bind(parameters);
  }
  void reset(std::uint64_t) override { built_.image.reset(); }
  void forward(const Observation& observation, std::span<const float>, std::span<float> out) override {
    unpack(built_.image.look(observation));
    std::span<const float> in = planes_;
    for (std::size_t i = 0; i < built_.layers.size(); ++i) {
      const auto target = i < between_.size() ? std::span<float>(between_[i]) : out;
      built_.layers[i].forward(in, target);
      in = target;
    }
  }

 private:
  /// Pixels beside each other become planes.
  void unpack(const ImageView& image) {
    const std::size_t channels = image.shape.channels, count = image.shape.count() / channels;
    const bool bytes = image.shape.type == PixelType::uint8;
    for (std::size_t channel = 0; channel < channels; ++channel)
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = i * channels + channel;
        planes_[channel * count + i] =
            (bytes ? static_cast<float>(image.bytes()[at]) / 255.0F : image.floats()[at]) + built_.pixel_offset;
      }
  }

  Built built_;
  std::vector<float> planes_;
  std::vector<std::vector<float>> between_;
};

}  // namespace

/// @lua function iap.policy.cnn
/// Convolutions over an image, each with an activation, then pooling; what policies without attention look with. Reads no input.
/// @option layers {policy.layer}[] - one after the other
/// @option image string = (the observation's first image) - name of the image that is looked at; an environment in Lua has them in
/// the order of their names, `depth` before `rgb`
/// @option pixel_offset number -1..1 = -0.5 - added to pixels, which are in [0, 1]; 0 unless given where `contrast` shows an image
/// of floats
/// @option activation "none"|"tanh"|"relu"|"elu"|"sigmoid" = "relu" - of layers that say nothing else
/// @option padding "valid"|"same" = "valid" - likewise: windows inside the image, or zeros around it
/// @option pooling "max"|"average" = "max" - likewise
/// @option bias boolean = true - likewise
/// @use attention.retina
/// @use policy.block
/// @return blueprint - weights and biases
/// @example iap.policy.cnn { layers = { { channels = 4 }, { channels = 8, pool = 2 } } }
/// @see controllers.md#convolutions
MadeBlock make_cnn(Options& options, const BlockContext& context, ParameterLayout& layout) {
  Retina image(options, *context.observation);
  const float pixel_offset = image.pixel_offset(options);
  Cnn::Built built{std::move(image), pixel_offset, {}};
  LayerDefaults defaults;
  defaults.activation = read_activation(options, "activation", Activation::relu);
  defaults.padding = options.choice("padding", {"valid", "same"}, "valid");
  defaults.pooling = options.choice("pooling", {"max", "average"}, "max");
  defaults.bias = options.boolean("bias", true);
  const Config::List& layers = options.list("layers");
  if (layers.empty()) options.fail("option 'layers' must list at least one layer, such as {channels = 4, kernel = 3, pool = 2}");
  const ImageShape& seen = built.image.shape();
  Planes planes{seen.channels, seen.height, seen.width};
  Config::List completed;
  // Between two layers lies what the one before gives.
  double bytes = sizeof(float) * static_cast<double>(planes.count());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Options own(text(options.owner(), ", layer ", i + 1), layers[i]);
    built.layers.emplace_back(own, defaults, planes, context.path, static_cast<int>(i) + 1, layout);
    own.finish();
    completed.push_back(own.completed());
    planes = built.layers.back().shape();
    bytes += built.layers.back().bytes() + sizeof(float) * static_cast<double>(planes.count());
  }
  options.complete("layers", std::move(completed));
  const int outputs = checked_outputs(options, static_cast<std::int64_t>(planes.count()));
  check_memory(text(options.owner(), ": what its layers work in"), bytes);
  return std::make_unique<Cnn>(context, std::move(built), outputs);
}

}  // namespace iap
