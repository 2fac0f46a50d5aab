#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>
import iap.core;
import iap.optim;

// What every row of the catalog promises.

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

const std::vector<float> start = {1.0F, -2.0F, 0.5F, 3.0F, -0.25F, 0.0F, 1.5F};

std::unique_ptr<Optimizer> make(const std::string& kind, std::uint64_t seed = 5, std::span<const float> initial = start) {
  return make_optimizer(Config::Map{{"kind", kind}, {"population", 8}}, initial, seed);
}

/// Every row with its defaults, with its examples and under each of the options that make its population change.
struct Case {
  std::string name;
  Config config;
  bool changing = false;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& entry : optimizer_catalog()) {
    all.push_back({entry.name, Config::Map{{"kind", entry.name}, {"population", 8}}});
    const Config examples = parse_json(entry.examples, entry.name);
    for (Config table : *examples.list()) {
      all.push_back({entry.name + " " + to_json(table), table});
      all.back().config["kind"] = entry.name;
      all.back().config["population"] = 8;
    }
    if (entry.changing_population.empty()) continue;
    const Config tables = parse_json(entry.changing_population, entry.name);
    for (Config table : *tables.list()) {
      table["kind"] = entry.name;
      all.push_back({entry.name + " " + to_json(table), table, true});
    }
  }
  return all;
}

std::unique_ptr<Optimizer> make(const Case& tried, std::span<const float> initial = start) {
  return make_optimizer(tried.config, initial, 5);
}

std::vector<float> ask(Optimizer& optimizer) {
  std::vector<float> population(optimizer.population() * optimizer.parameters());
  optimizer.ask(population);
  return population;
}

double sphere(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum -= (value - 0.5) * (value - 0.5);
  return sum;
}

std::vector<double> fitness_of(const Optimizer& optimizer, std::span<const float> population) {
  std::vector<double> fitness;
  for (std::size_t member = 0; member < optimizer.population(); ++member)
    fitness.push_back(sphere(population.subspan(member * optimizer.parameters(), optimizer.parameters())));
  return fitness;
}

void iterate(Optimizer& optimizer, int count) {
  for (int i = 0; i < count; ++i) optimizer.tell(fitness_of(optimizer, ask(optimizer)));
}

std::string state(const Optimizer& optimizer) {
  Writer writer;
  optimizer.save(writer);
  return writer.bytes();
}

std::vector<float> mean(const Optimizer& optimizer) { return {optimizer.mean().begin(), optimizer.mean().end()}; }

}  // namespace

TEST_CASE("an optimizer starts at the initial parameters and counts its tells") {
  for (const auto& entry : optimizer_catalog()) {
    INFO(entry.name);
    CHECK(!entry.summary.empty());
    const auto optimizer = make(entry.name);
    CHECK(optimizer->name() == entry.name);
    CHECK(optimizer->parameters() == start.size());
    CHECK(optimizer->population() == 8);
    CHECK(mean(*optimizer) == start);
    CHECK(optimizer->iteration() == 0);
    iterate(*optimizer, 3);
    CHECK(optimizer->iteration() == 3);
    CHECK(mean(*optimizer) != start);
  }
}

TEST_CASE("asking twice is the same; a tell, a seed or an iteration changes the population") {
  for (const auto& entry : optimizer_catalog()) {
    INFO(entry.name);
    const auto optimizer = make(entry.name);
    const auto first = ask(*optimizer);
    CHECK(first == ask(*optimizer));
    CHECK(first == ask(*make(entry.name)));
    CHECK(first != ask(*make(entry.name, 6)));
    optimizer->tell(fitness_of(*optimizer, first));
    CHECK(first != ask(*optimizer));
  }
}

TEST_CASE("an optimizer climbs") {
  for (const auto& entry : optimizer_catalog()) {
    INFO(entry.name);
    const auto optimizer = make(entry.name);
    iterate(*optimizer, 300);
    CHECK(sphere(optimizer->mean()) > 0.05 * sphere(start));
  }
}

TEST_CASE("wrong uses are errors that name themselves") {
  for (const auto& entry : optimizer_catalog()) {
    INFO(entry.name);
    const auto optimizer = make(entry.name);
    const std::vector<double> fitness(8, 1.0);
    CHECK_THROWS_WITH(optimizer->tell(fitness), ContainsSubstring("ask"));
    std::vector<float> small(7);
    CHECK_THROWS_WITH(optimizer->ask(small), ContainsSubstring("got 7"));
    ask(*optimizer);
    CHECK_THROWS_WITH(optimizer->tell(std::vector<double>(7, 1.0)), ContainsSubstring("got 7"));
    CHECK_THROWS_WITH(optimizer->tell(std::vector<double>(8, not_a_number)), ContainsSubstring("NaN"));
    CHECK(mean(*optimizer) == start);
    optimizer->tell(fitness);
    CHECK_THROWS_WITH(optimizer->tell(fitness), ContainsSubstring("ask"));
    CHECK_THROWS_WITH(make_optimizer(Config::Map{{"kind", entry.name}, {"sigmaa", 1}}, start, 1), ContainsSubstring("'sigma'"));
    CHECK_THROWS_WITH(make(entry.name, 1, {}), ContainsSubstring("no parameters"));
    CHECK_THROWS_WITH(make(entry.name, 1, std::vector<float>{0, std::nanf("")}), ContainsSubstring("parameter 2"));
  }
  CHECK_THROWS_WITH(make("ess"), ContainsSubstring("did you mean 'es'"));
}

TEST_CASE("what no memory can hold is refused with its size before it is allocated") {
  const std::vector<float> many(1 << 24);
  for (const auto& entry : optimizer_catalog()) {
    INFO(entry.name);
    CHECK_THROWS_WITH(make_optimizer(Config::Map{{"kind", entry.name}, {"population", 1 << 20}}, many, 1),
                      ContainsSubstring(entry.name + ": ") && ContainsSubstring("1048576 x 16777216 parameters needs 65536 GiB") &&
                          ContainsSubstring("; lower population"));
  }
  // The matrix and its factor: 2 x 8 bytes x 2^48.
  CHECK_THROWS_WITH(make_optimizer(Config::Map{{"kind", "cma_es"}}, many, 1), ContainsSubstring("16777216 parameters") &&
                                                                                  ContainsSubstring("needs 4.1943e+06 GiB") &&
                                                                                  ContainsSubstring("sep_cma_es"));
  const std::vector<float> some(100000);
  CHECK_THROWS_WITH(make_optimizer(Config::Map{{"kind", "sep_cma_es"}, {"restarts", "ipop"}, {"max_restarts", 19}}, some, 1),
                    ContainsSubstring("a population of up to 19922944 x 100000") && ContainsSubstring("max_restarts"));
}

TEST_CASE("what this process may not use is refused with both sizes and the optimizer's remedy") {
  limit_usable_memory(1 << 30);
  const std::vector<float> some(10000);
  CHECK_THROWS_WITH(make_optimizer(Config::Map{{"kind", "cma_es"}}, some, 1),
                    ContainsSubstring("needs 1.5 GiB of memory, this process may use 1; use sep_cma_es"));
  CHECK_THROWS_WITH(
      make_optimizer(Config::Map{{"kind", "es"}, {"population", 40000}, {"directions", "orthogonal"}}, some, 1),
      ContainsSubstring("40000 x 10000 parameters needs 1.5 GiB of memory, this process may use 1; lower population"));
  limit_usable_memory(infinity);
}

TEST_CASE("NaN counts as worst and infinities never reach the mean") {
  for (const auto& entry : optimizer_catalog()) {
    INFO(entry.name);
    const auto tell_with = [&](double replacement) {
      const auto optimizer = make(entry.name);
      auto fitness = fitness_of(*optimizer, ask(*optimizer));
      fitness[3] = replacement;
      optimizer->tell(fitness);
      return mean(*optimizer);
    };
    // By rank NaN stands behind everything; where fitness counts by its value, NaN is worth the worst finite one.
    const auto optimizer = make(entry.name);
    auto others = fitness_of(*optimizer, ask(*optimizer));
    others.erase(others.begin() + 3);
    const auto with_nan = tell_with(not_a_number);
    CHECK((with_nan == tell_with(-1e6) || with_nan == tell_with(std::ranges::min(others))));
    CHECK(with_nan != tell_with(1e6));
    for (const double extreme : {infinity, -infinity, 1e308, -1e308})
      for (const float value : tell_with(extreme)) CHECK(std::isfinite(value));
  }
}

TEST_CASE("metrics keep their names and are finite") {
  for (const auto& entry : optimizer_catalog()) {
    INFO(entry.name);
    const auto optimizer = make(entry.name);
    const auto before = optimizer->metrics();
    iterate(*optimizer, 2);
    const auto after = optimizer->metrics();
    REQUIRE(before.size() == after.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      CHECK(before[i].first == after[i].first);
      CHECK(std::isfinite(before[i].second));
      CHECK(std::isfinite(after[i].second));
    }
  }
}

TEST_CASE("the population changes exactly where the catalog says so, and asking makes room for it") {
  for (const auto& tried : cases()) {
    INFO(tried.name);
    const auto optimizer = make(tried);
    std::set<std::size_t> sizes;
    std::vector<float> population;
    for (int i = 0; i < 150 && optimizer->stop_reason().empty(); ++i) {
      optimizer->ask_resized(population);
      REQUIRE(population.size() == optimizer->population() * start.size());
      CHECK(population == ask(*optimizer));
      sizes.insert(optimizer->population());
      optimizer->tell(fitness_of(*optimizer, population));
    }
    if (tried.changing)
      CHECK(sizes.size() > 2);
    else
      CHECK(sizes.size() == 1);
  }
}

TEST_CASE("saving and loading at any point continues bit by bit") {
  for (const auto& tried : cases()) {
    for (int at = 0; at < (tried.changing ? 60 : 6); ++at) {
      for (const bool between_ask_and_tell : {false, true}) {
        INFO(tried.name << " at " << at << (between_ask_and_tell ? " after ask" : ""));
        const auto whole = make(tried);
        iterate(*whole, at);
        std::vector<float> population;
        if (between_ask_and_tell) population = ask(*whole);
        const std::string saved = state(*whole);

        const std::vector<float> elsewhere(start.size(), 9.0F);
        // Restarts begin near the initial parameters, which are not part of the state.
        const auto resumed = make(tried, tried.changing ? start : elsewhere);
        Reader reader(saved, "state");
        resumed->load(reader);
        CHECK(reader.at_end());
        CHECK(resumed->population() == whole->population());
        CHECK(state(*resumed) == saved);
        CHECK(resumed->metrics() == whole->metrics());
        if (between_ask_and_tell) {
          whole->tell(fitness_of(*whole, population));
          resumed->tell(fitness_of(*resumed, population));
        }
        iterate(*whole, 4);
        iterate(*resumed, 4);
        CHECK(mean(*resumed) == mean(*whole));
        CHECK(state(*resumed) == state(*whole));
      }
    }
  }
}

TEST_CASE("a covariance whose factor is renewed now and then resumes between two renewals") {
  // That is every fourth generation of 4 members with 100 parameters.
  const Config config = Config::Map{{"kind", "cma_es"}, {"population", 4}};
  const std::vector<float> many(100, 1.0F);
  const auto whole = make_optimizer(config, many, 5);
  iterate(*whole, 20);
  for (int stop = 0; stop < 4; ++stop) {
    CAPTURE(stop);
    const std::string saved = state(*whole);
    const auto resumed = make_optimizer(config, many, 5);
    Reader reader(saved, "state");
    resumed->load(reader);
    CHECK(state(*resumed) == saved);
    const auto ahead = make_optimizer(config, many, 5);
    iterate(*ahead, 24 + stop);
    iterate(*resumed, 4);
    CHECK(state(*resumed) == state(*ahead));
    iterate(*whole, 1);
  }
}

TEST_CASE("a state that does not fit is refused") {
  for (const auto& entry : optimizer_catalog()) {
    INFO(entry.name);
    const auto optimizer = make(entry.name);
    iterate(*optimizer, 2);
    const std::string saved = state(*optimizer);
    for (std::size_t size = 0; size < saved.size(); ++size) {
      Reader reader(std::string_view(saved).substr(0, size), "state");
      CHECK_THROWS_AS(make(entry.name)->load(reader), Error);
    }
    Reader other_size(saved, "state");
    CHECK_THROWS_AS(make(entry.name, 5, std::vector<float>(3))->load(other_size), Error);
    Reader other_population(saved, "state");
    CHECK_THROWS_AS(make_optimizer(Config::Map{{"kind", entry.name}, {"population", 10}}, start, 5)->load(other_population), Error);
    Writer other_kind;
    other_kind.put_string("another");
    Reader reader(other_kind.bytes(), "state");
    CHECK_THROWS_WITH(make(entry.name)->load(reader), ContainsSubstring("another"));
  }
}

TEST_CASE("an old name is read and listed nowhere") {
  CHECK_THROWS_WITH(make("unheard"), !ContainsSubstring("pepg") && ContainsSubstring("pgpe"));
  for (const auto& entry : optimizer_catalog()) CHECK(entry.name != "pepg");
  const auto today = make("pgpe"), before = make("pepg");
  CHECK(before->name() == "pgpe");
  iterate(*today, 5);
  iterate(*before, 5);
  CHECK(state(*before) == state(*today));
  // A state as it was saved under the old name: the name stands first, with its length in 8 bytes before it.
  std::string saved = state(*today);
  REQUIRE(saved.substr(8, 4) == "pgpe");
  saved.replace(8, 4, "pepg");
  Reader reader(saved, "state");
  const auto resumed = make("pgpe");
  resumed->load(reader);
  CHECK(reader.at_end());
  CHECK(state(*resumed) == state(*today));
}

TEST_CASE("an optimizer with a loaded state derives each member alone, bit for bit") {
  for (const auto& tried : cases()) {
    const bool in_pairs = make(tried)->config().find("directions") != nullptr;
    for (const char* directions : {"gaussian", "orthogonal", "hadamard"}) {
      Config config = tried.config;
      if (in_pairs)
        config["directions"] = directions;
      else if (directions != std::string_view("gaussian"))
        continue;
      CAPTURE(tried.name, directions);
      const auto optimizer = make_optimizer(config, start, 5), other = make_optimizer(config, start, 5);
      std::vector<float> member(start.size());
      if (in_pairs) CHECK(optimizer->derives());
      if (!optimizer->derives()) {
        CHECK_THROWS_WITH(optimizer->write_member(0, member), ContainsSubstring("call ask"));
        continue;
      }
      iterate(*optimizer, 3);
      Writer writer;
      optimizer->save(writer);
      Reader reader(writer.bytes(), "state");
      other->load(reader);
      const auto population = ask(*optimizer);
      for (const std::size_t k : {5U, 0U, 7U, 1U, 6U, 2U, 3U, 4U}) {
        other->write_member(k, member);
        CHECK(std::ranges::equal(member, std::span(population).subspan(k * start.size(), start.size())));
      }
      CHECK_THROWS_WITH(other->write_member(8, member), ContainsSubstring("no member 8"));
      member.pop_back();
      CHECK_THROWS_WITH(other->write_member(0, member), ContainsSubstring("7 values, got room for 6"));
    }
  }
}
