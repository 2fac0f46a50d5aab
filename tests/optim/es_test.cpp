#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.optim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

using Function = std::function<double(std::span<const float>)>;

std::unique_ptr<Optimizer> make_es(Config::Map options, std::span<const float> initial, std::uint64_t seed = 1) {
  options["kind"] = "es";
  return make_optimizer(options, initial, seed);
}

/// One iteration; returns the population that was evaluated.
std::vector<float> iterate(Optimizer& optimizer, const Function& f) {
  const std::size_t size = optimizer.parameters();
  std::vector<float> population(optimizer.population() * size);
  optimizer.ask(population);
  std::vector<double> fitness;
  for (std::size_t member = 0; member < optimizer.population(); ++member)
    fitness.push_back(f(std::span(population).subspan(member * size, size)));
  optimizer.tell(fitness);
  return population;
}

double metric(const Optimizer& optimizer, const std::string& name) {
  for (const auto& [key, value] : optimizer.metrics())
    if (key == name) return value;
  throw Error("no metric " + name);
}

double ellipsoid(std::span<const float> x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum -= std::pow(1000.0, static_cast<double>(i) / static_cast<double>(x.size() - 1)) * (x[i] - 0.3) * (x[i] - 0.3);
  return sum;
}

/// The gradient of algorithm 2, from the members themselves: the noise is the half difference of a pair.
std::vector<double> reference_gradient(const std::vector<float>& population, std::size_t size, double sigma, const Function& f) {
  std::vector<double> gradient(size);
  const std::size_t members = population.size() / size;
  for (std::size_t pair = 0; pair < members / 2; ++pair) {
    const auto plus = std::span(population).subspan(2 * pair * size, size),
               minus = std::span(population).subspan((2 * pair + 1) * size, size);
    for (std::size_t i = 0; i < size; ++i)
      gradient[i] += (f(plus) - f(minus)) * (plus[i] - minus[i]) / (2 * sigma * sigma * static_cast<double>(members));
  }
  return gradient;
}

const Function slope = [](std::span<const float> x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::sin(static_cast<double>(i + 1)) * x[i] - 0.2 * x[i] * x[i];
  return sum;
};

}  // namespace

TEST_CASE("members are antithetic pairs around the mean, drawn from the documented stream") {
  const std::vector<float> initial = {1, 2, 3};
  const auto es = make_es({{"population", 6}, {"sigma", 0.5}}, initial, 77);
  for (std::uint32_t iteration = 0; iteration < 3; ++iteration) {
    const std::vector<float> mean(es->mean().begin(), es->mean().end());
    const auto population = iterate(*es, slope);
    for (std::uint32_t pair = 0; pair < 3; ++pair) {
      Random random({.seed = 77, .iteration = iteration, .member = pair, .purpose = Purpose::perturbation});
      for (std::size_t i = 0; i < 3; ++i) {
        const double noise = 0.5 * random.normal();
        CHECK(population[2 * pair * 3 + i] == Catch::Approx(mean[i] + noise).margin(1e-6));
        CHECK(population[(2 * pair + 1) * 3 + i] == Catch::Approx(mean[i] - noise).margin(1e-6));
      }
    }
  }
}

TEST_CASE("es converges on a sphere and on an ellipsoid of condition 1000") {
  const std::vector<float> initial(20, 1.0F);
  const Function sphere = [](std::span<const float> x) {
    double sum = 0;
    for (const float value : x) sum -= (value - 0.3) * (value - 0.3);
    return sum;
  };
  for (const auto& [name, f] : {std::pair<std::string, Function>{"sphere", sphere}, {"ellipsoid", ellipsoid}}) {
    for (const std::string shaping : {"centred_ranks", "standardised"}) {
      INFO(name << " " << shaping);
      const auto es = make_es({{"population", 32},
                               {"sigma", 0.1},
                               {"learning_rate", 0.05},
                               {"learning_rate_decay", 0.995},
                               {"shaping", shaping},
                               {"sigma_decay", 0.995}},
                              initial);
      for (int i = 0; i < 1500; ++i) iterate(*es, f);
      CHECK(f(es->mean()) > 1e-4 * f(initial));
    }
  }
}

TEST_CASE("Adam follows the moments written as sums") {
  const std::vector<float> initial = {0.5F, -1, 2, 0};
  const double sigma = 0.1, rate = 0.03, beta1 = 0.8, beta2 = 0.95;
  const auto es = make_es(
      {{"population", 10}, {"sigma", sigma}, {"learning_rate", rate}, {"beta1", beta1}, {"beta2", beta2}, {"shaping", "none"}},
      initial);
  std::vector<std::vector<double>> gradients;
  std::vector<double> expected(initial.begin(), initial.end());
  for (int t = 1; t <= 30; ++t) {
    gradients.push_back(reference_gradient(iterate(*es, slope), 4, sigma, slope));
    for (std::size_t i = 0; i < 4; ++i) {
      double first = 0, second = 0, first_weight = 0, second_weight = 0;
      for (int s = 1; s <= t; ++s) {
        const double g = gradients[static_cast<std::size_t>(s - 1)][i];
        first += std::pow(beta1, t - s) * g;
        first_weight += std::pow(beta1, t - s);
        second += std::pow(beta2, t - s) * g * g;
        second_weight += std::pow(beta2, t - s);
      }
      expected[i] += rate * (first / first_weight) / (std::sqrt(second / second_weight) + 1e-8);
      CHECK(es->mean()[i] == Catch::Approx(expected[i]).margin(1e-4));
    }
  }
}

TEST_CASE("sgd follows its velocity written as a sum, with both decays") {
  const std::vector<float> initial = {0.5F, -1, 2, 0};
  const double momentum = 0.7, decay = 0.1;
  const auto es = make_es({{"population", 10},
                           {"sigma", 0.2},
                           {"sigma_decay", 0.9},
                           {"sigma_min", 0.05},
                           {"learning_rate", 0.5},
                           {"learning_rate_decay", 0.95},
                           {"weight_decay", decay},
                           {"optimizer", "sgd"},
                           {"momentum", momentum},
                           {"shaping", "none"}},
                          initial);
  std::vector<std::vector<double>> gradients;
  std::vector<double> expected(initial.begin(), initial.end());
  for (int t = 0; t < 20; ++t) {
    const double sigma = std::max(0.05, 0.2 * std::pow(0.9, t));
    CHECK(metric(*es, "sigma") == Catch::Approx(sigma));
    CHECK(metric(*es, "learning_rate") == Catch::Approx(0.5 * std::pow(0.95, t)));
    gradients.push_back(reference_gradient(iterate(*es, slope), 4, sigma, slope));
    double square = 0;
    for (const double g : gradients.back()) square += g * g;
    CHECK(metric(*es, "gradient_norm") == Catch::Approx(std::sqrt(square)).epsilon(1e-4));
    for (std::size_t i = 0; i < 4; ++i) gradients.back()[i] -= decay * expected[i];
    square = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      double velocity = 0;
      for (int s = 0; s <= t; ++s)
        velocity += (1 - momentum) * std::pow(momentum, t - s) * gradients[static_cast<std::size_t>(s)][i];
      expected[i] += 0.5 * std::pow(0.95, t) * velocity;
      CHECK(es->mean()[i] == Catch::Approx(expected[i]).margin(1e-4));
      square += expected[i] * expected[i];
    }
    CHECK(metric(*es, "parameter_norm") == Catch::Approx(std::sqrt(square)).epsilon(1e-4));
  }
}

TEST_CASE("es names a bad option") {
  const std::vector<float> initial(3);
  CHECK_THROWS_WITH(make_es({{"population", 7}}, initial), ContainsSubstring("even") && ContainsSubstring("7"));
  CHECK_THROWS_WITH(make_es({{"population", 0}}, initial), ContainsSubstring("population"));
  CHECK_THROWS_WITH(make_es({{"sigma", 0}}, initial), ContainsSubstring("sigma"));
  CHECK_THROWS_WITH(make_es({{"sigma", 0.1}, {"sigma_min", 0.2}}, initial), ContainsSubstring("sigma_min"));
  CHECK_THROWS_WITH(make_es({{"optimizer", "adamm"}}, initial), ContainsSubstring("'adam'"));
  CHECK_THROWS_WITH(make_es({{"shaping", "ranks"}}, initial), ContainsSubstring("centred_ranks"));
  CHECK_THROWS_WITH(make_es({{"optimizer", "adam"}, {"momentum", 0.5}}, initial),
                    ContainsSubstring("option 'momentum' goes with optimizer = \"sgd\" or \"clipup\""));
}

TEST_CASE("divergence is an error, not a NaN policy") {
  const std::vector<float> initial(3);
  const auto fast = make_es({{"optimizer", "sgd"}, {"momentum", 0}, {"learning_rate", 1e6}, {"shaping", "none"}}, initial);
  CHECK_THROWS_WITH(iterate(*fast, [](auto x) { return 1e35 * x[0]; }), ContainsSubstring("learning_rate"));
  const auto huge = make_es({{"shaping", "none"}}, initial);
  CHECK_THROWS_WITH(iterate(*huge, [](auto x) { return x[0] > 0 ? 1e308 : -1e308; }), ContainsSubstring("centred_ranks"));
}
