#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::WithinAbs;

namespace {

using Function = double (*)(double);

const std::map<std::string, Function> activations{
    {"none", [](double x) { return x; }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"relu", [](double x) { return x > 0 ? x : 0; }},
    {"elu", [](double x) { return x > 0 ? x : std::exp(x) - 1; }},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
};

void check_close(const std::vector<float>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK_THAT(got[i], WithinAbs(expected[i], 1e-5 * (1 + std::abs(expected[i]))));
}

}  // namespace

TEST_CASE("linear is an affine map and an activation") {
  for (const auto& [name, function] : activations)
    for (const int inputs : {1, 7, 8, 9, 40}) {
      Policy policy(config("{'kind': 'linear', 'activation': '" + name + "'}"), vector_spec(inputs), 3);
      randomise(policy, 1);
      const Frame frame(policy.observation(), 2);
      auto expected = affine(slice(policy, "policy.weight"), slice(policy, "policy.bias"), widen(frame.vector()));
      for (double& x : expected) x = function(x);
      check_close(act(policy, frame), expected);
      CHECK(policy.size() == 3u * inputs + 3u);
    }
}

TEST_CASE("linear without bias has none") {
  Policy policy(config("{'kind': 'linear', 'bias': false}"), vector_spec(5), 2);
  randomise(policy, 3);
  CHECK(policy.size() == 10);
  const Frame frame(policy.observation(), 4);
  check_close(act(policy, frame), affine(slice(policy, "policy.weight"), {0, 0}, widen(frame.vector())));
}

TEST_CASE("activations stay finite for large inputs") {
  for (const std::string name : {"tanh", "sigmoid"})
    for (const float input : {-1e30f, -200.0f, 200.0f, 1e30f}) {
      Policy policy(config("{'kind': 'linear', 'bias': false, 'activation': '" + name + "'}"), vector_spec(1), 1);
      policy.set_parameters(std::vector<float>{1});
      Frame frame(policy.observation(), 1);
      frame.vector()[0] = input;
      const double expected = input > 0 ? 1 : (name == "tanh" ? -1 : 0);
      CHECK(act(policy, frame)[0] == expected);
    }
}

TEST_CASE("no activation makes a number of what is none") {
  for (const auto& [name, function] : activations) {
    CAPTURE(name);
    Policy policy(config("{'kind': 'linear', 'bias': false, 'activation': '" + name + "'}"), vector_spec(1), 1);
    policy.set_parameters(std::vector<float>{1});
    Frame frame(policy.observation(), 1);
    frame.vector()[0] = std::numeric_limits<float>::quiet_NaN();
    CHECK(std::isnan(act(policy, frame)[0]));
  }
}

TEST_CASE("activations are rounded from double precision, whatever the C library's single precision gives") {
  // Inputs at which tanhf, expm1f or expf of glibc 2.36 lead to a neighbour of the rounded value.
  const std::vector<std::tuple<std::string, float, float>> cases{{"tanh", 0x1.8c932p-4F, 0x1.8b5714p-4F},
                                                                 {"tanh", 0x1.1e94eep-1F, 0x1.03fb5cp-1F},
                                                                 {"tanh", -0x1.274ebap+1F, -0x1.f5f392p-1F},
                                                                 {"elu", -0x1.1dae3ep+0F, -0x1.5843dep-1F},
                                                                 {"sigmoid", 0x1.ce353ep+0F, 0x1.b7b6ep-1F}};
  for (const auto& [name, input, expected] : cases) {
    Policy policy(config("{'kind': 'linear', 'bias': false, 'activation': '" + name + "'}"), vector_spec(1), 1);
    policy.set_parameters(std::vector<float>{1});
    Frame frame(policy.observation(), 1);
    frame.vector()[0] = input;
    CHECK(act(policy, frame)[0] == expected);
  }
}

TEST_CASE("an mlp is a chain of linear layers") {
  Policy policy(config("{'kind': 'mlp', 'hidden': [6, 11], 'units': 4, 'activation': 'elu', 'output_activation': 'tanh'}"),
                vector_spec(9), 4);
  randomise(policy, 5);
  const Frame frame(policy.observation(), 6);
  std::vector<double> values = widen(frame.vector());
  for (const std::string layer : {"1", "2", "3"}) {
    values = affine(slice(policy, "policy.weight_" + layer), slice(policy, "policy.bias_" + layer), values);
    for (double& x : values) x = activations.at(layer == "3" ? "tanh" : "elu")(x);
  }
  check_close(act(policy, frame), values);
  CHECK(policy.size() == (9 * 6 + 6) + (6 * 11 + 11) + (11 * 4 + 4));
}

TEST_CASE("an mlp has two hidden layers of 32 and tanh by default, and may have none") {
  const Policy standard(config("{'kind': 'mlp'}"), vector_spec(10), 3);
  CHECK(standard.size() == (10 * 32 + 32) + (32 * 32 + 32) + (32 * 3 + 3));
  const Policy flat(config("{'kind': 'mlp', 'hidden': []}"), vector_spec(10), 3);
  CHECK(flat.size() == 33);
}

TEST_CASE("initial weights have the stated deviations, biases begin at zero") {
  Policy linear(config("{'kind': 'linear', 'scale': 0.3}"), vector_spec(200), 100);
  linear.initialise(7);
  const auto deviation = [](const std::vector<double>& values) {
    double square = 0;
    for (const double x : values) square += x * x;
    return std::sqrt(square / static_cast<double>(values.size()));
  };
  // The standard error of a deviation from n normal draws is sigma / sqrt(2 n).
  CHECK_THAT(deviation(slice(linear, "policy.weight")), WithinAbs(0.3, 4 * 0.3 / std::sqrt(2 * 20000)));
  CHECK(slice(linear, "policy.bias") == std::vector<double>(100));
  for (const auto& [scale, wanted] : {std::pair{"", 0.1}, std::pair{", 'scale': 0.4", 0.4}}) {
    Policy mlp(config(text("{'kind': 'mlp', 'hidden': [100]", scale, "}")), vector_spec(200), 100);
    mlp.initialise(8);
    CHECK_THAT(deviation(slice(mlp, "policy.weight_1")), WithinAbs(1 / std::sqrt(200), 4 / std::sqrt(200 * 2 * 20000)));
    CHECK_THAT(deviation(slice(mlp, "policy.weight_2")), WithinAbs(wanted, 4 * wanted / std::sqrt(2 * 10000)));
  }
}

TEST_CASE("concat joins what its blocks make of the same input") {
  Policy policy(config("{'kind': 'concat', 'blocks': [{'kind': 'linear', 'units': 2}, {'kind': 'observation'},"
                       "{'kind': 'sequence', 'blocks': [{'kind': 'linear', 'units': 3}, {'kind': 'linear', 'units': 1}]}]}"),
                vector_spec(4), 7);
  randomise(policy, 9);
  const Frame frame(policy.observation(), 10);
  const auto input = widen(frame.vector());
  std::vector<double> expected = affine(slice(policy, "1.linear.weight"), slice(policy, "1.linear.bias"), input);
  expected.insert(expected.end(), input.begin(), input.end());
  const auto inner = affine(slice(policy, "3.sequence.1.linear.weight"), slice(policy, "3.sequence.1.linear.bias"), input);
  const auto last = affine(slice(policy, "3.sequence.2.linear.weight"), slice(policy, "3.sequence.2.linear.bias"), inner);
  expected.insert(expected.end(), last.begin(), last.end());
  check_close(act(policy, frame), expected);
}
