module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.policy;
import iap.core;
import :internal;

namespace iap {
namespace {

constexpr std::array<const char*, 5> activation_names{"none", "tanh", "relu", "elu", "sigmoid"};

}  // namespace

std::string name_of(Activation activation) { return activation_names[static_cast<std::size_t>(activation)]; }

Activation read_activation(Options& options, std::string_view key, Activation fallback) {
  const std::vector<std::string> names(activation_names.begin(), activation_names.end());
  const std::string name = options.choice(key, names, name_of(fallback));
  return static_cast<Activation>(std::ranges::find(names, name) - names.begin());
}

float hyperbolic_tangent(float x) { return static_cast<float>(std::tanh(static_cast<double>(x))); }

float sigmoid(float x) {
  const double e = std::exp(-std::abs(static_cast<double>(x)));
  return static_cast<float>((x >= 0 ? 1 : e) / (1 + e));
}

void activate(Activation activation, std::span<float> values) {
  switch (activation) {
    case Activation::none: return;
    case Activation::tanh:
      for (float& x : values) x = hyperbolic_tangent(x);
      return;
    case Activation::relu:
      for (float& x : values) x = std::max(x, 0.0f);
      return;
    case Activation::elu:
      for (float& x : values) x = x > 0 ? x : static_cast<float>(std::expm1(static_cast<double>(x)));
      return;
    case Activation::sigmoid:
      for (float& x : values) x = sigmoid(x);
      return;
  }
}

float dot(std::span<const float> a, const float* b) {
  constexpr std::size_t lanes = 8;
  std::array<float, lanes> sum{};
  const std::size_t whole = a.size() - a.size() % lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sum[lane] += a[i + lane] * b[i + lane];
  for (std::size_t i = whole; i < a.size(); ++i) sum[i - whole] += a[i] * b[i];
  for (std::size_t width = lanes / 2; width > 0; width /= 2)
    for (std::size_t lane = 0; lane < width; ++lane) sum[lane] += sum[lane + width];
  return sum[0];
}

Affine::Affine(ParameterLayout& layout, const std::string& path, const std::string& weight, const std::string& bias, int rows,
               int columns)
    : rows_(rows), columns_(columns), has_bias_(!bias.empty()), weight_offset_(layout.add(path + "." + weight, {rows, columns})) {
  if (has_bias_) bias_offset_ = layout.add(path + "." + bias, {rows});
}

std::span<float> Affine::bias(std::span<float> parameters) const {
  return parameters.subspan(bias_offset_, has_bias_ ? static_cast<std::size_t>(rows_) : 0);
}

void Affine::bind(std::span<const float> parameters) {
  weight_ = parameters.subspan(weight_offset_, weight_size());
  bias_ = parameters.subspan(bias_offset_, has_bias_ ? static_cast<std::size_t>(rows_) : 0);
}

void Affine::apply(std::span<const float> in, std::span<float> out) const {
  std::ranges::fill(out, 0.0f);
  add(in, out);
}

void Affine::add(std::span<const float> in, std::span<float> out) const {
  for (std::size_t row = 0; row < out.size(); ++row) {
    out[row] += dot(in, weight_.data() + row * in.size());
    if (has_bias_) out[row] += bias_[row];
  }
}

void fill_normal(std::span<float> values, double deviation, Random& random) {
  for (float& value : values) value = static_cast<float>(deviation * random.normal());
}

}  // namespace iap
