#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>
import iap.core;
import iap.optim;

using namespace iap;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool worse(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; }

/// By counting, for each value, how many are worse and how many are equal.
std::vector<double> slow_ranks(const std::vector<double>& fitness) {
  std::vector<double> ranks;
  for (const double own : fitness) {
    double below = 0, equal = -1;
    for (const double other : fitness) {
      below += worse(other, own);
      equal += !worse(other, own) && !worse(own, other);
    }
    ranks.push_back((below + equal / 2) / (static_cast<double>(fitness.size()) - 1) - 0.5);
  }
  return ranks;
}

std::vector<double> ranks_of(const std::vector<double>& fitness) {
  std::vector<double> ranks(fitness.size());
  centred_ranks(fitness, ranks);
  return ranks;
}

/// The mean after one step from 0 on the given fitness.
std::vector<float> mean_after(const std::string& shaping, const std::vector<double>& fitness) {
  const std::vector<float> initial(5);
  const auto optimizer = make_optimizer(
      Config::Map{{"population", static_cast<int>(fitness.size())}, {"shaping", shaping}, {"optimizer", "sgd"}}, initial, 3);
  std::vector<float> population(optimizer->population() * optimizer->parameters());
  optimizer->ask(population);
  optimizer->tell(fitness);
  return {optimizer->mean().begin(), optimizer->mean().end()};
}

}  // namespace

TEST_CASE("centred ranks of a few values") {
  CHECK(ranks_of({10, 30, 20}) == std::vector<double>{-0.5, 0.5, 0});
  CHECK(ranks_of({1, 1}) == std::vector<double>{0, 0});
  CHECK(ranks_of({5}) == std::vector<double>{0});
  CHECK(ranks_of({not_a_number, -infinity, 0, infinity, 7}) == std::vector<double>{-0.5, -0.25, 0, 0.5, 0.25});
  std::vector<double> small(1);
  CHECK_THROWS_AS(centred_ranks(std::vector<double>{1, 2}, small), Error);
}

TEST_CASE("centred ranks are those of counting") {
  Random random(21);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> fitness(2 + random.below(40));
    for (double& value : fitness) {
      value = random.below(12);
      if (random.below(10) == 0) value = not_a_number;
      if (random.below(10) == 0) value = random.below(2) ? infinity : -infinity;
    }
    const auto ranks = ranks_of(fitness), expected = slow_ranks(fitness);
    double sum = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      CHECK(ranks[i] == Catch::Approx(expected[i]).margin(1e-14));
      sum += ranks[i];
    }
    CHECK(std::abs(sum) < 1e-12);
  }
}

TEST_CASE("rank shaping sees order alone; standardising sees neither shift nor scale") {
  Random random(22);
  std::vector<double> fitness(16), shifted, warped;
  for (double& value : fitness) value = random.below(1000) / 8.0;
  for (const double value : fitness) {
    shifted.push_back(value * 1024 + 4096);
    warped.push_back(std::exp(value / 20));
  }
  CHECK(mean_after("centred_ranks", fitness) == mean_after("centred_ranks", shifted));
  CHECK(mean_after("centred_ranks", fitness) == mean_after("centred_ranks", warped));
  const auto plain = mean_after("standardised", fitness), moved = mean_after("standardised", shifted);
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(moved[i] == Catch::Approx(plain[i]).epsilon(1e-5));
  CHECK(mean_after("standardised", fitness) != mean_after("standardised", warped));
  CHECK(mean_after("none", fitness) != mean_after("none", shifted));
}

TEST_CASE("standardised weights are (F - mean) / deviation, whatever the scale") {
  const std::vector<double> fitness = {1, 5, 2, 2, -4, 0};
  double mean = 0, variance = 0;
  for (const double value : fitness) mean += value / 6;
  for (const double value : fitness) variance += (value - mean) * (value - mean) / 6;
  std::vector<double> standardised, huge;
  for (const double value : fitness) {
    standardised.push_back((value - mean) / std::sqrt(variance));
    huge.push_back(value * 2e307);
  }
  const auto expected = mean_after("none", standardised), got = mean_after("standardised", fitness),
             scaled = mean_after("standardised", huge);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i] == Catch::Approx(expected[i]).epsilon(1e-6));
    CHECK(scaled[i] == Catch::Approx(expected[i]).epsilon(1e-6));
  }
}

TEST_CASE("pair ranks are those of the leads within pairs, which a pair's own difficulty does not change") {
  Random random(23);
  std::vector<double> fitness(24), harder, leads;
  for (double& value : fitness) value = random.below(6);
  fitness[3] = not_a_number;  // the worst of all: its twin leads without bound
  fitness[6] = infinity;
  fitness[10] = fitness[11] = not_a_number;
  for (std::size_t i = 0; i < fitness.size(); ++i) {
    const double own = fitness[i], twin = fitness[i ^ 1];
    harder.push_back(own - 1000.0 * static_cast<double>(i / 2));
    leads.push_back(i == 2 || i == 6 ? infinity : i == 3 || i == 7 ? -infinity : std::isnan(own) ? 0 : own - twin);
  }
  CHECK(mean_after("pair_ranks", fitness) == mean_after("none", slow_ranks(leads)));
  CHECK(mean_after("pair_ranks", fitness) == mean_after("pair_ranks", harder));
  CHECK(mean_after("pair_ranks", {1, 2, 3, 4}) != mean_after("pair_ranks", {2, 1, 3, 4}));
}

TEST_CASE("equal fitness moves nothing") {
  for (const std::string shaping : {"centred_ranks", "standardised", "none", "pair_ranks"}) {
    INFO(shaping);
    CHECK(mean_after(shaping, std::vector<double>(8, 0.1)) == std::vector<float>(5));
    CHECK(mean_after(shaping, std::vector<double>(8, -infinity)) == std::vector<float>(5));
  }
}
