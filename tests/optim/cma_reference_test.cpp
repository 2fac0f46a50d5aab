#include "cma_reference.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "functions.hpp"
import iap.core;
import iap.optim;

using namespace iap;
using functions::Function;
using reference::Root;

namespace {

double metric(const Optimizer& optimizer, const std::string& name) {
  for (const auto& [key, value] : optimizer.metrics())
    if (key == name) return value;
  throw Error("no metric " + name);
}

/// Both see the same populations; every figure must agree to the rounding of the members to floats.
void compare(const std::string& kind, std::size_t size, int members, Root root, int generations, double tolerance) {
  const std::vector<float> start(size, 1.0F);
  const auto optimizer = make_optimizer(Config::Map{{"kind", kind}, {"population", members}, {"sigma", 0.5}}, start, 11);
  reference::Cma textbook({start.begin(), start.end()}, 0.5, static_cast<std::size_t>(members), root, kind == "sep_cma_es");
  const Function f = [](std::span<const float> x) { return functions::ellipsoid(x) - std::abs(x[0] * x[x.size() - 1]); };
  std::vector<float> population(size * static_cast<std::size_t>(members));
  std::vector<double> fitness(static_cast<std::size_t>(members));
  for (int generation = 0; generation < generations; ++generation) {
    INFO(kind << " n = " << size << ", population " << members << ", generation " << generation);
    optimizer->ask(population);
    for (std::size_t k = 0; k < fitness.size(); ++k)
      fitness[k] = size == 1 ? -population[k] * population[k] : f(std::span(population).subspan(k * size, size));
    optimizer->tell(fitness);
    textbook.tell(population, fitness);
    REQUIRE(metric(*optimizer, "sigma") == Catch::Approx(textbook.sigma).epsilon(tolerance));
    REQUIRE(metric(*optimizer, "deviation") ==
            Catch::Approx(textbook.sigma * std::sqrt(textbook.trace() / static_cast<double>(size))).epsilon(tolerance));
    for (std::size_t i = 0; i < size; ++i)
      REQUIRE(optimizer->mean()[i] == Catch::Approx(textbook.mean[i]).epsilon(tolerance).margin(tolerance * textbook.sigma));
    const double short_of = metric(*optimizer, "axis_ratio") / reference::axis_ratio(textbook.covariance);
    REQUIRE(short_of < 1 + 10 * tolerance);
    REQUIRE(short_of > 0.97);
  }
}

}  // namespace

TEST_CASE("cma_es follows the textbook's equations with a Cholesky factor") {
  compare("cma_es", 2, 6, Root::cholesky, 40, 1e-3);
  compare("cma_es", 5, 8, Root::cholesky, 60, 1e-3);
  compare("cma_es", 6, 41, Root::cholesky, 40, 1e-3);
}

TEST_CASE("where the roots coincide, cma_es follows the textbook with an eigendecomposition") {
  // In one dimension, in the first generation, and for a diagonal matrix.
  compare("cma_es", 1, 7, Root::symmetric, 30, 1e-3);
  compare("cma_es", 7, 12, Root::symmetric, 1, 1e-5);
  compare("sep_cma_es", 6, 12, Root::symmetric, 60, 1e-3);
}
