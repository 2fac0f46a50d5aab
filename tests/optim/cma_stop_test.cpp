#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
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

std::unique_ptr<Optimizer> make_cma(Config::Map options, std::size_t size = 5, float start = 1, std::uint64_t seed = 2) {
  options.emplace("kind", "cma_es");
  return make_optimizer(options, std::vector<float>(size, start), seed);
}

void step(Optimizer& optimizer, const Function& f) {
  std::vector<float> population(optimizer.population() * optimizer.parameters());
  std::vector<double> fitness(optimizer.population());
  optimizer.ask(population);
  for (std::size_t k = 0; k < fitness.size(); ++k)
    fitness[k] = f(std::span(population).subspan(k * optimizer.parameters(), optimizer.parameters()));
  optimizer.tell(fitness);
}

/// Tells until the optimizer stops; returns the reason, or "" after `limit` generations.
std::string run(Optimizer& optimizer, const Function& f, int limit) {
  for (int i = 0; i < limit && optimizer.stop_reason().empty(); ++i) step(optimizer, f);
  return optimizer.stop_reason();
}

double metric(const Optimizer& optimizer, const std::string& name) {
  for (const auto& [key, value] : optimizer.metrics())
    if (key == name) return value;
  throw Error("no metric " + name);
}

std::string state(const Optimizer& optimizer) {
  Writer writer;
  optimizer.save(writer);
  return writer.bytes();
}

}  // namespace

TEST_CASE("each stop condition has a name") {
  CHECK(run(*make_cma({{"target", -1e-3}}), sphere, 1000) == "target");
  CHECK(run(*make_cma({}), [](auto) { return 3.0; }, 1000) == "equal_fitness");
  CHECK(run(*make_cma({{"tol_fun", 1e-6}}), sphere, 1000) == "tol_fun");
  CHECK(run(*make_cma({{"tol_x", 1e-3}, {"tol_fun", 0}}), sphere, 1000) == "tol_x");
  CHECK(run(*make_cma({{"tol_x_up", 100}}), [](auto x) { return double{x[0]}; }, 1000) == "tol_x_up");
  CHECK(run(*make_cma({{"tol_condition", 1e3}}), ellipsoid, 1000) == "condition");
  // Far from the origin the spacing of floats ends the search, along every axis or along one coordinate.
  const auto distance_from = [](double first, double rest) {
    return [=](std::span<const float> x) {
      double sum = -std::abs(x[0] - first);
      for (const float value : x.subspan(1)) sum -= std::abs(value - rest);
      return sum;
    };
  };
  const Config::Map endless{{"kind", "cma_es"}, {"tol_fun", 0}, {"tol_x", 0}};
  CHECK(run(*make_optimizer(endless, std::vector<float>(5, 1001.0F), 2), distance_from(1000, 1000), 3000) == "no_effect_axis");
  CHECK(run(*make_optimizer(endless, std::vector<float>{1001, 1, 1, 1, 1}, 2), distance_from(1000, 0), 3000) ==
        "no_effect_coordinate");
  // A search that only loses ground: the fitness of generation g is noise around -g.
  const auto sinking = make_cma({{"tol_x_up", 1e300}});
  Random random(8);
  int calls = 0;
  CHECK(run(*sinking, [&](auto) { return random.normal() - 0.01 * ++calls; }, 3000) == "stagnation");
  CHECK(run(*make_cma({}), sphere, 20).empty());
}

TEST_CASE("stop conditions hold as soon as their numbers say, and no sooner") {
  // With 5 parameters and 8 members, 30 n / lambda is 19. `spread` lies between the best and the worst of a generation, and the
  // best ones differ by 0.02.
  const auto tell = [](Optimizer& optimizer, double spread, bool gaps) {
    std::vector<float> population;
    optimizer.ask_resized(population);
    std::vector<double> fitness;
    for (int k = 0; k < 8; ++k) fitness.push_back((optimizer.iteration() % 2 ? 0.02 : 0) - spread * k / 7);
    if (gaps) fitness[3] = std::nan("");
    optimizer.tell(fitness);
  };
  for (const bool gaps : {false, true}) {
    CAPTURE(gaps);
    const auto optimizer = make_cma({{"population", 8}, {"tol_fun", 0.1}, {"stagnation", false}, {"tol_x_up", 1e300}});
    for (int turn = 0; turn < 60; ++turn) tell(*optimizer, 1, gaps);
    CHECK(optimizer->stop_reason().empty());
    tell(*optimizer, 0.05, gaps);
    CHECK(optimizer->stop_reason() == "tol_fun");
    const auto sudden = make_cma({{"population", 8}, {"tol_fun", 0.1}, {"tol_x_up", 1e300}});
    while (sudden->stop_reason().empty()) tell(*sudden, 0.05, gaps);
    CHECK(sudden->iteration() == 10 + 19);
  }
  const auto falling = make_cma({{"population", 8}, {"tol_x_up", 1e300}, {"tol_x", 0}});
  CHECK(run(*falling, [&](auto) { return -1.0 * falling->iteration(); }, 300) == "stagnation");
  CHECK(falling->iteration() == 120 + 19);

  const auto narrow = make_cma({{"sigma", 100}, {"tol_x", 1e-3}, {"tol_fun", 0}});
  CHECK(run(*narrow, sphere, 1000) == "tol_x");
  CHECK(metric(*narrow, "deviation") < 0.1);
  CHECK(metric(*narrow, "deviation") > 0.01);
  const auto skewed = make_cma({{"tol_condition", 1e3}});
  double before = 1;
  while (skewed->stop_reason().empty()) {
    before = metric(*skewed, "axis_ratio");
    step(*skewed, ellipsoid);
  }
  CHECK(before * before <= 1e3);
  CHECK(std::pow(metric(*skewed, "axis_ratio"), 2) > 1e3);
}

TEST_CASE("returns that are one infinity are equal") {
  for (const char* kind : {"cma_es", "sep_cma_es"})
    for (const double value : {HUGE_VAL, -HUGE_VAL}) {
      const auto ended = [&](double returned) {
        const auto optimizer = make_optimizer(Config::Map{{"kind", kind}, {"stagnation", false}}, std::vector<float>(3, 1), 2);
        CHECK(run(*optimizer, [&](std::span<const float>) { return returned; }, 1000) == "equal_fitness");
        return optimizer->iteration();
      };
      CHECK(ended(value) == ended(0));
    }
}

TEST_CASE("a search of many parameters by few members stops, too, where nothing differs", "[.][large]") {
  // 10 + 30 n / lambda generations are more than are looked at for stagnation.
  const Config::Map options{{"kind", "sep_cma_es"}, {"population", 4}, {"tol_x_up", 1e300}, {"stagnation", false}};
  const auto optimizer = make_optimizer(options, std::vector<float>(2700, 1), 2);
  CHECK(run(*optimizer, [](auto) { return 3.0; }, 20'259).empty());
  CHECK(run(*optimizer, [](auto) { return 3.0; }, 2) == "equal_fitness");
}

TEST_CASE("where no axis follows a valley, the variances of sep_cma_es adapt as ever, however long it walks") {
  // Sigma grows and the variances shrink, by some 2^120 in 1000 generations each way: after 13,000 they would be the smallest
  // doubles.
  constexpr int size = 4;
  const Config::Map options{{"kind", "sep_cma_es"}, {"tol_fun", 0}, {"stagnation", false}};
  const auto make = [&] { return make_optimizer(options, std::vector<float>(size, 0), 3); };
  const Function ridge = [](auto x) {
    double mean = 0, square = 0;
    for (const float value : x) mean += value / size;
    for (const float value : x) square += (value - mean) * (value - mean);
    return mean - 100 * square;
  };
  const auto search = make();
  double before = metric(*search, "deviation");
  for (int i = 0; i < 13'000; ++i) {
    step(*search, ridge);
    const double after = metric(*search, "deviation");
    if (!(after < 3 * before && after > before / 3)) FAIL("the steps jumped from " << before << " to " << after);
    before = after;
  }
  CHECK(search->stop_reason().empty());
  CHECK(metric(*search, "sigma") < 1e60);
  CHECK(metric(*search, "axis_ratio") > 1.0001);

  std::vector<float> population;
  search->ask_resized(population);
  search->tell(std::vector<double>(search->population(), 1.0));
  const std::vector<float> base(population.begin(), population.begin() + size);
  double best = -INFINITY;
  const Function along_axes = [&](std::span<const float> x) {
    double sum = 0;
    for (int i = 0; i < size; ++i) sum -= std::pow(100.0, i) * std::pow(x[i] - base[i] - 1e-2, 2);
    best = std::max(best, sum);
    return sum;
  };
  for (int i = 0; i < 150; ++i) step(*search, along_axes);
  CHECK(best > -1e-6);
  CHECK(metric(*search, "axis_ratio") > 20);
}

TEST_CASE("NaN and infinite fitness leave the distribution finite") {
  const auto optimizer = make_cma({{"population", 9}});
  std::vector<float> population(45);
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (int i = 0; i < 100; ++i) {
    optimizer->ask(population);
    optimizer->tell(std::vector<double>{nan, infinity, nan, -infinity, 1, nan, infinity, 0.5, nan});
    for (const auto& [name, value] : optimizer->metrics()) REQUIRE(std::isfinite(value));
    for (const float value : optimizer->mean()) REQUIRE(std::isfinite(value));
  }
}

TEST_CASE("restarts with a growing population find what one run misses") {
  for (const char* schedule : {"ipop", "bipop"}) {
    INFO(schedule);
    const Config::Map options{{"sigma", 2}, {"restarts", schedule}, {"target", -1e-9}, {"population", 8}, {"tol_fun", 1e-11}};
    const auto optimizer = make_cma(options, 6, 3);
    std::set<std::size_t> populations;
    std::vector<std::size_t> order;
    double restarts = 0;
    for (int i = 0; i < 20000 && optimizer->stop_reason().empty(); ++i) {
      populations.insert(optimizer->population());
      if (order.empty() || metric(*optimizer, "restarts") != restarts) order.push_back(optimizer->population());
      restarts = metric(*optimizer, "restarts");
      run(*optimizer, rastrigin, 1);
    }
    CHECK(optimizer->stop_reason() == "target");
    REQUIRE(order.size() > 2);
    CHECK(order[0] == 8);
    CHECK(order[1] == 16);
    if (schedule == std::string("ipop"))
      for (std::size_t i = 0; i < order.size(); ++i) CHECK(order[i] == std::size_t{8} << i);
    else
      CHECK(order[2] <= 16);
  }
}

TEST_CASE("where a search ends, its mean and figures stay until the next one is asked for") {
  for (const char* schedule : {"ipop", "bipop"}) {
    INFO(schedule);
    const auto restarting = make_cma({{"restarts", schedule}, {"max_restarts", 2}, {"population", 6}, {"tol_fun", 1e-3}});
    const auto single = make_cma({{"population", 6}, {"tol_fun", 1e-3}});
    CHECK(run(*single, sphere, 2000) == "tol_fun");
    while (restarting->restart_reason().empty()) step(*restarting, sphere);
    CHECK(restarting->restart_reason() == "tol_fun");
    CHECK(restarting->stop_reason().empty());
    CHECK(std::ranges::equal(restarting->mean(), single->mean()));
    CHECK(restarting->metrics() == single->metrics());
    CHECK(restarting->population() == 12);
    // A state that is saved here goes on as the search itself.
    const auto resumed = make_cma({{"restarts", schedule}, {"max_restarts", 2}, {"population", 6}, {"tol_fun", 1e-3}});
    const std::string saved = state(*restarting);
    Reader reader(saved, "saved");
    resumed->load(reader);
    CHECK(resumed->restart_reason() == "tol_fun");
    CHECK(resumed->population() == 12);
    CHECK(state(*resumed) == saved);
    std::vector<float> short_of(6 * single->parameters());
    CHECK_THROWS_AS(restarting->ask(short_of), Error);
    CHECK(std::ranges::equal(restarting->mean(), single->mean()));
    for (const auto& optimizer : {restarting.get(), resumed.get()}) {
      step(*optimizer, sphere);
      CHECK(optimizer->restart_reason().empty());
      CHECK(metric(*optimizer, "restarts") == 1);
      CHECK(metric(*optimizer, "population") == 12);
    }
    CHECK(state(*resumed) == state(*restarting));
  }
}

TEST_CASE("restarts run out") {
  const auto optimizer = make_cma({{"restarts", "ipop"}, {"max_restarts", 2}, {"population", 6}, {"tol_fun", 1e-3}});
  CHECK(run(*optimizer, sphere, 2000) == "tol_fun");
  CHECK(metric(*optimizer, "restarts") == 2);
  CHECK(optimizer->population() == 24);
}

TEST_CASE("a schedule that ended begins no other run, whoever asks on") {
  int ended = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto optimizer =
        make_cma({{"restarts", "bipop"}, {"max_restarts", 2}, {"population", 4}, {"tol_condition", 2}}, 5, 1, seed);
    if (run(*optimizer, sphere, 400).empty()) continue;
    ++ended;
    const double restarts = metric(*optimizer, "restarts");
    for (int i = 0; i < 20; ++i) {
      step(*optimizer, sphere);
      REQUIRE(metric(*optimizer, "restarts") == restarts);
    }
  }
  CHECK(ended > 100);
}

TEST_CASE("a run with restarts resumes bit for bit, before and after each of them") {
  for (const char* schedule : {"ipop", "bipop"}) {
    INFO(schedule);
    const Config::Map options{{"sigma", 2}, {"restarts", schedule}, {"population", 6}, {"tol_fun", 1e-4}, {"max_restarts", 3}};
    const auto whole = make_cma(options, 4, 3);
    double restarts = 0;
    for (int i = 0; i < 600 && whole->stop_reason().empty(); ++i) {
      const bool fresh = metric(*whole, "restarts") != restarts;
      restarts = metric(*whole, "restarts");
      if (i % 50 == 0 || fresh) {
        const auto resumed = make_cma(options, 4, 3), other = make_cma(options, 4, 3);
        const std::string saved = state(*whole);
        Reader reader(saved, "state"), again(saved, "state");
        resumed->load(reader);
        other->load(again);
        CHECK(reader.at_end());
        REQUIRE(resumed->population() == whole->population());
        run(*resumed, rastrigin, 30);
        run(*other, rastrigin, 15);
        const std::string middle = state(*other);
        Reader from_middle(middle, "state");
        const auto third = make_cma(options, 4, 3);
        third->load(from_middle);
        run(*third, rastrigin, 15);
        CHECK(state(*third) == state(*resumed));
      }
      run(*whole, rastrigin, 1);
    }
    CHECK(restarts > 1);
  }
}

TEST_CASE("a damaged state leads to no population that the schedule never has") {
  const Config::Map options{{"restarts", "ipop"}, {"max_restarts", 2}, {"population", 6}, {"tol_fun", 1e3}};
  const auto restarted = make_cma(options);
  while (metric(*restarted, "restarts") < 2) step(*restarted, sphere);
  const std::string late = state(*restarted), early = state(*make_cma(options));
  Reader reader(late, "late.ckpt");
  CHECK_THROWS_WITH(make_cma({{"population", 6}})->load(reader),
                    ContainsSubstring("late.ckpt: holds a run of 24 members after 2 of at most 0 growths"));
  int refused = 0;
  for (std::size_t at = 0; at + 4 <= early.size(); ++at) {
    std::string damaged = early;
    damaged[at] = 27;
    const auto optimizer = make_cma(options);
    try {
      Reader from_damaged(damaged, "state");
      optimizer->load(from_damaged);
    } catch (const Error&) {
      ++refused;
      continue;
    }
    for (int i = 0; i < 60 && optimizer->stop_reason().empty(); ++i) {
      REQUIRE(optimizer->population() <= 24);
      step(*optimizer, sphere);
    }
  }
  CHECK(refused > 10);
}

TEST_CASE("fitness of another kind is not compared with what came before it") {
  for (const bool told : {false, true}) {
    const auto optimizer = make_cma({{"tol_x", 0}, {"tol_fun", 0}}, 20, 5);
    CHECK(run(*optimizer, [](std::span<const float> x) { return 1e4 + sphere(x); }, 100).empty());
    if (told) optimizer->fitness_changes();
    const std::string reason = run(*optimizer, rastrigin, 120);
    CHECK(reason == (told ? "" : "stagnation"));
  }
}

TEST_CASE("options of restarts are refused where there are none, but for the defaults that files hold") {
  for (const char* kind : {"cma_es", "sep_cma_es"})
    for (const char* schedule : {"none", "ipop", "bipop"}) {
      CAPTURE(kind, schedule);
      const auto with = [&](const char* option, Config value) {
        return make_cma({{"kind", kind}, {"restarts", schedule}, {"sigma", 2}, {option, std::move(value)}});
      };
      if (schedule == std::string("none")) {
        CHECK_THROWS_AS(with("max_restarts", 3), OptionError);
        CHECK_THROWS_WITH(with("max_restarts", 3), ContainsSubstring("'max_restarts' is 3") && ContainsSubstring("\"ipop\""));
        CHECK_THROWS_WITH(with("restart_spread", 0.5), ContainsSubstring("'restart_spread' is 0.5"));
        CHECK_THROWS_WITH(make_cma({{"kind", kind}, {"max_restarts", 0}}), ContainsSubstring("'max_restarts' is 0"));
      } else {
        CHECK(with("max_restarts", 3)->config().find("max_restarts")->integer() == 3);
        CHECK(with("restart_spread", 0.5)->config().find("restart_spread")->number() == 0.5);
      }
      const Config completed = with("population", 6)->config();
      CHECK(completed.find("max_restarts")->integer() == 9);
      CHECK(completed.find("restart_spread")->number() == 2);
      const Config read = parse_json(to_json(completed), "test");
      CHECK(make_optimizer(read, std::vector<float>(5, 1.0F), 2)->config() == completed);
    }
}

TEST_CASE("cma_es names a bad option") {
  CHECK_THROWS_WITH(make_cma({{"population", 3}}), ContainsSubstring("population"));
  CHECK_THROWS_WITH(make_cma({{"restarts", "ipopp"}}), ContainsSubstring("'ipop'"));
  CHECK_THROWS_WITH(make_cma({{"tol_funn", 1}}), ContainsSubstring("'tol_fun'"));
  CHECK_THROWS_WITH(make_cma({{"active", 1}}), ContainsSubstring("active"));
}
