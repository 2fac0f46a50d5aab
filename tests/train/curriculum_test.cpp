// Runs in stages: other episodes, populations, environments and image sizes, one after the other.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"
// After run_files.hpp.
#include "pixel_runs.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

double column(const IterationReport& report, const std::string& name) {
  for (const auto& [key, value] : report.columns)
    if (key == name) return value;
  throw Error("no column " + name);
}

/// 5 iterations: two small ones, two with another population, one with more episodes.
TrainOptions staged_run(const std::filesystem::path& out) {
  TrainOptions options = small_run(out);
  options.curriculum = {{.through = 2}, {.through = 4, .episodes = 1, .population = 10}, {.episodes = 3}};
  return options;
}

/// Images that grow, then longer episodes, then a larger population.
TrainOptions growing_run(const std::filesystem::path& out) {
  TrainOptions options = pixel_run(out, 16, 24);
  Config first = pixels(8, 12);
  first["time_limit"] = 24;
  options.curriculum = {{.through = 2, .env = first}, {.through = 3}, {.population = 6}};
  return options;
}

}  // namespace

TEST_CASE("stages set episodes and population, iteration by iteration") {
  std::vector<std::pair<double, double>> seen;
  double steps = 0;
  TrainOptions options = staged_run({});
  options.on_iteration = [&](const IterationReport& report) {
    seen.emplace_back(column(report, "stage"), column(report, "steps") - steps);
    steps = column(report, "steps");
    return true;
  };
  train(options);
  // Members x episodes x 12 steps.
  CHECK(seen ==
        std::vector<std::pair<double, double>>{{1, 4 * 2 * 12}, {1, 4 * 2 * 12}, {2, 10 * 12}, {2, 10 * 12}, {3, 4 * 3 * 12}});
}

TEST_CASE("a curriculum that changes nothing gives the run without one") {
  TrainOptions options = small_run({});
  const TrainResult plain = train(options);
  options.curriculum = {{.through = 2}, {.through = 3, .episodes = 2, .population = 4}, {}};
  const TrainResult staged = train(options);
  CHECK(staged.parameters == plain.parameters);
  CHECK(staged.best_eval == plain.best_eval);
}

TEST_CASE("a stage with another environment begins a new watch for a plateau") {
  TrainOptions options = small_run({});
  options.make_env = {};
  options.env = Config::Map{{"name", "cartpole-balance"}, {"time_limit", 4}};
  Config longer = options.env;
  longer["time_limit"] = 40;
  options.curriculum = {{.through = 1, .env = longer}, {}};
  options.iterations = 3;
  options.optimizer["plateau"] = Config::Map{{"patience", 2}, {"window", 1}};
  double rate = 0;
  options.on_iteration = [&](const IterationReport& report) {
    rate = column(report, "learning_rate");
    return true;
  };
  train(options);
  CHECK(rate == 0.1);
}

TEST_CASE("a run in stages that stops anywhere and goes on equals the uninterrupted one") {
  const Scratch scratch("stages");
  for (const bool growing : {false, true}) {
    CAPTURE(growing);
    const auto make = [&](const std::string& name) { return growing ? growing_run(scratch / name) : staged_run(scratch / name); };
    const std::string kind = growing ? "growing" : "staged";
    TrainOptions options = make(kind + "_whole");
    const TrainResult whole = train(options);
    const auto content = run_content(options.out);
    for (std::uint32_t stop = 1; stop < 5; ++stop) {
      CAPTURE(stop);
      options = make(kind + std::to_string(stop));
      options.resume = true;
      options.threads = 1;
      options.on_iteration = [&](const IterationReport& report) { return report.iteration < stop; };
      train(options);
      // What it leaves when it stops is a policy of the last stage, whatever stage it stands in.
      CHECK(read_policy_file(options.out / "final.iap").policy.size() == whole.parameters.size());
      options.on_iteration = {};
      options.threads = 2;
      const TrainResult result = train(options);
      CHECK(differences(content, run_content(options.out)) == "");
      CHECK(result.parameters == whole.parameters);
    }
    // Planned shorter, then made longer.
    options = make(kind + "_longer");
    options.iterations = 3;
    train(options);
    options.resume = true;
    options.iterations = 5;
    train(options);
    CHECK(differences(content, run_content(options.out)) == "");
  }
}

TEST_CASE("a search of CMA-ES that began before its stage restarts where it would have, however often the run stopped") {
  const Scratch scratch("stages_restarts");
  TrainOptions options = small_run({});
  options.optimizer = Config::Map{{"kind", "sep_cma_es"}, {"population", 4}, {"restarts", "ipop"}, {"tol_x_up", 1}};
  options.curriculum = {{.through = 2}, {.episodes = 1}};
  options.iterations = 8;
  CHECK(dependences(options, scratch) == "");
  const auto rows = read_rows(scratch / "whole" / "metrics.csv");
  const auto restarts = static_cast<std::size_t>(std::ranges::find(rows.front(), "restarts") - rows.front().begin());
  CHECK(rows.back().at(restarts) != "0");
}

TEST_CASE("an interrupt at any moment of a run in stages leaves one that resumes bit by bit") {
  const Scratch scratch("stages_interrupt");
  TrainOptions options = staged_run(scratch / "whole");
  train(options);
  const auto content = run_content(options.out);
  options.resume = true;
  for (int position = 1; position < 800; position += 37) {
    CAPTURE(position);
    options.out = scratch / std::to_string(position);
    std::atomic<int> steps = 0;
    options.make_env = fake_envs([&](auto...) {
      if (++steps == position) request_interrupt();
    });
    train(options);
    clear_interrupt();
    options.make_env = fake_envs();
    train(options);
    CHECK(differences(content, run_content(options.out)) == "");
  }
}

TEST_CASE("evaluations of a run whose images grow play the last stage throughout") {
  const Scratch scratch("growing");
  TrainOptions options = growing_run(scratch / "run");
  const TrainResult result = train(options);
  const PolicyFile best = open_policy(options.out);
  const Config env = *best.metadata.find("env");
  CHECK(*env.find("pixels") == Config(Config::List{16, 24}));
  CHECK(*env.find("time_limit") == Config(48));
  CHECK(evaluate(best.policy, env, options.eval_episodes, options.seed, 1).mean == result.best_eval);
  // The first evaluation: the drawn policy of the first stage, brought to the size of the last.
  const EnvSpec small =
      make_env(Config::Map{{"name", "cartpole-balance"}, {"pixels", Config::List{8, 12}}, {"action_repeat", 8}})->spec();
  Policy drawn(options.policy, small.observation, small.action_size);
  drawn.initialise(options.seed);
  const Policy large = resized(drawn, best.policy.observation());
  CHECK(evaluate(large, env, options.eval_episodes, options.seed, 1).mean == result.first_eval);
}

TEST_CASE("a policy that pools goes through growing images with the same parameters, whatever the optimizer") {
  const Scratch scratch("pooling");
  for (const char* kind : {"es", "sep_cma_es"}) {
    CAPTURE(kind);
    TrainOptions options = pixel_run(scratch / kind, 16, 24);
    options.optimizer = Config::Map{{"kind", kind}, {"population", 6}};
    options.curriculum = {{.through = 2, .env = pixels(8, 12)}, {}};
    options.fit = Fit::pool;
    options.on_iteration = [](const IterationReport& report) { return report.iteration != 3; };
    train(options);
    options.on_iteration = {};
    options.resume = true;
    const TrainResult result = train(options);
    const EnvSpec small =
        make_env(Config::Map{{"name", "cartpole-balance"}, {"pixels", Config::List{8, 12}}, {"action_repeat", 8}})->spec();
    Policy drawn(options.policy, small.observation, small.action_size);
    drawn.initialise(options.seed);
    CHECK(result.parameters.size() == drawn.size());
    const Policy large = resized(drawn, result.policy->policy.observation(), Fit::pool);
    CHECK(evaluate(large, options.env, options.eval_episodes, options.seed, 1).mean == result.first_eval);
    options.fit = Fit::resample;
    CHECK_THAT(refusal(options),
               ContainsSubstring("cannot resume") || ContainsSubstring("can change them on the way are es, pgpe, ars"));
    options.fit = Fit::pool;
    options.curriculum = {{.through = 2, .env = pixels(12, 12)}, {}};
    CHECK_THAT(refusal(options), ContainsSubstring("stage 2: ") && ContainsSubstring("no whole multiple of the 12 x 12"));
  }
}

TEST_CASE("clocks follow the environment unless their time is written down as another one, however images are followed") {
  for (const char* fit : {"resample", "pool"})
    for (const double written : {0.0, 0.01, 0.02})
      for (const char* more : {R"("eval_env": {"action_repeat": 4})", R"("eval_env": {"action_repeat": 4, "pixels": [16, 24]})",
                               R"("curriculum": [{"through": 1}, {"action_repeat": 4}])",
                               R"("curriculum": [{"through": 1}, {"action_repeat": 4, "pixels": [16, 24]}])"}) {
        INFO(fit << " " << written << " " << more);
        const std::string dt = written > 0 ? text(R"(, "dt": )", written) : "";
        const std::string policy = text(R"({"kind": "sequence", "blocks": [{"kind": "concat", "blocks": [
            {"kind": "rank", "patch": 2, "top": 1, "d": 2}, {"kind": "clock")",
                                        dt, R"(}]}, {"kind": "linear"}]})");
        const std::string run = R"(, "optimizer": {"population": 4}, "iterations": 2, "eval_every": 0, "eval_episodes": 1,
            "confirm_episodes": 0, "quiet": true, "threads": 1, )";
        const std::string env = R"({"env": {"name": "cartpole-balance", "pixels": [8, 12], "time_limit": 20}, "policy": )";
        const Config config = parse_json(text(env, policy, run, R"("fit": ")", fit, R"(", )", more, "}"), "test");
        const TrainResult result = train(read_train_options(config));
        const Config& blocks = result.policy->policy.architecture();
        CHECK(entry_at(blocks, "blocks.1.blocks.2.dt")->number().value_or(0) == (written == 0.02 ? 0.02 : 0.04));
      }
}

TEST_CASE("a way to follow to other sizes is refused where there are none") {
  const Scratch scratch("idle_fit");
  TrainOptions options = pixel_run(scratch / "run", 16, 24);
  train(options);
  options.init = options.out.string();
  options.out.clear();
  options.env["pixels"] = Config::List{32, 48};
  CHECK(refusal(options) == "no error");
  options.fit = Fit::pool;
  CHECK_THAT(refusal(options), ContainsSubstring("option 'fit'") && ContainsSubstring("neither is there") &&
                                   ContainsSubstring("'pool' of the blocks"));
  options.eval_env = pixels(64, 96);
  CHECK(refusal(options) == "no error");
}

TEST_CASE("stages that make no sense are refused with their number") {
  const auto said = [](auto change) {
    TrainOptions options = pixel_run({}, 16, 24);
    change(options);
    return refusal(options);
  };
  CHECK_THAT(said([](auto& o) { o.curriculum = {{.through = 3}, {.through = 3}, {}}; }),
             ContainsSubstring("stage 2: 'through' is 3, but the stage before lasts through iteration 3; it must rise"));
  CHECK_THAT(said([](auto& o) { o.curriculum = {{}, {}}; }), ContainsSubstring("stage 1: option 'through' is missing"));
  CHECK_THAT(said([](auto& o) { o.curriculum = {{.through = 1, .env = Config::Map{{"pixls", 3}}}, {}}; }),
             ContainsSubstring("stage 1") && ContainsSubstring("did you mean 'pixels'?"));
  CHECK_THAT(said([](auto& o) { o.curriculum = {{.through = 1, .population = 5}, {}}; }), ContainsSubstring("must be even"));
  CHECK_THAT(said([](auto& o) { o.curriculum = {{.through = 1}, {.env = Config::Map{{"state", true}}}}; }),
             ContainsSubstring("stage 2") && ContainsSubstring("only the sizes of images may differ"));
  for (const char* kind : {"cma_es", "simple_ga"})
    CHECK_THAT(said([&](auto& o) {
                 o.optimizer = Config::Map{{"kind", kind}, {"population", 6}};
                 o.curriculum = {{.through = 1, .env = pixels(8, 12)}, {}};
               }),
               ContainsSubstring("stage 2: ") && ContainsSubstring("can change them on the way are es, pgpe, ars"));
  // Where neither changes, any optimizer goes through stages.
  CHECK(said([](auto& o) {
          o.optimizer = Config::Map{{"kind", "sep_cma_es"}, {"population", 6}};
          o.curriculum = {{.through = 1, .episodes = 1, .env = Config::Map{{"time_limit", 16}}}, {}};
          o.iterations = 2;
        }) == "no error");
  CHECK_THAT(said([](auto& o) {
               o.make_env = fake_envs();
               o.policy = fake_policy();
               o.curriculum = {{.through = 1, .env = pixels(8, 12)}, {}};
             }),
             ContainsSubstring("the host builds itself"));
  const auto read = [](const char* json) {
    return std::string("{\"env\": \"cheetah-run\", \"policy\": {}, \"curriculum\": ") + json + "}";
  };
  const auto reads = [&](const char* json) { return read_train_options(parse_json(read(json), "test")); };
  CHECK_THROWS_WITH(reads("3"), ContainsSubstring("option 'curriculum' must be a list of stages"));
  CHECK_THROWS_WITH(reads("[3]"), ContainsSubstring("stage 1: expected a table of options, got 3"));
  CHECK_THROWS_WITH(reads(R"([{"through": 0}])"), ContainsSubstring("stage 1") && ContainsSubstring("'through'"));
  CHECK_THROWS_WITH(reads(R"([{"through": 2}, {"until": 9}])"), ContainsSubstring("stage 2") && ContainsSubstring("'through'"));
  CHECK_THROWS_WITH(reads(R"([{"name": "walker-walk"}])"), ContainsSubstring("option 'name' cannot change"));
}

TEST_CASE("the settings of a run in stages are read again, and other stages are another run") {
  const Scratch scratch("stages_settings");
  TrainOptions options = growing_run(scratch / "run");
  options.iterations = 3;
  train(options);
  TrainOptions again = read_train_options(parse_json(read_file(options.out / "config.json"), "config.json"));
  again.out = options.out;
  again.resume = again.quiet = true;
  again.iterations = 4;
  CHECK(train(again).iterations == 4);
  again.curriculum[1].population = 8;
  CHECK_THAT(refusal(again), ContainsSubstring("curriculum.2.population: not set before, 8 now"));
}
