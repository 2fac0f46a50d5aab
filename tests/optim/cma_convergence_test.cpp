#include <array>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "functions.hpp"
import iap.core;
import iap.optim;

using namespace iap;
using namespace functions;

namespace {

std::unique_ptr<Optimizer> make_cma(std::size_t size, float start, double sigma, int population, std::uint64_t seed,
                                    const char* kind = "cma_es") {
  Config::Map options{{"kind", kind}, {"sigma", sigma}, {"tol_fun", 0}, {"stagnation", false}};
  if (population) options["population"] = population;
  return make_optimizer(options, std::vector<float>(size, start), seed);
}

double mean_evaluations(const Function& f, std::size_t size, float start, double sigma, int population, int seeds,
                        const char* kind = "cma_es") {
  double sum = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto optimizer = make_cma(size, start, sigma, population, static_cast<std::uint64_t>(seed), kind);
    const Run run = climb(*optimizer, f, 3'000'000);
    REQUIRE(run.best >= -1e-9);
    sum += static_cast<double>(run.evaluations);
  }
  return sum / seeds;
}

/// A rotation: the product of Householder reflections along Gaussian vectors.
std::vector<std::vector<double>> rotation(std::size_t n) {
  std::vector<std::vector<double>> q(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) q[i][i] = 1;
  Random random(99);
  for (std::size_t r = 0; r < n; ++r) {
    std::vector<double> v(n);
    double square = 0;
    for (double& value : v) {
      value = random.normal();
      square += value * value;
    }
    for (auto& row : q) {
      double along = 0;
      for (std::size_t i = 0; i < n; ++i) along += row[i] * v[i];
      for (std::size_t i = 0; i < n; ++i) row[i] -= 2 * along * v[i] / square;
    }
  }
  return q;
}

}  // namespace

TEST_CASE("cma_es needs as many evaluations as pycma") {
  // pycma 4.4.0 with the same start, sigma and population, mean of 2 to 5 seeds.
  const struct {
    Function f;
    std::size_t size;
    float start;
    double sigma;
    int population, seeds;
    double pycma;
  } cases[] = {
      {sphere, 10, 1, 0.5, 0, 5, 1508},      {sphere, 40, 1, 0.5, 0, 3, 5300},       {sphere, 100, 1, 0.5, 0, 2, 11713},
      {ellipsoid, 10, 1, 0.5, 0, 5, 4104},   {ellipsoid, 20, 1, 0.5, 0, 3, 12962},   {ellipsoid, 40, 1, 0.5, 0, 2, 48465},
      {rosenbrock, 10, -1, 0.5, 0, 5, 5032}, {rosenbrock, 20, -1, 0.5, 0, 3, 16327}, {rastrigin, 10, 3, 2, 256, 3, 26368},
      {sphere, 100, 1, 0.5, 256, 1, 85931},
  };
  for (const auto& c : cases) {
    const double evaluations = mean_evaluations(c.f, c.size, c.start, c.sigma, c.population, c.seeds);
    INFO("n = " << c.size << ": " << evaluations << " evaluations, pycma " << c.pycma);
    CHECK(std::abs(evaluations / c.pycma - 1) < 0.15);
  }
}

TEST_CASE("sep_cma_es is faster than cma_es where the axes are the coordinates'") {
  const double full = mean_evaluations(ellipsoid, 40, 1, 0.5, 0, 2),
               diagonal = mean_evaluations(ellipsoid, 40, 1, 0.5, 0, 2, "sep_cma_es");
  INFO(full << " and " << diagonal);
  CHECK(diagonal < 0.5 * full);
}

TEST_CASE("a rotation of the search space changes nothing but noise") {
  constexpr std::size_t n = 12;
  const auto q = rotation(n);
  const Function rotated = [&](std::span<const float> x) {
    std::array<float, n> y;
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += q[i][j] * x[j];
      y[i] = static_cast<float>(sum);
    }
    return ellipsoid(y);
  };
  const double plain = mean_evaluations(ellipsoid, n, 1, 0.5, 0, 8), turned = mean_evaluations(rotated, n, 1, 0.5, 0, 8);
  INFO(plain << " and " << turned);
  CHECK(std::abs(turned / plain - 1) < 0.1);
}

TEST_CASE("only the order of fitness counts") {
  for (const char* kind : {"cma_es", "sep_cma_es", "simple_ga"}) {
    INFO(kind);
    const Config::Map options{{"kind", kind}, {"sigma", 0.5}, {"population", 10}};
    const std::vector<float> start(6, 1.0F);
    const auto plain = make_optimizer(options, start, 4), bent = make_optimizer(options, start, 4);
    std::vector<float> population(60), other(60);
    std::vector<double> fitness(10), bent_fitness(10);
    for (int generation = 0; generation < 80; ++generation) {
      plain->ask(population);
      bent->ask(other);
      REQUIRE(population == other);
      for (std::size_t k = 0; k < 10; ++k) {
        fitness[k] = rosenbrock(std::span(population).subspan(k * 6, 6));
        // The bits of a negative double, read as an integer, fall as it rises: strictly monotonic, wildly bent, exact.
        bent_fitness[k] = -0.125 * static_cast<double>(std::bit_cast<std::uint64_t>(fitness[k]) >> 11);
        fitness[k] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(fitness[k]) >> 11 << 11);
      }
      plain->tell(fitness);
      bent->tell(bent_fitness);
    }
  }
}
