// The settings that a run leaves on record are the run's: they give it again, and another run's are refused.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.policy;
import iap.rollout;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* clock_policy = R"({"kind": "sequence", "blocks": [
    {"kind": "concat", "blocks": [{"kind": "observation"}, {"kind": "clock", "frequency": 3}]}, {"kind": "linear"}]})";
constexpr const char* token_policy = R"({"kind": "sequence", "blocks": [
    {"kind": "trans", "patch": 4, "d": 2, "values": "projection", "dv": 1, "compression": "learned", "tokens": 2}, {"kind": "linear"}]})";
constexpr const char* masked_policy = R"({"kind": "sequence", "blocks": [
    {"kind": "rank", "patch": 4, "d": 2, "top": 2, "query_weights": "learned"}, {"kind": "linear"}]})";

/// Settings under which the stages of a run take other defaults, or evaluations do.
struct Staged {
  const char *name, *env, *policy, *more;
};

const std::vector<Staged>& staged() {
  static const std::vector<Staged> cases{
      {"directions of a larger population", R"("time_limit": 5)", R"({"kind": "linear"})",
       R"("optimizer": {"kind": "ars", "population": 8}, "curriculum": [{"through": 1}, {"population": 16}])"},
      {"directions of a smaller population", R"("time_limit": 5)", R"({"kind": "linear"})",
       R"("optimizer": {"kind": "ars", "population": 16}, "curriculum": [{"through": 1}, {"population": 8}])"},
      {"a clock in stages", R"("time_limit": 40)", clock_policy,
       R"("optimizer": {"population": 4}, "curriculum": [{"through": 1, "action_repeat": 4}, {}])"},
      {"a clock in evaluations", R"("time_limit": 40)", clock_policy,
       R"("optimizer": {"population": 4}, "eval_env": {"action_repeat": 4})"},
      {"pooled pixels", R"("time_limit": 3, "pixels": [8, 8])", token_policy,
       R"("optimizer": {"population": 4}, "fit": "pool", "curriculum": [{"through": 1}, {"pixels": [16, 16]}])"},
      {"pixels pooled from the start", R"("time_limit": 3, "pixels": [16, 16])",
       R"({"kind": "sequence", "blocks": [{"kind": "rank", "patch": 4, "d": 2, "top": 2, "pool": 2}, {"kind": "linear"}]})",
       R"("optimizer": {"population": 4}, "fit": "pool", "curriculum": [{"through": 1}, {"pixels": [32, 32]}])"},
      {"members by the number of parameters", R"("time_limit": 3, "pixels": [16, 16])", masked_policy,
       R"("optimizer": {"kind": "sep_cma_es"}, "eval_env": {"pixels": [64, 64]},
          "curriculum": [{"through": 1, "time_limit": 2}, {}])"},
  };
  return cases;
}

TrainOptions run_of(Config config, const std::filesystem::path& out) {
  config["threads"] = 1;
  config["quiet"] = true;
  config["out"] = out.string();
  return read_train_options(config);
}

Config config_of(const Staged& staged) {
  return parse_json(text(R"({"env": {"name": "cartpole-balance", )", staged.env, R"(}, "policy": )", staged.policy, ", ",
                         staged.more, R"(, "iterations": 3, "eval_every": 1, "eval_episodes": 2, "confirm_episodes": 0})"),
                    "test");
}

Config record_of(const std::filesystem::path& out) { return parse_json(read_file(out / "config.json"), "config.json"); }

/// What a run comes to, what was asked for in so many words aside; that stands in its policy files, too.
std::map<std::string, std::string> content_of(const std::filesystem::path& out) {
  auto content = run_content(out);
  for (const char* name : {"best.iap", "final.iap"}) content.erase(name);
  Config record = record_of(out);
  record.map()->erase("given");
  content["config.json"] = to_json(record);
  return content;
}

}  // namespace

TEST_CASE("a run's config.json gives the run again, whatever follows from its stages") {
  const Scratch scratch("record");
  for (const Staged& one : staged()) {
    INFO(one.name);
    const auto first = scratch / (std::string(one.name) + " 1"), second = scratch / (std::string(one.name) + " 2");
    train(run_of(config_of(one), first));
    train(run_of(record_of(first), second));
    CHECK(differences(content_of(first), content_of(second)) == "");
  }
}

TEST_CASE("what stages take by themselves is another run's once it is written down") {
  const Scratch scratch("record_other");
  const auto refusal = [&](const Staged& one, const std::string& part, const char* key, int value) {
    TrainOptions options = run_of(config_of(one), scratch / one.name);
    options.iterations = 1;
    train(options);
    Config other = config_of(one);
    other[part][key] = value;
    TrainOptions again = run_of(other, scratch / one.name);
    again.resume = true;
    try {
      train(again);
      return std::string("no error");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  CHECK_THAT(refusal(staged()[0], "optimizer", "top", 4), ContainsSubstring("optimizer.top: not set before, 4 now"));
}

TEST_CASE("the members on record are those that play") {
  const Scratch scratch("record_members");
  const Staged& one = staged().back();
  TrainOptions options = run_of(config_of(one), scratch / "run");
  const Policy policy(options.policy, make_env(options.env)->spec().observation, 1);
  train(options);
  const Config record = record_of(options.out);
  const auto made = make_optimizer(options.optimizer, policy.parameters(), 0);
  CHECK(*record.find("optimizer")->find("population") == Config(static_cast<std::int64_t>(made->population())));
}

TEST_CASE("a stage of a host has numbers in range") {
  const auto refusal = [](const TrainStage& stage) {
    TrainOptions options = small_run({});
    options.curriculum = {stage, {}};
    try {
      train(options);
      return std::string("no error");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  CHECK_THAT(refusal({.through = 1, .episodes = 0}),
             ContainsSubstring("stage 1: option 'episodes' must be in [1, 16777215], got 0"));
  CHECK_THAT(refusal({.through = 1, .episodes = -3}), ContainsSubstring("got -3"));
  CHECK_THAT(refusal({.through = 0}), ContainsSubstring("option 'through' must be in [1, "));
  CHECK_THAT(refusal({.through = 1, .population = 1}), ContainsSubstring("option 'population' must be in [2, 1048576], got 1"));
}

TEST_CASE("a complete run that is resumed plays nothing") {
  const Scratch scratch("record_complete");
  TrainOptions options = small_run(scratch / "run");
  options.confirm_episodes = 0;
  train(options);
  const auto before = run_content(options.out);
  int made = 0;
  const EnvFactory envs = options.make_env;
  int steps = 0;
  struct Counting : EnvWrapper {
    Counting(std::unique_ptr<Env> env, int& steps) : EnvWrapper(std::move(env)), steps_(&steps) {}
    StepResult step(std::span<const float> action) override { return ++*steps_, EnvWrapper::step(action); }
    int* steps_;
  };
  options.threads = 1;
  options.make_env = [&] { return ++made, std::make_unique<Counting>(envs(), steps); };
  options.resume = true;
  const TrainResult again = train(options);
  CHECK(made > 0);
  CHECK(steps == 0);
  CHECK(differences(before, run_content(options.out)) == "");
  CHECK(again.iterations == 5);
  // Without what it left at its end, that is played again.
  std::filesystem::remove(options.out / "result.json");
  train(options);
  CHECK(steps > 0);
  CHECK(differences(before, run_content(options.out)) == "");
  // So it is where the table has another evaluation than the run ended with.
  const auto table = options.out / "metrics.csv";
  std::string rows = read_file(table);
  const std::string evaluation = read_rows(table).back().at(4);
  rows.replace(rows.rfind("," + evaluation + ","), evaluation.size() + 2, ",7,");
  write_text(table, rows);
  train(options);
  CHECK(differences(before, run_content(options.out)) == "");
}

TEST_CASE("the best policy of a run whose end alone evaluated it is kept where the run goes on") {
  const Scratch scratch("record_longer");
  TrainOptions options = small_run(scratch / "run");
  options.eval_every = 0;
  options.iterations = 3;
  REQUIRE(train(options).best_iteration == 3);
  const std::string best = read_file(options.out / "best.iap");
  const auto before = run_content(options.out);
  const auto kept = options.out / "best.3.iap";
  options.resume = true;
  train(options);
  CHECK(!std::filesystem::exists(kept));
  options.iterations = 5;
  write_text(kept, "another");
  CHECK_THAT(error_of(options), ContainsSubstring("best.3.iap' is another policy than the run's"));
  CHECK(differences(before, run_content(options.out)) == "");
  std::filesystem::remove(kept);
  std::filesystem::copy(options.out, scratch / "without");
  train(options);
  CHECK(read_file(kept) == best);
  TrainOptions without = options;
  without.out = scratch / "without";
  std::filesystem::remove(without.out / "metrics.csv");
  train(without);
  CHECK(read_file(without.out / "best.3.iap") == best);
  // The longer run is what it would be otherwise.
  TrainOptions whole = options;
  whole.resume = false;
  whole.out = scratch / "whole";
  train(whole);
  CHECK(differences(run_content(whole.out), run_content(options.out)) == "");
  // An evaluation that the longer run has, too, is in its files.
  TrainOptions scheduled = small_run(scratch / "scheduled");
  scheduled.iterations = 2;
  REQUIRE(train(scheduled).best_iteration == 2);
  scheduled.resume = true;
  scheduled.iterations = 3;
  train(scheduled);
  CHECK(!std::filesystem::exists(scheduled.out / "best.2.iap"));
}

TEST_CASE("a run that goes on with other functions of the C library says so, of which the first programs kept no record") {
  const Scratch scratch("libm");
  TrainOptions options = small_run(scratch / "run");
  const auto goes_on = [&](int iteration, const auto& change) {
    Config config = parse_json(read_file(options.out / "config.json"), "config.json");
    change(*config["libraries"].map());
    write_text(options.out / "config.json", to_json(config));
    options.resume = true;
    options.on_iteration = [=](const IterationReport& report) { return report.iteration < iteration; };
    train(options);
    return read_file(options.out / "log.txt");
  };
  options.on_iteration = [](const IterationReport& report) { return report.iteration < 2; };
  train(options);
  CHECK_THAT(goes_on(3, [](Config::Map& libraries) { CHECK(libraries.erase("libm") == 1); }), !ContainsSubstring("so far"));
  CHECK_THAT(goes_on(4, [](Config::Map& libraries) { libraries["libm"] = libraries["glibc"] = "1.0"; }),
             ContainsSubstring("the run was made with glibc 1.0 so far") && !ContainsSubstring("functions of the C library"));
  CHECK_THAT(goes_on(5, [](Config::Map& libraries) { libraries["libm"] = "12"; }),
             ContainsSubstring("the run was made with functions of the C library that come to 12 so far"));
}
