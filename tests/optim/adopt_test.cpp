// An optimizer that goes on in the middle of a search with another population, or with other parameters.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.optim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

std::unique_ptr<Optimizer> make(Config::Map options, int population, std::size_t parameters = 5) {
  const std::vector<float> initial(parameters, 0.5F);
  options["population"] = population;
  return make_optimizer(options, initial, 7);
}

std::unique_ptr<Optimizer> make(const std::string& kind, int population) { return make(Config::Map{{"kind", kind}}, population); }

/// Every row that can adopt, with its defaults and with its examples.
std::vector<Config::Map> adopting() {
  std::vector<Config::Map> all;
  for (const auto& entry : optimizer_catalog()) {
    if (!entry.pairs) continue;
    all.push_back(Config::Map{{"kind", entry.name}});
    const Config examples = parse_json(entry.examples, entry.name);
    for (Config table : *examples.list()) {
      table["kind"] = entry.name;
      all.push_back(*table.map());
    }
  }
  return all;
}

/// Turns of a search for the origin.
void search(Optimizer& optimizer, int turns) {
  std::vector<float> population;
  for (int turn = 0; turn < turns; ++turn) {
    optimizer.ask_resized(population);
    std::vector<double> fitness;
    for (std::size_t member = 0; member < optimizer.population(); ++member) {
      double sum = 0;
      for (std::size_t i = 0; i < optimizer.parameters(); ++i) {
        const double value = population[member * optimizer.parameters() + i];
        sum -= static_cast<double>(i + 1) * value * value;
      }
      fitness.push_back(sum);
    }
    optimizer.tell(fitness);
  }
}

std::string state(const Optimizer& optimizer) {
  Writer writer;
  optimizer.save(writer);
  return writer.bytes();
}

}  // namespace

TEST_CASE("an optimizer that adopts another's place goes on as that one would") {
  for (const Config::Map& kind : adopting()) {
    INFO(to_json(kind));
    auto before = make(kind, 8);
    search(*before, 5);
    auto next = make(kind, 8);
    next->adopt(*before, true);
    CHECK(next->iteration() == 5);
    CHECK(state(*next) == state(*before));
    search(*before, 5);
    search(*next, 5);
    CHECK(state(*next) == state(*before));
  }
}

TEST_CASE("another population or other parameters keep iteration, step sizes and learning rate") {
  for (const Config::Map& kind : adopting()) {
    INFO(to_json(kind));
    auto before = make(kind, 8);
    search(*before, 5);
    auto larger = make(kind, 20);
    larger->adopt(*before, true);
    CHECK(larger->population() == 20);
    CHECK(larger->metrics() == before->metrics());
    CHECK(std::ranges::equal(larger->mean(), before->mean()));
    search(*larger, 3);
    CHECK(larger->iteration() == 8);
    // What was built with the new parameters stays, and the search goes on from there.
    auto other = make(kind, 8, 9);
    other->adopt(*before, false);
    CHECK(other->iteration() == 5);
    CHECK(std::ranges::all_of(other->mean(), [](float value) { return value == 0.5F; }));
    const auto old = before->metrics(), now = other->metrics();
    for (std::size_t i = 0; i < old.size(); ++i)
      if (old[i].first == "sigma" || old[i].first == "learning_rate") CHECK_THAT(now[i].second, WithinRel(old[i].second, 1e-12));
    search(*other, 3);
    CHECK(other->iteration() == 8);
  }
}

TEST_CASE("every optimizer goes on where another of its kind stands, or says that it cannot") {
  for (const auto& entry : optimizer_catalog()) {
    CAPTURE(entry.name);
    auto before = make(entry.name, 8), next = make(entry.name, 10);
    search(*before, 2);
    try {
      next->adopt(*before, true);
      CHECK(next->iteration() == 2);
      CHECK(std::ranges::equal(next->mean(), before->mean()));
      CHECK(entry.pairs);
    } catch (const Error& error) {
      CHECK_FALSE(entry.pairs);
      CHECK_THAT(error.what(), ContainsSubstring(entry.name + ": keeps its population") &&
                                   ContainsSubstring("those that can change them on the way are es, pgpe, ars"));
    }
    const auto other = make(entry.name == "es" ? "ars" : "es", 8);
    CHECK_THROWS_AS(next->adopt(*other, true), Error);
  }
}
