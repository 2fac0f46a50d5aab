module;
#include <memory>
#include <span>
#include <string>
#include <string_view>
module iap.policy;
import iap.core;
import :internal;

namespace iap {
namespace {

/// y = activation(W x + b). Options: units, activation, bias, scale (standard deviation of the initial weights; b begins at 0).
class Linear final : public Block {
 public:
  Linear(Options& options, const BlockContext& context, ParameterLayout& layout)
      : Block(context, read_units(options, context)),
        activation_(read_activation(options, "activation", Activation::none)),
        scale_(options.number_in("scale", 0, 1e6, 0.1)) {
    require_inputs(options, context);
    layer_ = Affine(layout, path(), "weight", options.boolean("bias", true) ? "bias" : "", outputs(), inputs());
  }
  std::string_view kind() const override { return "linear"; }
  std::string memory() const override { return ""; }
  std::string describe() const override { return text("activation ", name_of(activation_)); }
  void initialise(std::span<float> parameters, Random& random) const override {
    fill_normal(layer_.weight(parameters), scale_, random);
  }
  void bind(std::span<const float> parameters) override { layer_.bind(parameters); }
  void forward(const Observation&, std::span<const float> in, std::span<float> out) override {
    layer_.apply(in, out);
    activate(activation_, out);
  }

 private:
  Activation activation_;
  double scale_;
  Affine layer_;
};

}  // namespace

/// @lua function iap.policy.linear
/// A dense layer: activation(W x + b). The weights begin as N(0, scale^2).
/// @option units integer 1.. = (the action's size, for the last block) - numbers that it hands over
/// @option activation "none"|"tanh"|"relu"|"elu"|"sigmoid" = "none" - of the outputs
/// @option scale number 0..1e6 = 0.1 - standard deviation of the initial weights
/// @option bias boolean = true - whether there is a b
/// @use policy.block
/// @return blueprint - inputs times units, and units
/// @example iap.policy.linear { units = 8, activation = "tanh" }
/// @see controllers.md
MadeBlock make_linear(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<Linear>(options, context, layout);
}

}  // namespace iap
