#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "functions.hpp"
import iap.core;
import iap.optim;

using namespace iap;
using namespace functions;
using Catch::Matchers::ContainsSubstring;

namespace {

std::unique_ptr<Optimizer> make_ga(Config::Map options, const std::vector<float>& initial, std::uint64_t seed = 3) {
  options["kind"] = "simple_ga";
  return make_optimizer(options, initial, seed);
}

using Genes = std::vector<float>;

Genes member(const Genes& population, std::size_t k, std::size_t size) {
  return {population.begin() + static_cast<std::ptrdiff_t>(k * size),
          population.begin() + static_cast<std::ptrdiff_t>((k + 1) * size)};
}

}  // namespace

TEST_CASE("children are the documented draws around the best members of the generation before") {
  const std::size_t size = 3, members = 10, parents = 4;
  const auto ga =
      make_ga({{"population", 10}, {"parents", 4}, {"sigma", 0.5}, {"sigma_decay", 0.9}, {"sigma_min", 0.3}}, {1, 2, 3}, 21);
  std::vector<Genes> chosen(parents, Genes{1, 2, 3});
  double sigma = 0.5;
  Genes population(members * size);
  for (std::uint32_t generation = 0; generation < 8; ++generation) {
    ga->ask(population);
    CHECK(member(population, 0, size) == chosen[0]);
    for (std::uint32_t k = 1; k < members; ++k) {
      Random random({.seed = 21, .iteration = generation, .member = k, .purpose = Purpose::perturbation});
      const Genes& parent = chosen[random.below(parents)];
      for (std::size_t i = 0; i < size; ++i)
        CHECK(std::abs(population[k * size + i] - (parent[i] + sigma * random.normal())) < 1e-6);
    }
    std::vector<double> fitness;
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < members; ++k) {
      fitness.push_back(sphere(member(population, k, size)));
      order.push_back(k);
    }
    std::ranges::sort(order,
                      [&](std::size_t a, std::size_t b) { return fitness[a] != fitness[b] ? fitness[a] > fitness[b] : a < b; });
    for (std::size_t p = 0; p < parents; ++p) chosen[p] = member(population, order[p], size);
    ga->tell(fitness);
    CHECK(Genes(ga->mean().begin(), ga->mean().end()) == chosen[0]);
    sigma = std::max(0.3, 0.9 * sigma);
  }
}

TEST_CASE("without noise the elite never gets worse, and the search converges") {
  const auto ga = make_ga({{"population", 50}, {"sigma", 0.3}, {"sigma_decay", 0.99}, {"sigma_min", 1e-4}}, Genes(10, 1.0F));
  Genes population(500);
  std::vector<double> fitness(50);
  double best = sphere(ga->mean());
  for (int i = 0; i < 1000; ++i) {
    ga->ask(population);
    for (std::size_t k = 0; k < 50; ++k) fitness[k] = sphere(std::span(population).subspan(k * 10, 10));
    ga->tell(fitness);
    REQUIRE(sphere(ga->mean()) >= best);
    best = sphere(ga->mean());
  }
  CHECK(best > -1e-4);
}

TEST_CASE("a fifth of the members are parents, at least one") {
  for (const auto& [members, parents] : {std::pair(64, 12), {10, 2}, {4, 1}}) {
    const auto ga = make_ga({{"population", members}}, {0});
    CHECK(*ga->config().find("parents") == Config(parents));
  }
}

TEST_CASE("simple_ga names a bad option") {
  CHECK_THROWS_WITH(make_ga({{"population", 5}, {"parents", 6}}, {0}), ContainsSubstring("parents"));
  CHECK_THROWS_WITH(make_ga({{"sigma", 0.1}, {"sigma_min", 0.2}}, {0}), ContainsSubstring("sigma_min"));
}
