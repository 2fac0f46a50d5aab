module;
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.policy;
import iap.core;
import :internal;

namespace iap {
namespace {

/// Dense layers of the sizes in `hidden`, then one of `units`. Hidden weights begin as N(0, 1 / inputs of the layer), the last
/// layer's as N(0, scale^2), biases at 0.
class Mlp final : public Block {
 public:
  Mlp(Options& options, const BlockContext& context, ParameterLayout& layout)
      : Block(context, read_units(options, context)),
        activation_(read_activation(options, "activation", Activation::tanh)),
        output_activation_(read_activation(options, "output_activation", Activation::none)),
        scale_(options.number_in("scale", 0, 1e6, 0.1)) {
    require_inputs(options, context);
    int columns = inputs();
    std::vector<std::int64_t> sizes = options.integers("hidden", std::vector<std::int64_t>{32, 32});
    for (const auto size : sizes)
      if (size < 1 || size > 1 << 20) options.fail(text("option 'hidden' must hold sizes in [1, ", 1 << 20, "], got ", size));
    sizes.push_back(outputs());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const int rows = static_cast<int>(sizes[i]);
      layers_.emplace_back(layout, path(), text("weight_", i + 1), text("bias_", i + 1), rows, columns);
      hidden_.emplace_back(rows);
      columns = rows;
    }
    hidden_.pop_back();
  }
  std::string_view kind() const override { return "mlp"; }
  std::string memory() const override { return ""; }
  std::string describe() const override {
    std::string sizes;
    for (const auto& values : hidden_) sizes += (sizes.empty() ? "" : ", ") + text(values.size());
    return text("hidden {", sizes, "}, activation ", name_of(activation_), ", output ", name_of(output_activation_));
  }
  void initialise(std::span<float> parameters, Random& random) const override {
    for (std::size_t i = 0; i < layers_.size(); ++i)
      fill_normal(layers_[i].weight(parameters), i + 1 < layers_.size() ? 1 / std::sqrt(layers_[i].columns()) : scale_, random);
  }
  void bind(std::span<const float> parameters) override {
    for (auto& layer : layers_) layer.bind(parameters);
  }
  void forward(const Observation&, std::span<const float> in, std::span<float> out) override {
    for (std::size_t i = 0; i < hidden_.size(); ++i) {
      layers_[i].apply(in, hidden_[i]);
      activate(activation_, hidden_[i]);
      in = hidden_[i];
    }
    layers_.back().apply(in, out);
    activate(output_activation_, out);
  }

 private:
  Activation activation_, output_activation_;
  double scale_;
  std::vector<Affine> layers_;
  std::vector<std::vector<float>> hidden_;
};

}  // namespace

/// @lua function iap.policy.mlp
/// Dense layers one after the other.
/// @option hidden integer[] = { 32, 32 } - units of the layers before the last; {}: there are none
/// @option units integer 1.. = (the action's size, for the last block) - numbers that it hands over
/// @option activation "none"|"tanh"|"relu"|"elu"|"sigmoid" = "tanh" - of the hidden layers
/// @option output_activation "none"|"tanh"|"relu"|"elu"|"sigmoid" = "none" - of the last one
/// @option scale number 0..1e6 = 0.1 - standard deviation of the last layer's initial weights
/// @use policy.block
/// @return blueprint - weights and biases of all layers
/// @example iap.policy.mlp { hidden = { 16 }, units = 4 }
/// @see controllers.md
MadeBlock make_mlp(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<Mlp>(options, context, layout);
}

}  // namespace iap
