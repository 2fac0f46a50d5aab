#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::WithinAbs;

namespace {

constexpr std::size_t units = 5, inputs = 3;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<double> gates(const Policy& policy, const std::vector<double>& x, const std::vector<double>& h) {
  auto sum = affine(slice(policy, "policy.weight_ih"), slice(policy, "policy.bias_ih"), x);
  const auto hidden = affine(slice(policy, "policy.weight_hh"), slice(policy, "policy.bias_hh"), h);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += hidden[i];
  return sum;
}

void check_close(const std::vector<float>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK_THAT(got[i], WithinAbs(expected[i], 1e-5));
}

}  // namespace

TEST_CASE("lstm follows its equations in double precision over an episode") {
  Policy policy(config("{'kind': 'lstm'}"), vector_spec(inputs), units);
  randomise(policy, 1, 0.7);
  CHECK(policy.size() == 4 * units * (inputs + units) + 2 * 4 * units);
  for (int episode = 0; episode < 2; ++episode) {
    policy.reset();
    std::vector<double> h(units), c(units);
    for (std::uint64_t step = 0; step < 40; ++step) {
      const Frame frame(policy.observation(), 100 + step);
      const auto sum = gates(policy, widen(frame.vector()), h);
      for (std::size_t u = 0; u < units; ++u) {
        const double i = logistic(sum[u]), f = logistic(sum[units + u]), g = std::tanh(sum[2 * units + u]),
                     o = logistic(sum[3 * units + u]);
        c[u] = f * c[u] + i * g;
        h[u] = o * std::tanh(c[u]);
      }
      check_close(act(policy, frame), h);
    }
  }
}

TEST_CASE("rnn follows its equation in double precision, with both activations") {
  for (const std::string activation : {"tanh", "relu"}) {
    Policy policy(config("{'kind': 'rnn', 'activation': '" + activation + "'}"), vector_spec(inputs), units);
    randomise(policy, 2, 0.3);
    CHECK(policy.size() == units * (inputs + units) + 2 * units);
    std::vector<double> h(units);
    for (std::uint64_t step = 0; step < 40; ++step) {
      const Frame frame(policy.observation(), 200 + step);
      h = gates(policy, widen(frame.vector()), h);
      for (double& x : h) x = activation == "tanh" ? std::tanh(x) : std::max(x, 0.0);
      check_close(act(policy, frame), h);
    }
  }
}

TEST_CASE("recurrent parameters begin uniform within 1 / sqrt(units)") {
  for (const std::string kind : {"lstm", "rnn"}) {
    Policy policy(config("{'kind': '" + kind + "'}"), vector_spec(30), 25);
    policy.initialise(3);
    const auto values = policy.parameters();
    const auto [low, high] = std::ranges::minmax(values);
    CHECK(low >= -0.2f);
    CHECK(high <= 0.2f);
    // Each array by itself: the biases are few among all parameters.
    for (const auto& part : policy.layout().slices()) {
      CAPTURE(part.name);
      double square = 0;
      for (const double x : values.subspan(part.offset, part.size)) square += x * x;
      const auto n = static_cast<double>(part.size);
      // U(-a, a) has E x^2 = a^2 / 3 and a standard deviation of x^2 of 2 a^2 / sqrt(45).
      CHECK_THAT(square / n, WithinAbs(0.04 / 3, 4 * 2 * 0.04 / std::sqrt(45 * n)));
    }
  }
}

TEST_CASE("new parameters keep the episode's memory, reset clears it") {
  Policy policy(config("{'kind': 'lstm'}"), vector_spec(inputs), units);
  randomise(policy, 4);
  const Frame frame(policy.observation(), 5);
  const auto first = act(policy, frame);
  const auto second = act(policy, frame);
  CHECK(first != second);
  policy.reset();
  CHECK(act(policy, frame) == first);
  const std::vector<float> parameters(policy.parameters().begin(), policy.parameters().end());
  policy.set_parameters(parameters);
  CHECK(act(policy, frame) == second);
}
