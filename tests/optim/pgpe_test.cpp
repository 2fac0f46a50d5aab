#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
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
using Catch::Matchers::ContainsSubstring;

namespace {

std::unique_ptr<Optimizer> make_pgpe(Config::Map options, const std::vector<float>& initial, std::uint64_t seed = 3) {
  options["kind"] = "pgpe";
  return make_optimizer(options, initial, seed);
}

double metric(const Optimizer& optimizer, const std::string& name) {
  for (const auto& [key, value] : optimizer.metrics())
    if (key == name) return value;
  throw Error("no metric " + name);
}

void iterate(Optimizer& optimizer, const Function& f, int count) {
  const std::size_t size = optimizer.parameters();
  std::vector<float> population(optimizer.population() * size);
  std::vector<double> fitness(optimizer.population());
  for (int i = 0; i < count; ++i) {
    optimizer.ask(population);
    for (std::size_t k = 0; k < fitness.size(); ++k) fitness[k] = f(std::span(population).subspan(k * size, size));
    optimizer.tell(fitness);
  }
}

}  // namespace

TEST_CASE("pgpe's two gradients have the means of the closed form") {
  // For f = -sum c_i x_i^2 and x = m + s eps: dm = -2 c m s^2 and, for b = mean F, dsigma = s cov(f, eps^2) = -2 c s^3. The
  // baseline takes the pair's own share out, which leaves (1 - 1/pairs) of dsigma.
  const std::vector<float> initial = {1, -2, 0.5F};
  const double c[] = {1, 0.5, 2}, s = 0.3;
  constexpr int pairs = 16, seeds = 3000;
  double mean_step[3] = {}, lowest = 0, spread = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const auto pgpe = make_pgpe({{"population", 2 * pairs},
                                 {"sigma", s},
                                 {"shaping", "none"},
                                 {"optimizer", "sgd"},
                                 {"momentum", 0},
                                 {"learning_rate", 1},
                                 {"sigma_learning_rate", 0.1},
                                 {"sigma_max_change", 1}},
                                initial, static_cast<std::uint64_t>(seed));
    iterate(
        *pgpe,
        [&](std::span<const float> x) {
          double sum = 7;
          for (std::size_t i = 0; i < 3; ++i) sum -= c[i] * x[i] * x[i];
          return sum;
        },
        1);
    for (std::size_t i = 0; i < 3; ++i) mean_step[i] += (double{pgpe->mean()[i]} - initial[i]) / seeds;
    lowest += metric(*pgpe, "sigma_lowest") / seeds;
    spread += metric(*pgpe, "sigma") / seeds;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    INFO(i);
    // Variance of an estimate of dm: s^4 (|g|^2 + g_i^2) / pairs, with g = 2 c m.
    const double g = -2 * c[i] * initial[i], error = s * s * std::sqrt((4 + 4 + 4 + g * g) / pairs / seeds);
    CHECK(std::abs(mean_step[i] - g * s * s) < 4.5 * error);
  }
  // With all c alike every sigma would be s - 0.1 * 2 c s^3 (1 - 1 / pairs); here their mean square lies between.
  double expected = 0;
  for (const double curvature : c) expected += s - 0.1 * 2 * curvature * s * s * s * (1 - 1.0 / pairs);
  CHECK(spread == Catch::Approx(expected / 3).epsilon(2e-3));
  CHECK(lowest < spread);
}

TEST_CASE("pgpe follows its two gradients written as plain sums, each deviation within its bounds") {
  // An offset that the baseline takes out, and curvatures under which one deviation falls to sigma_min and others rise.
  const std::size_t size = 4, pairs = 6;
  const double curvature[] = {8, 1, 0.2, -0.5}, rate = 0.1, sigma_rate = 2, change = 0.15, least = 0.2;
  const auto f = [&](std::span<const float> x) {
    double sum = 7;
    for (std::size_t i = 0; i < size; ++i) sum -= curvature[i] * x[i] * x[i];
    return sum;
  };
  const auto pgpe = make_pgpe({{"population", 12},
                               {"sigma", 0.3},
                               {"sigma_min", least},
                               {"sigma_learning_rate", sigma_rate},
                               {"sigma_max_change", change},
                               {"shaping", "none"},
                               {"optimizer", "sgd"},
                               {"momentum", 0},
                               {"learning_rate", rate}},
                              {1, -1, 0.5F, 0});
  std::vector<double> mean = {1, -1, 0.5, 0}, deviations(size, 0.3);
  std::vector<float> population(2 * pairs * size);
  int clamped = 0, free = 0, at_least = 0;
  for (int iteration = 0; iteration < 20; ++iteration) {
    pgpe->ask(population);
    std::vector<double> returns;
    for (std::size_t k = 0; k < 2 * pairs; ++k) returns.push_back(f(std::span(population).subspan(k * size, size)));
    pgpe->tell(returns);
    double baseline = 0, square = 0, lowest = 1e9;
    for (const double value : returns) baseline += value / (2 * pairs);
    for (std::size_t i = 0; i < size; ++i) {
      double slope = 0, sigma_slope = 0;
      for (std::size_t k = 0; k < pairs; ++k) {
        const double plus = returns[2 * k], minus = returns[2 * k + 1];
        const double step = (population[2 * k * size + i] - population[(2 * k + 1) * size + i]) / 2;
        slope += (plus - minus) / 2 * step / pairs;
        sigma_slope += ((plus + minus) / 2 - baseline) * (step * step / deviations[i] - deviations[i]) / pairs;
      }
      mean[i] += rate * slope;
      const double limit = change * deviations[i], wanted = sigma_rate * sigma_slope;
      ++(std::abs(wanted) > limit ? clamped : free);
      deviations[i] = std::max(least, deviations[i] + std::max(-limit, std::min(limit, wanted)));
      at_least += deviations[i] == least;
      lowest = std::min(lowest, deviations[i]);
      square += deviations[i] * deviations[i];
      CHECK(pgpe->mean()[i] == Catch::Approx(mean[i]).margin(1e-4));
    }
    CHECK(metric(*pgpe, "sigma") == Catch::Approx(std::sqrt(square / size)).epsilon(1e-4));
    CHECK(metric(*pgpe, "sigma_lowest") == Catch::Approx(lowest).epsilon(1e-4));
  }
  CHECK(std::min({clamped, free, at_least}) > 5);
}

TEST_CASE("pgpe learns a step size for each parameter") {
  // Only the first of two parameters matters: its sigma shrinks, the other's does not.
  const auto pgpe = make_pgpe({{"population", 40}, {"sigma", 0.5}, {"learning_rate", 0.02}}, {0.2F, 0});
  iterate(*pgpe, [](std::span<const float> x) { return -double{x[0]} * x[0]; }, 200);
  CHECK(metric(*pgpe, "sigma_lowest") < 0.1);
  CHECK(metric(*pgpe, "sigma") > 0.3);
}

TEST_CASE("pgpe learns what all step sizes have in common, whatever its directions") {
  // Around an optimum of equal curvature, eight parameters as the Hadamard matrix has rows: only the directions' norms count.
  for (const char* directions : {"gaussian", "orthogonal", "hadamard"}) {
    INFO(directions);
    const auto pgpe =
        make_pgpe({{"directions", directions}, {"population", 40}, {"sigma", 0.5}, {"learning_rate", 0}}, std::vector<float>(8));
    iterate(*pgpe, sphere, 100);
    CHECK(metric(*pgpe, "sigma") < 0.25);
  }
}

TEST_CASE("pgpe tells two parameters apart, whatever its directions") {
  for (const char* directions : {"gaussian", "orthogonal", "hadamard"}) {
    INFO(directions);
    const auto pgpe =
        make_pgpe({{"directions", directions}, {"population", 40}, {"sigma", 0.5}, {"learning_rate", 0.02}}, {0.2F, 0});
    iterate(*pgpe, [](std::span<const float> x) { return -double{x[0]} * x[0]; }, 200);
    CHECK(metric(*pgpe, "sigma_lowest") < 0.1);
    CHECK(metric(*pgpe, "sigma") > 0.25);
  }
}

TEST_CASE("pgpe names the parameter whose deviation diverges, before members are infinite") {
  const auto pgpe =
      make_pgpe({{"population", 20}, {"sigma_learning_rate", 1000}, {"sigma_max_change", 1}, {"learning_rate", 0.01}}, {0, 0});
  std::vector<float> population(20 * 2);
  std::vector<double> fitness(20);
  const auto search = [&] {
    for (int iteration = 0; iteration < 6000; ++iteration) {
      pgpe->ask(population);
      REQUIRE(std::ranges::all_of(population, [](float value) { return std::isfinite(value); }));
      for (std::size_t k = 0; k < 20; ++k) fitness[k] = std::abs(population[2 * k]) + std::abs(population[2 * k + 1]);
      pgpe->tell(fitness);
    }
  };
  CHECK_THROWS_WITH(search(), ContainsSubstring("pgpe: the deviation of parameter") && ContainsSubstring("sigma_learning_rate"));
}

TEST_CASE("pgpe converges with each of its first-order steps") {
  const std::vector<float> initial(20, 1.0F);
  for (const char* optimizer : {"adam", "clipup", "sgd"}) {
    INFO(optimizer);
    Config::Map options{{"population", 40}, {"sigma", 0.2}, {"optimizer", optimizer}, {"learning_rate_decay", 0.995}};
    if (optimizer == std::string("sgd")) options["learning_rate"] = 20;
    if (optimizer == std::string("clipup")) options["learning_rate"] = 0.1;
    const auto pgpe = make_pgpe(options, initial);
    iterate(*pgpe, ellipsoid, 1500);
    CHECK(ellipsoid(pgpe->mean()) > 1e-3 * ellipsoid(initial));
  }
}

TEST_CASE("ClipUp's steps have the length its rule gives them") {
  // A constant slope: the normalised gradients sum up, v_t = 0.9 v_{t-1} + rate g / |g|, until the speed limit.
  const std::vector<float> initial = {0};
  const auto pgpe = make_pgpe(
      {{"optimizer", "clipup"}, {"learning_rate", 0.25}, {"max_speed", 3}, {"population", 10}, {"shaping", "none"}}, initial);
  double expected = 0, velocity = 0;
  for (int t = 0; t < 12; ++t) {
    iterate(*pgpe, [](std::span<const float> x) { return double{x[0]}; }, 1);
    velocity = std::min(0.9 * velocity + 0.25, 0.75);
    expected += velocity;
    CHECK(pgpe->mean()[0] == Catch::Approx(expected).epsilon(1e-6));
  }
}

TEST_CASE("ClipUp slows down from the speed limit, which falls with the learning rate") {
  // The clipped velocity is what goes on: at half the slope's speed against it, it turns at once.
  const auto pgpe = make_pgpe({{"optimizer", "clipup"},
                               {"learning_rate", 0.25},
                               {"learning_rate_decay", 0.8},
                               {"max_speed", 2},
                               {"population", 10},
                               {"shaping", "none"}},
                              {0});
  double expected = 0, velocity = 0, rate = 0.25;
  for (int t = 0; t < 16; ++t) {
    const double slope = t < 8 ? 1 : -1;
    iterate(*pgpe, [&](std::span<const float> x) { return slope * x[0]; }, 1);
    velocity = std::clamp(0.9 * velocity + slope * rate, -2 * rate, 2 * rate);
    expected += velocity;
    rate *= 0.8;
    CHECK(pgpe->mean()[0] == Catch::Approx(expected).epsilon(1e-5));
  }
}

TEST_CASE("pgpe names a bad option") {
  CHECK_THROWS_WITH(make_pgpe({{"population", 7}}, {0}), ContainsSubstring("even") && ContainsSubstring("7"));
  CHECK_THROWS_WITH(make_pgpe({{"optimizer", "clip"}}, {0}), ContainsSubstring("clipup"));
  CHECK_THROWS_WITH(make_pgpe({{"sigma", 0.1}, {"sigma_min", 0.2}}, {0}), ContainsSubstring("sigma_min"));
  CHECK_THROWS_WITH(make_pgpe({{"shaping", "pair_ranks"}}, {0}), ContainsSubstring("centred_ranks"));
  const auto wild = make_pgpe({{"shaping", "none"}}, {0});
  CHECK_THROWS_WITH(iterate(*wild, [](auto x) { return x[0] > 0 ? 1e308 : -1e308; }, 200), ContainsSubstring("pgpe"));
}
