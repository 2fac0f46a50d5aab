#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "functions.hpp"
import iap.core;
import iap.optim;

using namespace iap;
using namespace functions;
using Catch::Matchers::ContainsSubstring;

namespace {

std::unique_ptr<Optimizer> make_ars(Config::Map options, const std::vector<float>& initial, std::uint64_t seed = 3) {
  options["kind"] = "ars";
  return make_optimizer(options, initial, seed);
}

}  // namespace

TEST_CASE("ars follows algorithm 1 written as plain sums") {
  const std::size_t size = 4, directions = 6, top = 3;
  std::vector<double> expected = {1, -1, 0.5, 0};
  const auto ars = make_ars({{"population", 12}, {"top", 3}, {"sigma", 0.1}, {"learning_rate", 0.2}}, {1, -1, 0.5F, 0});
  std::vector<float> population(12 * size);
  for (int iteration = 0; iteration < 20; ++iteration) {
    ars->ask(population);
    std::vector<double> returns;
    for (std::size_t k = 0; k < 12; ++k) returns.push_back(ellipsoid(std::span(population).subspan(k * size, size)));
    std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5};
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      const double best_a = std::max(returns[2 * a], returns[2 * a + 1]), best_b = std::max(returns[2 * b], returns[2 * b + 1]);
      return best_a != best_b ? best_a > best_b : a < b;
    });
    double mean = 0, variance = 0;
    for (std::size_t d = 0; d < top; ++d) mean += (returns[2 * order[d]] + returns[2 * order[d] + 1]) / (2 * top);
    for (std::size_t d = 0; d < top; ++d)
      for (const std::size_t side : {0, 1}) variance += std::pow(returns[2 * order[d] + side] - mean, 2) / (2 * top);
    for (std::size_t i = 0; i < size; ++i) {
      double step = 0;
      for (std::size_t d = 0; d < top; ++d) {
        const std::size_t pair = order[d];
        const double delta = (population[2 * pair * size + i] - population[(2 * pair + 1) * size + i]) / 0.2;
        step += (returns[2 * pair] - returns[2 * pair + 1]) * delta;
      }
      expected[i] += 0.2 / (static_cast<double>(top) * std::sqrt(variance)) * step;
    }
    ars->tell(returns);
    for (std::size_t i = 0; i < size; ++i) CHECK(ars->mean()[i] == Catch::Approx(expected[i]).margin(2e-5));
  }
  CHECK(directions == ars->population() / 2);
}

TEST_CASE("ars converges") {
  const std::vector<float> initial(20, 1.0F);
  const auto ars = make_ars({{"population", 32}, {"learning_rate", 0.1}, {"learning_rate_decay", 0.99}, {"top", 8}}, initial);
  climb(*ars, sphere, 32 * 600);
  CHECK(sphere(ars->mean()) > 2e-3 * sphere(initial));
}

TEST_CASE("equal, huge and infinite returns give finite steps") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto step = [](const std::vector<double>& returns) {
    const auto ars = make_ars({{"population", 4}}, {0, 0});
    std::vector<float> population(8);
    ars->ask(population);
    ars->tell(returns);
    return std::vector<float>(ars->mean().begin(), ars->mean().end());
  };
  const std::vector<float> none = {0, 0};
  CHECK(step({5, 5, 5, 5}) == none);
  CHECK(step({0, 0, 0, 0}) == none);
  CHECK(step({0.1, 0.1, 0.1, 0.1}) == none);
  CHECK(step({3e300, 1e300, -2e300, 0}) == step({3, 1, -2, 0}));
  // Small differences of large returns count as any others.
  CHECK(step({16777219, 16777217, 16777214, 16777216}) == step({3, 1, -2, 0}));
  for (const float value : step({infinity, -infinity, 1, 2})) CHECK(std::isfinite(value));
  for (const float value : step({1e308, -1e308, 1e308, -1e308})) CHECK(std::isfinite(value));
}

TEST_CASE("ars names a bad option") {
  CHECK_THROWS_WITH(make_ars({{"population", 5}}, {0}), ContainsSubstring("even"));
  CHECK_THROWS_WITH(make_ars({{"population", 8}, {"top", 5}}, {0}), ContainsSubstring("top"));
}
