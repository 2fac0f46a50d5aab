module;
#include <algorithm>
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

/// What both recurrent layers share: gates = W_ih x + b_ih + W_hh h + b_hh, in PyTorch's names and layout, so that weights can
/// be exchanged. Values begin as U(-1/sqrt(units), 1/sqrt(units)).
class Recurrent : public Block {
 public:
  void initialise(std::span<float> parameters, Random& random) const override {
    const double bound = 1 / std::sqrt(outputs());
    for (const auto& part :
         {input_.weight(parameters), hidden_.weight(parameters), input_.bias(parameters), hidden_.bias(parameters)})
      for (float& value : part) value = static_cast<float>(random.uniform(-bound, bound));
  }
  void bind(std::span<const float> parameters) override {
    input_.bind(parameters);
    hidden_.bind(parameters);
  }

 protected:
  Recurrent(Options& options, const BlockContext& context, ParameterLayout& layout, int gates)
      : Block(context, read_units(options, context)) {
    require_inputs(options, context);
    input_ = Affine(layout, path(), "weight_ih", "bias_ih", gates * outputs(), inputs());
    hidden_ = Affine(layout, path(), "weight_hh", "bias_hh", gates * outputs(), outputs());
    state_.resize(static_cast<std::size_t>(outputs()));
    gates_.resize(static_cast<std::size_t>(gates) * outputs());
  }
  std::span<float> compute_gates(std::span<const float> in) {
    input_.apply(in, gates_);
    hidden_.add(state_, gates_);
    return gates_;
  }
  std::span<float> state() { return state_; }

 private:
  Affine input_, hidden_;
  std::vector<float> state_, gates_;
};

/// Hochreiter & Schmidhuber 1997 with forget gates, gates in the order input, forget, cell, output:
/// c' = f c + i g, h' = o tanh(c').
class Lstm final : public Recurrent {
 public:
  Lstm(Options& options, const BlockContext& context, ParameterLayout& layout)
      : Recurrent(options, context, layout, 4), cell_(outputs()) {}
  std::string_view kind() const override { return "lstm"; }
  void reset(std::uint64_t) override {
    std::ranges::fill(state(), 0.0f);
    std::ranges::fill(cell_, 0.0f);
  }
  void forward(const Observation&, std::span<const float> in, std::span<float> out) override {
    const std::size_t units = out.size();
    const auto gates = compute_gates(in);
    for (std::size_t u = 0; u < units; ++u) {
      const float input = sigmoid(gates[u]), forget = sigmoid(gates[units + u]);
      const float candidate = hyperbolic_tangent(gates[2 * units + u]), output = sigmoid(gates[3 * units + u]);
      cell_[u] = forget * cell_[u] + input * candidate;
      state()[u] = output * hyperbolic_tangent(cell_[u]);
    }
    std::ranges::copy(state(), out.begin());
  }

 private:
  std::vector<float> cell_;
};

/// Elman's layer: h' = activation(W_ih x + b_ih + W_hh h + b_hh).
class Rnn final : public Recurrent {
 public:
  Rnn(Options& options, const BlockContext& context, ParameterLayout& layout)
      : Recurrent(options, context, layout, 1), activation_(read_activation(options, "activation", Activation::tanh)) {}
  std::string_view kind() const override { return "rnn"; }
  std::string describe() const override { return text("activation ", name_of(activation_)); }
  void reset(std::uint64_t) override { std::ranges::fill(state(), 0.0f); }
  void forward(const Observation&, std::span<const float> in, std::span<float> out) override {
    const auto gates = compute_gates(in);
    activate(activation_, gates);
    std::ranges::copy(gates, state().begin());
    std::ranges::copy(gates, out.begin());
  }

 private:
  Activation activation_;
};

}  // namespace

/// @lua function iap.policy.lstm
/// Long short-term memory; its state is zero at the start of an episode.
/// @option units integer 1.. = (the action's size, for the last block) - numbers that it remembers and hands over
/// @use policy.block
/// @return blueprint - 4 units (inputs + units + 2) parameters
/// @example iap.policy.lstm { units = 16 }
/// @see controllers.md
MadeBlock make_lstm(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<Lstm>(options, context, layout);
}

/// @lua function iap.policy.rnn
/// A plain recurrent layer; its state is zero at the start of an episode.
/// @option units integer 1.. = (the action's size, for the last block) - numbers that it remembers and hands over
/// @option activation "none"|"tanh"|"relu"|"elu"|"sigmoid" = "tanh" - of the state
/// @use policy.block
/// @return blueprint - units (inputs + units + 2) parameters
/// @example iap.policy.rnn { units = 16 }
/// @see controllers.md
MadeBlock make_rnn(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<Rnn>(options, context, layout);
}

}  // namespace iap
