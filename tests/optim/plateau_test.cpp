// A learning rate that falls where returns stop rising.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>
import iap.core;
import iap.optim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

constexpr const char* kinds[] = {"es", "ars", "pgpe"};

std::unique_ptr<Optimizer> make(const std::string& kind, const Config& plateau, double decay = 1, std::int64_t population = 4) {
  const Config config = Config::Map{
      {"kind", kind}, {"population", population}, {"learning_rate", 0.2}, {"learning_rate_decay", decay}, {"plateau", plateau}};
  return make_optimizer(config, std::vector<float>(3), 1);
}

double rate(const Optimizer& optimizer) {
  for (const auto& [name, value] : optimizer.metrics())
    if (name == "learning_rate") return value;
  throw Error("no learning rate");
}

/// A turn in which the members' mean fitness is `mean`.
void turn(Optimizer& optimizer, double mean) {
  std::vector<float> population;
  optimizer.ask_resized(population);
  std::vector<double> fitness(optimizer.population());
  for (std::size_t i = 0; i < fitness.size(); ++i)
    fitness[i] = mean + (i % 2 == 0 ? 1 : -1) * 0.25 * static_cast<double>(1 + i / 2);
  optimizer.tell(fitness);
}

std::string state(const Optimizer& optimizer) {
  Writer writer;
  optimizer.save(writer);
  return writer.bytes();
}

/// Mean returns of 60 turns: up, flat, down, up again.
std::vector<double> returns() {
  std::vector<double> all;
  for (int t = 0; t < 60; ++t) all.push_back(std::round(64 * (std::sin(t / 7.0) * t / 20 + std::sin(3.0 * t))) / 64);
  return all;
}

}  // namespace

TEST_CASE("constant returns lower the learning rate every `patience` turns, down to the minimum") {
  for (const char* kind : kinds) {
    CAPTURE(kind);
    const auto optimizer = make(kind, Config::Map{{"patience", 3}, {"factor", 0.5}, {"window", 4}, {"minimum", 0.03}});
    for (int t = 1; t <= 20; ++t) {
      turn(*optimizer, 5);
      // Turn 4 is the first that has a mean; nothing is above it.
      const int cuts = t < 7 ? 0 : (t - 4) / 3;
      CHECK_THAT(rate(*optimizer), WithinRel(std::max(0.03, 0.2 * std::pow(0.5, cuts)), 1e-12));
    }
  }
}

TEST_CASE("rising returns leave the learning rate to its decay") {
  for (const char* kind : kinds) {
    const auto optimizer = make(kind, Config::Map{{"patience", 1}, {"minimum", 0.15}}, 0.95);
    for (int t = 1; t <= 20; ++t) {
      turn(*optimizer, t);
      CHECK_THAT(rate(*optimizer), WithinRel(0.2 * std::pow(0.95, t), 1e-12));
    }
    // Below the minimum by its decay, it is not lifted by a cut.
    const double before = rate(*optimizer);
    turn(*optimizer, -100);
    CHECK_THAT(rate(*optimizer), WithinRel(0.95 * before, 1e-12));
  }
}

TEST_CASE("a cut stops at the minimum, of a rate that has decayed before") {
  for (const char* kind : kinds) {
    const auto optimizer = make(kind, Config::Map{{"patience", 1}, {"factor", 0.1}, {"window", 1}, {"minimum", 0.03}}, 0.5);
    turn(*optimizer, 1);
    CHECK_THAT(rate(*optimizer), WithinRel(0.1, 1e-12));
    turn(*optimizer, 1);
    CHECK_THAT(rate(*optimizer), WithinRel(0.03, 1e-12));
  }
}

TEST_CASE("the rule is that of its definition, turn by turn") {
  const auto all = returns();
  for (const char* kind : kinds)
    for (const std::size_t window : {1, 3, 5}) {
      CAPTURE(kind, window);
      const auto optimizer =
          make(kind, Config::Map{{"patience", 4}, {"factor", 0.7}, {"window", static_cast<std::int64_t>(window)}});
      const auto mean_at = [&](std::size_t t) {
        double sum = 0;
        for (std::size_t i = 0; i < window; ++i) sum += all[t - i];
        return sum / static_cast<double>(window);
      };
      double expected = 0.2;
      std::size_t since = 0;
      int cuts = 0;
      for (std::size_t t = 0; t < all.size(); ++t) {
        turn(*optimizer, all[t]);
        if (t + 1 >= window) {
          bool above = true;
          for (std::size_t before = window - 1; before < t; ++before) above = above && mean_at(t) > mean_at(before) + 1e-12;
          since = above ? 0 : since + 1;
          if (since == 4) {
            since = 0;
            ++cuts;
            expected = std::max(0.002, expected * 0.7);
          }
        }
        CHECK_THAT(rate(*optimizer), WithinRel(expected, 1e-12));
      }
      CHECK(cuts > 3);
      CHECK(cuts < 14);
    }
}

TEST_CASE("members without a return are left out of the mean") {
  const auto optimizer = make("es", Config::Map{{"patience", 1}, {"window", 1}});
  const auto tell = [&](const std::vector<double>& fitness) {
    std::vector<float> population;
    optimizer->ask_resized(population);
    optimizer->tell(fitness);
    return rate(*optimizer);
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(tell({1, 2, 3, 4}) == 0.2);
  CHECK(tell({2.75, nan, -infinity, nan}) == 0.2);
  CHECK(tell({2.6, 2.6, infinity, nan}) == 0.1);
  CHECK(tell({-infinity, infinity, nan, nan}) == 0.1);
  CHECK(tell({1e308, 1e308, 1e308, 1e308}) == 0.1);
}

TEST_CASE("a plateau is waited for across files and changes of the population") {
  const auto all = returns();
  const Config plateau = Config::Map{{"patience", 4}, {"window", 3}};
  for (const char* kind : kinds)
    for (std::size_t at = 0; at < 20; ++at) {
      CAPTURE(kind, at);
      const auto whole = make(kind, plateau), resumed = make(kind, plateau), larger = make(kind, plateau, 1, 8);
      for (std::size_t t = 0; t < at; ++t) turn(*whole, all[t]);
      const std::string saved = state(*whole);
      Reader reader(saved, "state");
      resumed->load(reader);
      CHECK(reader.at_end());
      larger->adopt(*whole, true);
      for (std::size_t t = at; t < 30; ++t) {
        for (const auto& optimizer : {whole.get(), resumed.get(), larger.get()}) turn(*optimizer, all[t]);
        CHECK(rate(*larger) == rate(*whole));
      }
      CHECK(state(*resumed) == state(*whole));
    }
}

TEST_CASE("fitness that is measured in another way begins a new watch") {
  for (const char* kind : kinds) {
    const auto optimizer = make(kind, Config::Map{{"patience", 2}, {"window", 1}});
    turn(*optimizer, 100);
    turn(*optimizer, 99);
    optimizer->fitness_changes();
    turn(*optimizer, 1);
    turn(*optimizer, 0);
    CHECK(rate(*optimizer) == 0.2);
    turn(*optimizer, 0);
    CHECK(rate(*optimizer) == 0.1);
  }
}

TEST_CASE("without the option nothing is kept, and what it became is told") {
  for (const char* kind : kinds) {
    const auto plain = make(kind, Config()), watched = make(kind, Config::Map{});
    CHECK(!plain->config().find("plateau"));
    CHECK(to_json(*watched->config().find("plateau")) == R"({"factor":0.5,"minimum":0.002,"patience":10,"window":5})");
    for (int t = 0; t < 40; ++t) turn(*plain, 1);
    CHECK(rate(*plain) == 0.2);
    CHECK(state(*watched).size() ==
          state(*make(kind, Config())).size() + sizeof(std::uint64_t) + sizeof(double) + sizeof(std::uint32_t));
  }
}

TEST_CASE("a bad plateau is named") {
  const auto with = [](const char* kind, const Config& plateau) { return [=] { make(kind, plateau); }; };
  CHECK_THROWS_WITH(with("es", Config::Map{{"patiense", 3}})(),
                    ContainsSubstring("optimizer.plateau: unknown option 'patiense'; did you mean 'patience'?"));
  CHECK_THROWS_WITH(with("ars", Config::Map{{"patience", 0}})(), ContainsSubstring("optimizer.plateau: option 'patience'"));
  CHECK_THROWS_WITH(with("pgpe", Config::Map{{"factor", 1.5}})(), ContainsSubstring("optimizer.plateau: option 'factor'"));
  CHECK_THROWS_WITH(with("es", Config::Map{{"minimum", 0.3}})(), ContainsSubstring("'minimum' must be in [0, 0.2], got 0.3"));
  CHECK_THROWS_WITH(with("es", 3)(), ContainsSubstring("optimizer.plateau: expected a table of options, got 3"));
}

TEST_CASE("antithetic pairs take a plateau, other optimizers name those that do") {
  for (const auto& entry : optimizer_catalog()) {
    CAPTURE(entry.name);
    const auto watched = [&] {
      return make_optimizer(Config::Map{{"kind", entry.name}, {"plateau", Config::Map{}}}, std::vector<float>(3), 1);
    };
    if (entry.pairs)
      CHECK(watched()->config().find("plateau"));
    else
      CHECK_THROWS_WITH(watched(), ContainsSubstring("option 'plateau' lowers a learning rate, which " + entry.name +
                                                     " does not have; take it out, or use one of es, pgpe, ars"));
  }
}
