#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.rollout;
import iap.train;

#include "../comma_locale.hpp"
#include "fake_env.hpp"
#include "run_files.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// Content and result of the run that nothing stopped.
struct Whole {
  std::map<std::string, std::string> content;
  TrainResult result;
};

Whole uninterrupted(TrainOptions options, const std::filesystem::path& out) {
  options.out = out;
  options.resume = false;
  const TrainResult result = train(options);
  return {run_content(out), result};
}

void check_same(const Whole& whole, const TrainResult& result, const std::filesystem::path& out) {
  CHECK(differences(whole.content, run_content(out)) == "");
  CHECK(result.parameters == whole.result.parameters);
  CHECK(result.best_parameters == whole.result.best_parameters);
  CHECK(result.first_eval == whole.result.first_eval);
  CHECK(result.last_eval == whole.result.last_eval);
  CHECK(result.best_eval == whole.result.best_eval);
  CHECK(result.iterations == whole.result.iterations);
  CHECK(result.stop_reason == whole.result.stop_reason);
}

std::string last_line(std::string text) {
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

TEST_CASE("a run stopped after any iteration and resumed equals the uninterrupted one") {
  const Scratch scratch("resume");
  for (const int every : {1, 3}) {
    TrainOptions options = small_run({});
    options.checkpoint_every = every;
    const Whole whole = uninterrupted(options, scratch / ("whole" + std::to_string(every)));
    for (std::uint32_t stop = 1; stop <= 5; ++stop) {
      INFO("stopped after " << stop << ", checkpoint every " << every);
      options.out = scratch / ("stopped" + std::to_string(every) + std::to_string(stop));
      options.resume = true;
      options.on_iteration = [&](const IterationReport& report) { return report.iteration < stop; };
      CHECK(train(options).stop_reason == (stop < 5 ? "on_iteration" : "iterations"));
      options.on_iteration = {};
      check_same(whole, train(options), options.out);
    }
  }
}

TEST_CASE("a run made longer or finished earlier equals one that was planned so") {
  const Scratch scratch("longer");
  for (const int first : {0, 1, 2, 3, 4}) {
    INFO(first);
    TrainOptions options = small_run(scratch / std::to_string(first));
    options.iterations = first;
    train(options);
    options.resume = true;
    options.iterations = 5;
    const Whole whole = uninterrupted(options, scratch / ("whole" + std::to_string(first)));
    check_same(whole, train(options), options.out);
    // As if the end had been killed between its files.
    write_text(options.out / "best.iap", "stale");
    std::filesystem::remove(options.out / "final.iap");
    check_same(whole, train(options), options.out);
  }
  TrainOptions options = small_run(scratch / "stopped");
  options.on_iteration = [](const IterationReport& report) { return report.iteration < 3; };
  train(options);
  options.on_iteration = {};
  options.resume = true;
  options.iterations = 3;
  check_same(uninterrupted(options, scratch / "whole_stopped"), train(options), options.out);
}

TEST_CASE("a run that on_iteration ends is evaluated where it stands") {
  const Scratch scratch("ended");
  for (const int every : {0, 2}) {
    TrainOptions options = small_run(scratch / ("run" + std::to_string(every)));
    options.eval_every = every;
    const Whole whole = uninterrupted(options, scratch / ("whole" + std::to_string(every)));
    options.iterations = 3;
    const Whole three = uninterrupted(options, scratch / ("three" + std::to_string(every)));
    options.iterations = 5;
    options.on_iteration = [](const IterationReport& report) { return report.iteration < 3; };
    options.log = {"jsonl"};
    options.resume = true;
    for (const char* again : {"", "as it stands, once more"}) {
      INFO(again);
      const TrainResult result = train(options);
      CHECK(result.stop_reason == "on_iteration");
      CHECK(result.last_eval == three.result.last_eval);
      CHECK(result.best_eval == three.result.best_eval);
      CHECK(result.best_iteration == three.result.best_iteration);
      CHECK(differences(three.content, run_content(options.out)) == "config.json result.json ");
      const Config row = parse_json(last_line(read_file(options.out / "metrics.jsonl")), "metrics.jsonl");
      CHECK(row.find("eval_mean")->number().value() == result.last_eval);
    }
    options.on_iteration = {};
    const TrainResult result = train(options);
    CHECK(result.parameters == whole.result.parameters);
    CHECK(result.best_eval == whole.result.best_eval);
    CHECK(differences(whole.content, run_content(options.out)) == "config.json ");
  }
}

TEST_CASE("an interrupt at any moment leaves a run that resumes bit by bit") {
  const Scratch scratch("interrupt");
  TrainOptions options = small_run({});
  const Whole whole = uninterrupted(options, scratch / "whole");
  options.resume = true;
  for (int position = 1; position < 700; position += 13) {
    INFO("interrupt at step " << position);
    options.out = scratch / std::to_string(position);
    options.checkpoint_every = position % 2 ? 1 : 3;
    std::atomic<int> steps = 0;
    options.make_env = fake_envs([&](auto...) {
      if (++steps == position) request_interrupt();
    });
    const TrainResult part = train(options);
    clear_interrupt();
    CHECK(part.stop_reason == (steps >= position && part.iterations < 5 ? "interrupted" : "iterations"));
    CHECK(part.parameters.size() == whole.result.parameters.size());
    if (part.iterations > 0) CHECK(read_rows(options.out / "metrics.csv").size() == part.iterations + 2);
    options.make_env = fake_envs();
    options.checkpoint_every = 1;
    check_same(whole, train(options), options.out);
  }
}

TEST_CASE("an interrupt while a run's end is evaluated takes nothing from its result") {
  const Scratch scratch("interrupt_end");
  TrainOptions options = small_run(scratch / "run");
  const TrainResult whole = train(options);
  // Its end, which otherwise is taken from there.
  std::filesystem::remove(options.out / "result.json");
  options.resume = true;
  options.make_env = fake_envs([](auto...) { request_interrupt(); });
  const TrainResult again = train(options);
  clear_interrupt();
  CHECK(again.stop_reason == "interrupted");
  CHECK(again.parameters == whole.parameters);
}

TEST_CASE("an interrupt in an evaluation leaves a policy that claims no other's return") {
  TrainOptions options = small_run({});
  std::atomic<int> steps = 0;
  // Evaluation of the beginning, two iterations, a part of the second evaluation.
  options.make_env = fake_envs([&](auto...) {
    if (++steps == 36 + 2 * 96 + 5) request_interrupt();
  });
  options.threads = 1;
  const TrainResult result = train(options);
  clear_interrupt();
  CHECK(result.iterations == 1);
  REQUIRE(result.policy);
  CHECK_FALSE(result.policy->metadata.find("return"));
}

TEST_CASE("a run that goes on has no last policy until it ends again") {
  const Scratch scratch("goes_on");
  TrainOptions options = small_run(scratch / "run");
  train(options);
  REQUIRE(std::filesystem::exists(options.out / "final.iap"));
  options.resume = true;
  options.iterations = 50;
  options.make_env = fake_envs([](auto...) { request_interrupt(); });
  train(options);
  clear_interrupt();
  CHECK_FALSE(std::filesystem::exists(options.out / "final.iap"));
}

TEST_CASE("after an interrupt no worker begins another step") {
  const Scratch scratch("latency");
  TrainOptions options = small_run(scratch / "run");
  std::atomic<int> steps = 0, late = 0;
  options.make_env = fake_envs(
      [&](auto...) {
        if (interrupt_requested()) ++late;
        if (++steps == 40) request_interrupt();
      },
      100000);
  const TrainResult result = train(options);
  clear_interrupt();
  CHECK(result.stop_reason == "interrupted");
  // The other of two workers may have been past its look at the flag.
  CHECK(late <= 1);
}

TEST_CASE("metrics are cut back to the checkpoint, a torn row included") {
  const Scratch scratch("torn");
  TrainOptions options = small_run(scratch / "run");
  const Whole whole = uninterrupted(options, scratch / "whole");
  for (const std::string tail : {"6,1.5", "6", "4,1,2,3\n", "6,0,0,0,0,0,0,0,0,0,0,0,0,0\n7,", "\n", "garbage\n\0more"}) {
    INFO(tail);
    options.out = scratch / ("run" + std::to_string(tail.size()));
    options.resume = true;
    options.on_iteration = [](const IterationReport& report) { return report.iteration < 3; };
    train(options);
    options.on_iteration = {};
    std::string table = read_file(options.out / "metrics.csv");
    write_text(options.out / "metrics.csv", table + tail);
    check_same(whole, train(options), options.out);
  }
}

TEST_CASE("rows beyond the checkpoint are played again, and told") {
  const Scratch scratch("beyond");
  TrainOptions options = small_run(scratch / "run");
  const Whole whole = uninterrupted(options, scratch / "whole");
  const auto killed = scratch / "killed";
  options.checkpoint_every = 3;
  options.on_iteration = [&](const IterationReport& report) {
    if (report.iteration == 4) std::filesystem::copy(options.out, killed);
    return true;
  };
  train(options);
  options.on_iteration = {};
  options.checkpoint_every = 1;
  options.resume = true;
  options.out = killed;
  check_same(whole, train(options), killed);
  const std::string log = read_file(killed / "log.txt");
  CHECK_THAT(log, ContainsSubstring("metrics.csv' has 1 iteration beyond the checkpoint, which is played again"));
  CHECK(log.find("warning") == std::string::npos);
  // More than checkpoints so close to each other leave.
  options.out = scratch / "mixed";
  options.on_iteration = [](const IterationReport&) { return false; };
  train(options);
  options.on_iteration = {};
  write_text(options.out / "metrics.csv", read_file(scratch / "whole/metrics.csv"));
  check_same(whole, train(options), options.out);
  const std::string mixed = read_file(options.out / "log.txt");
  CHECK_THAT(mixed, ContainsSubstring("warning: ") &&
                        ContainsSubstring("metrics.csv' has 4 iterations beyond the checkpoint, which are played again"));
  // Nothing of this where the two are at one.
  CHECK(train(options).iterations == 5);
  CHECK(read_file(options.out / "log.txt").substr(mixed.size()).find("beyond") == std::string::npos);
}

TEST_CASE("a table that came out of a spreadsheet keeps its run from going on, with the remedy") {
  const Scratch scratch("spreadsheet");
  TrainOptions options = small_run(scratch / "run");
  options.on_iteration = [](const IterationReport& report) { return report.iteration < 3; };
  train(options);
  options.on_iteration = {};
  options.resume = true;
  const std::string table = read_file(options.out / "metrics.csv");
  const auto refused = [&](const std::string& changed, const char* cause) {
    write_text(options.out / "metrics.csv", changed);
    CHECK_THROWS_WITH(train(options), ContainsSubstring("metrics.csv") && ContainsSubstring(cause) && ContainsSubstring("sed -i"));
    CHECK(read_file(options.out / "metrics.csv") == changed);
  };
  std::string other;
  for (const char c : table) other += c == '\n' ? "\r\n" : std::string(1, c);
  refused(other, "CR LF");
  refused("\xEF\xBB\xBF" + table, "byte order mark");
  write_text(options.out / "metrics.csv", table);
  CHECK(train(options).iterations == 5);
}

TEST_CASE("a resumed run counts its time on") {
  const Scratch scratch("time");
  TrainOptions options = small_run(scratch / "run");
  options.on_iteration = [](const IterationReport& report) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return report.iteration < 3;
  };
  train(options);
  const Rows first = read_rows(options.out / "metrics.csv");
  const double before = std::stod(first.back()[first.back().size() - 2]);
  CHECK(before > 0.05);  // two pauses came before the last row
  options.on_iteration = {};
  options.resume = true;
  CHECK(train(options).seconds > before);
  double seconds = 0;
  const Rows table = read_rows(options.out / "metrics.csv");
  for (std::size_t row = 1; row < table.size(); ++row) {
    const double now = std::stod(table[row][table[row].size() - 2]);
    CHECK(now > seconds);
    seconds = now;
  }
}

TEST_CASE("resuming with other settings names the first that differs") {
  const Scratch scratch("settings");
  TrainOptions options = small_run(scratch / "run");
  train(options);
  options.resume = true;
  const auto before = run_content(options.out);
  const auto message = [&](auto change) {
    TrainOptions changed = options;
    change(changed);
    try {
      train(changed);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(message([](auto& o) { o.seed = 10; }), ContainsSubstring("seed: 9 before, 10 now"));
  CHECK_THAT(message([](auto& o) { o.optimizer["learning_rate"] = 0.2; }),
             ContainsSubstring("optimizer.learning_rate: 0.1 before, 0.2 now"));
  CHECK_THAT(message([](auto& o) { o.optimizer["sigma"] = 0.2; }), ContainsSubstring("optimizer.sigma: 0.1 before, 0.2 now"));
  CHECK_THAT(message([](auto& o) { o.make_env = fake_envs({}, 13); }), ContainsSubstring("env.steps: 12 before, 13 now"));
  CHECK_THAT(message([](auto& o) { o.policy["activation"] = "none"; }), ContainsSubstring("policy.activation"));
  CHECK_THAT(message([](auto& o) { o.episodes = 1; }), ContainsSubstring("episodes"));
  CHECK_THAT(message([](auto& o) { o.eval_every = 3; }), ContainsSubstring("eval_every"));
  CHECK_THAT(message([](auto& o) { o.eval_episodes = 2; }), ContainsSubstring("eval_episodes"));
  CHECK_THAT(message([](auto& o) { o.episode_seeds = EpisodeSeeds::own; }),
             ContainsSubstring("episode_seeds: \"common\" before, \"own\" now"));
  CHECK(differences(before, run_content(options.out)) == "");
  // A default that is written out is the same setting.
  CHECK(message([](auto& o) { o.optimizer["sigma"] = 0.1; }) == "no error");
  CHECK(message([](auto& o) { o.optimizer["kind"] = "es"; }) == "no error");
  CHECK(message([](auto& o) { o.curriculum = {TrainStage{}}; }) == "no error");
  CHECK_THAT(message([](auto& o) { o.curriculum = {TrainStage{.episodes = 3}}; }), ContainsSubstring("curriculum"));
  CHECK(message([](auto& o) { o.threads = 1; }) == "no error");
  CHECK(message([](auto& o) { o.checkpoint_every = 2; }) == "no error");
}

namespace {

/// A host's own environment that `change` makes what it is.
EnvFactory own_env(const std::function<void(EnvSpec&)>& change, bool wrapped = false) {
  class Own final : public FakeEnv {
   public:
    explicit Own(const std::function<void(EnvSpec&)>& change) { change(spec_); }
  };
  return [change, wrapped]() -> std::unique_ptr<Env> {
    auto env = std::make_unique<Own>(change);
    if (wrapped) return time_limit(std::move(env), 8);
    return env;
  };
}

}  // namespace

TEST_CASE("a host's environment is known again by its spec in wrappers, too, which describe themselves, and by an empty config") {
  const Scratch scratch("wrapped");
  for (const bool wrapped : {true, false}) {
    const auto named = [wrapped](const char* name) {
      return own_env(
          [wrapped, name](EnvSpec& spec) {
            spec.name = name;
            spec.config = wrapped ? Config() : Config(Config::Map{});
          },
          wrapped);
    };
    TrainOptions options = small_run(scratch / (wrapped ? "wrapped" : "empty"));
    options.make_env = named("left");
    train(options);
    options.resume = true;
    CHECK(error_of(options) == "no error");
    options.make_env = named("right");
    CHECK_THAT(error_of(options), ContainsSubstring("env_spec.name: \"left\" before, \"right\" now"));
  }
}

TEST_CASE("a host's environment that no checkpoint could hold is refused before its first episode") {
  const Scratch scratch("unkept");
  const auto refused = [&](const std::function<void(EnvSpec&)>& change) {
    TrainOptions options = small_run(scratch / "run");
    options.make_env = own_env(change);
    const std::string message = error_of(options);
    CHECK_FALSE(std::filesystem::exists(options.out));
    return message;
  };
  const std::string where = "train: the environment's own env.torque", remedy = " is nothing that a checkpoint can hold";
  CHECK_THAT(refused([](EnvSpec& spec) { spec.config["torque"] = HUGE_VAL; }), StartsWith(where + " (\"inf\")" + remedy));
  CHECK_THAT(refused([](EnvSpec& spec) { spec.config["torque"] = std::nan(""); }), StartsWith(where + " (\"nan\")" + remedy));
  CHECK_THAT(refused([](EnvSpec& spec) { spec.config["torque"] = Config::List{1, "caf\xe9"}; }), StartsWith(where + ".2 ("));
  CHECK_THAT(refused([](EnvSpec& spec) {
               for (int level = 0; level < 250; ++level) spec.config = Config::Map{{"inner", spec.config}};
             }),
             ContainsSubstring("nested more than 200 levels deep"));
  CHECK_THAT(refused([](EnvSpec& spec) { spec.name = "caf\xe9"; }), ContainsSubstring("its name is no UTF-8"));
}

TEST_CASE("a host's environment without a config is known again by its spec") {
  class Nameless final : public FakeEnv {
   public:
    explicit Nameless(int steps = 12, double control_dt = 0.1, float action_low = -1) : FakeEnv(steps) {
      spec_.config = {};
      spec_.control_dt = control_dt;
      spec_.action_low = action_low;
    }
  };
  const Scratch scratch("nameless");
  TrainOptions options = small_run(scratch / "run");
  options.make_env = [] { return std::make_unique<Nameless>(); };
  train(options);
  options.resume = true;
  TrainOptions other = options;
  other.make_env = [] { return std::make_unique<Nameless>(13); };
  CHECK_THAT(error_of(other), ContainsSubstring("env_spec.max_steps: 12 before, 13 now"));
  other.make_env = [] { return std::make_unique<Nameless>(12, 0.2); };
  CHECK_THAT(error_of(other), ContainsSubstring("env_spec.control_dt: 0.1 before, 0.2 now"));
  other.make_env = [] { return std::make_unique<Nameless>(12, 0.1, -2.0F); };
  CHECK_THAT(error_of(other), ContainsSubstring("env_spec.action_low: -1.0 before, -2.0 now"));
  CHECK(error_of(options) == "no error");

  // As an earlier program would have written it.
  const auto path = options.out / "checkpoint.iap";
  std::string payload = unseal(read_file(path), "IAPCHECK", 1, "test");
  const auto begin = payload.find(R"("env_spec":)"), end = payload.find("},", begin) + 2;
  REQUIRE(begin != std::string::npos);
  write_text(path, seal("IAPCHECK", 1, payload.replace(begin, end - begin, end - begin, ' ')));
  CHECK(error_of(other) == "no error");
}

TEST_CASE("a default that is another one by now is refused by its name") {
  const Scratch scratch("default");
  TrainOptions options = small_run(scratch / "run");
  train(options);
  // As an earlier program with another default would have written it.
  const auto path = options.out / "checkpoint.iap";
  std::string payload = unseal(read_file(path), "IAPCHECK", 1, "test");
  const std::string present = R"("beta1":0.9,)", earlier = R"("beta1":0.8,)";
  const auto at = payload.find(present);
  REQUIRE(at != std::string::npos);
  write_text(path, seal("IAPCHECK", 1, payload.replace(at, present.size(), earlier)));
  options.resume = true;
  CHECK_THROWS_WITH(train(options), ContainsSubstring("optimizer.beta1: 0.8 before, 0.9 now"));
  options.optimizer["beta1"] = 0.8;
  CHECK(train(options).iterations == 5);
}

TEST_CASE("no locale of the host's changes a run's files") {
  const Scratch scratch("locale");
  TrainOptions options = small_run({});
  const Whole plain = uninterrupted(options, scratch / "plain");
  const CommaLocale here;
  options.out = scratch / "here";
  options.resume = true;
  options.on_iteration = [](const IterationReport& report) { return report.iteration < 3; };
  train(options);
  options.on_iteration = {};
  check_same(plain, train(options), options.out);
}

TEST_CASE("a run that goes on with other instructions or libraries says what that means") {
  const Scratch scratch("instructions");
  TrainOptions options = small_run(scratch / "run");
  options.on_iteration = [](const IterationReport& report) { return report.iteration < 2; };
  train(options);
  std::string config = read_file(options.out / "config.json");
  const std::string now = best_instruction_set(instruction_sets());
  config.replace(config.find(now), now.size(), "ABACUS");
  const std::string mujoco = *parse_json(config, "config.json").find("libraries")->find("MuJoCo")->string();
  config.replace(config.find(mujoco), mujoco.size(), "0.1");
  write_text(options.out / "config.json", config);
  options.on_iteration = {};
  options.resume = true;
  train(options);
  CHECK_THAT(read_file(options.out / "log.txt"),
             ContainsSubstring("the run was made with ABACUS instructions so far, goes on with " + now));
  CHECK_THAT(read_file(options.out / "log.txt"),
             ContainsSubstring("the run was made with MuJoCo 0.1 so far, goes on with " + mujoco));
  CHECK_THAT(read_file(options.out / "config.json"), ContainsSubstring(now));
}
