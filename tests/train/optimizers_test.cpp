#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.optim;
import iap.rollout;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

// What iap.train promises for every row of the optimizer catalog.

using namespace iap;

namespace {

struct Case {
  Config optimizer;
  bool changing = false;  ///< the population changes within the run
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& entry : optimizer_catalog()) {
    all.push_back({Config::Map{{"kind", entry.name}, {"population", 4}}});
    const Config examples = parse_json(entry.examples, entry.name);
    for (Config table : *examples.list()) {
      table["kind"] = entry.name;
      table["population"] = 4;
      all.push_back({table});
    }
    if (entry.changing_population.empty()) continue;
    const Config tables = parse_json(entry.changing_population, entry.name);
    for (Config table : *tables.list()) {
      table["kind"] = entry.name;
      all.push_back({table, true});
    }
  }
  return all;
}

TrainOptions run_of(const Case& tried, const std::filesystem::path& out, int threads) {
  TrainOptions options = small_run(out);
  options.optimizer = tried.optimizer;
  options.iterations = tried.changing ? 60 : 6;
  options.threads = threads;
  options.eval_every = 20;
  options.eval_episodes = 2;
  return options;
}

/// The population of each iteration after the first, as metrics.csv has it; empty without such a column.
std::vector<std::string> populations(const std::filesystem::path& out) {
  const Rows table = read_rows(out / "metrics.csv");
  std::vector<std::string> values;
  for (std::size_t column = 0; column < table[0].size(); ++column)
    if (table[0][column] == "population")
      for (std::size_t row = 1; row < table.size(); ++row) values.push_back(table[row][column]);
  return values;
}

/// The settings in the head of a checkpoint, and what follows them.
std::pair<Config, std::string> parts_of(const std::filesystem::path& checkpoint) {
  const std::string payload = unseal(read_file(checkpoint), "IAPCHECK", 1, "checkpoint");
  Reader reader(payload, "checkpoint");
  const std::string identity = reader.get_string();
  return {parse_json(identity, "checkpoint"), payload.substr(payload.find(identity) + identity.size())};
}

/// As a program would have left the run that did not know the optimizer's `option`.
void forget(const std::string& option, const std::filesystem::path& out) {
  for (const char* name : {"checkpoint.iap", "checkpoint.previous.iap"}) {
    auto [identity, rest] = parts_of(out / name);
    REQUIRE(identity["optimizer"].map()->erase(option) == 1);
    Writer writer;
    writer.put_string(to_json(identity));
    write_text(out / name, seal("IAPCHECK", 1, writer.bytes() + rest));
  }
}

}  // namespace

TEST_CASE("every optimizer trains, through restarts where it has them, and resumes within them bit by bit") {
  const Scratch scratch("optimizers");
  int number = 0;
  for (const Case& tried : cases()) {
    INFO(to_json(tried.optimizer));
    const std::string name = std::to_string(++number);
    TrainOptions options = run_of(tried, scratch / (name + "whole"), 1);
    const TrainResult whole = train(options);
    CHECK(whole.parameters.size() == 6);
    const auto content = run_content(options.out);
    const auto sizes = populations(options.out);
    if (tried.changing) CHECK(std::set<std::string>(sizes.begin(), sizes.end()).size() > 2);

    // Stops on both sides of every change of the population, and one in between.
    std::set<std::uint32_t> stops = {3};
    for (std::size_t i = 1; i < sizes.size(); ++i)
      if (sizes[i] != sizes[i - 1])
        for (const std::size_t stop : {i - 1, i, i + 1})
          if (stop > 0 && stop < whole.iterations) stops.insert(static_cast<std::uint32_t>(stop));
    if (tried.changing) CHECK(stops.size() > 4);
    for (const std::uint32_t stop : stops) {
      INFO("stopped after " << stop);
      options = run_of(tried, scratch / (name + "at" + std::to_string(stop)), 2);
      options.on_iteration = [&](const IterationReport& report) { return report.iteration < stop; };
      CHECK(train(options).iterations == stop);
      options.on_iteration = {};
      options.resume = true;
      const TrainResult resumed = train(options);
      CHECK(differences(content, run_content(options.out)) == "");
      CHECK(resumed.parameters == whole.parameters);
      CHECK(resumed.stop_reason == whole.stop_reason);
    }
  }
}

TEST_CASE("a run that was begun under an optimizer's old name goes on, whichever name it is asked for by") {
  const Scratch scratch("old_name");
  const auto options_for = [&](const char* kind, const std::string& folder) {
    return run_of({Config::Map{{"kind", kind}, {"population", 4}, {"learning_rate", 0.1}}}, scratch / folder, 2);
  };
  const TrainResult whole = train(options_for("pgpe", "whole"));
  const auto content = run_content(scratch / "whole");
  // Both names have four letters, so that every length in the file holds.
  const auto rename = [](std::string bytes) {
    for (std::size_t at; (at = bytes.find("pgpe")) != std::string::npos;) bytes.replace(at, 4, "pepg");
    return bytes;
  };
  for (const char* kind : {"pgpe", "pepg"}) {
    INFO(kind);
    TrainOptions options = options_for("pgpe", std::string("resumed_") + kind);
    options.on_iteration = [](const IterationReport& report) { return report.iteration < 3; };
    train(options);
    for (const char* name : {"checkpoint.iap", "checkpoint.previous.iap"}) {
      const std::string payload = unseal(read_file(options.out / name), "IAPCHECK", 1, name), old = rename(payload);
      REQUIRE(old != payload);
      write_text(options.out / name, seal("IAPCHECK", 1, old));
    }
    write_text(options.out / "config.json", rename(read_file(options.out / "config.json")));
    TrainOptions again = options_for(kind, std::string("resumed_") + kind);
    again.resume = true;
    CHECK(train(again).parameters == whole.parameters);
    // config.json keeps the name as it was given.
    CHECK(differences(content, run_content(again.out)) == (std::string(kind) == "pgpe" ? "" : "config.json "));
  }
}

TEST_CASE("a checkpoint that lacks a single option of the optimizer goes on with its present default, in stages too") {
  for (const auto& entry : optimizer_catalog())
    for (const bool staged : {false, true}) {
      const bool keeps_population = entry.name != "es" && entry.name != "pgpe" && entry.name != "ars";
      const Scratch scratch("lacking");
      TrainOptions options = run_of({Config::Map{{"kind", entry.name}, {"population", 4}}}, scratch / "begun", 1);
      if (staged) options.curriculum = {{.through = 4}, {.episodes = 1}};
      if (staged && !keeps_population) options.curriculum.back().population = 6;
      options.on_iteration = [](const IterationReport& report) { return report.iteration < 3; };
      train(options);
      options.on_iteration = {};
      options.resume = true;
      const auto end_of = [&](const std::string& folder) {
        options.out = scratch / folder;
        train(options);
        return run_content(options.out);
      };
      const Config identity = parts_of(scratch / "begun/checkpoint.iap").first;
      std::filesystem::copy(scratch / "begun", scratch / "whole");
      const auto whole = end_of("whole");
      for (const auto& [option, value] : *identity.find("optimizer")->map()) {
        if (option == "kind" || option == "population") continue;
        CAPTURE(entry.name, option, staged);
        std::filesystem::copy(scratch / "begun", scratch / option);
        forget(option, scratch / option);
        CHECK(differences(whole, end_of(option)) == "");
      }
    }
}
