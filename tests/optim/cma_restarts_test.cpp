// Schedules of restarts, search by search, on a fitness of which nothing is to be learned: each search ends after as many
// generations as make its returns count as equal, or with what its regime gives it.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cma_reference.hpp"
import iap.core;
import iap.optim;

using namespace iap;

namespace {

constexpr std::size_t parameters = 5;
constexpr std::uint64_t seed = 4, first_members = 6;
constexpr double first_sigma = 0.7, spread = 3;

std::unique_ptr<Optimizer> make(const char* schedule) {
  return make_optimizer(Config::Map{{"kind", "cma_es"},
                                    {"population", static_cast<int>(first_members)},
                                    {"sigma", first_sigma},
                                    {"restarts", schedule},
                                    {"max_restarts", 3},
                                    {"restart_spread", spread},
                                    {"tol_x", 0},
                                    {"tol_x_up", 1e300}},
                        std::vector<float>(parameters, 1.0F), seed);
}

double metric(const Optimizer& optimizer, const std::string& name) {
  for (const auto& [key, value] : optimizer.metrics())
    if (key == name) return value;
  throw Error("no metric " + name);
}

/// The turns of a search, of which the first is asked for already, and why it ended.
struct Ended {
  std::uint64_t turns = 0;
  std::string reason;
};

Ended end_of_search(Optimizer& optimizer) {
  Ended ended;
  std::vector<float> population;
  while (ended.reason.empty()) {
    optimizer.ask_resized(population);
    optimizer.tell(std::vector<double>(optimizer.population(), 3.0));
    ++ended.turns;
    ended.reason = optimizer.restart_reason() + optimizer.stop_reason();
  }
  return ended;
}

}  // namespace

TEST_CASE("bipop's searches have the populations, step sizes, starts and budgets of Hansen 2009") {
  const auto optimizer = make("bipop");
  std::uint64_t members = first_members, limit = 0, spent_small = 0, spent_large = 0, last_large = 0;
  int growths = 0, shrunk = 0, out_of_budget = 0;
  bool small = false;
  std::vector<float> population;
  for (int searches = 0;; ++searches) {
    CAPTURE(searches, members, limit);
    const auto [turns, reason] = end_of_search(*optimizer);
    const std::uint64_t equal = 10 + (30 * parameters + members - 1) / members, allowed = (limit + members - 1) / members;
    const bool exhausted = limit > 0 && allowed < equal;
    CHECK(reason == (exhausted ? "restart_budget" : "equal_fitness"));
    CHECK(turns == (exhausted ? allowed : equal));
    out_of_budget += exhausted;
    if (small) spent_small += turns * members;
    if (!small && searches > 0) spent_large += turns * members;
    if (!small) last_large = turns * members;

    small = searches > 0 && spent_small < spent_large;
    if (!small && growths == 3) break;
    Random random({.seed = seed, .iteration = optimizer->iteration() - 1, .purpose = Purpose::initial_parameters});
    double sigma = first_sigma;
    if (small) {
      ++shrunk;
      const double share = random.uniform(), largest = std::pow(2, growths) / 2;
      members = static_cast<std::uint64_t>(static_cast<double>(first_members) * std::pow(largest, share * share));
      sigma *= std::pow(10, -2 * random.uniform());
      limit = std::max(members, last_large / 2);
    } else {
      members = first_members << ++growths;
      limit = 0;
    }
    REQUIRE(optimizer->population() == members);
    optimizer->ask_resized(population);
    CHECK(metric(*optimizer, "sigma") == Catch::Approx(sigma));
    for (const float value : optimizer->mean()) CHECK(value == Catch::Approx(1 + spread * random.normal()).margin(1e-6));
  }
  CHECK(!optimizer->stop_reason().empty());
  CHECK(std::min(shrunk, out_of_budget) > 2);
}

TEST_CASE("a search that a restart begins keeps nothing of the one before") {
  const auto optimizer = make("ipop");
  for (int searches = 0; searches < 3; ++searches) {
    end_of_search(*optimizer);
    std::vector<float> population;
    optimizer->ask_resized(population);
    CHECK(metric(*optimizer, "path_length") == 0);
    CHECK(metric(*optimizer, "axis_ratio") == 1);
    reference::Cma textbook({optimizer->mean().begin(), optimizer->mean().end()}, first_sigma, optimizer->population(),
                            reference::Root::cholesky, false);
    for (int turn = 0; turn < 3; ++turn) {
      CAPTURE(searches, turn);
      optimizer->ask_resized(population);
      const std::vector<double> fitness(optimizer->population(), 3.0);
      optimizer->tell(fitness);
      textbook.tell(population, fitness);
      const double deviation = textbook.sigma * std::sqrt(textbook.trace() / static_cast<double>(parameters));
      CHECK(metric(*optimizer, "sigma") == Catch::Approx(textbook.sigma).epsilon(1e-4));
      CHECK(metric(*optimizer, "deviation") == Catch::Approx(deviation).epsilon(1e-4));
    }
  }
}
