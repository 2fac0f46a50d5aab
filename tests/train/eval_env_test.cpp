// Evaluations in an environment of their own.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
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

TrainOptions dense_run(const std::filesystem::path& out) {
  TrainOptions options = small_run(out);
  options.make_env = {};
  options.env = Config::Map{{"name", "reacher-easy"}, {"reward", "dense"}, {"action_repeat", 4}, {"time_limit", 60}};
  options.eval_env = Config::Map{{"reward", "task"}};
  return options;
}

}  // namespace

TEST_CASE("evaluations, the best policy and its confirmation play eval_env, training does not") {
  const Scratch scratch("eval_env");
  TrainOptions options = dense_run(scratch / "run");
  options.episodes = 1;
  double dense = 0;
  options.on_iteration = [&](const IterationReport& report) {
    dense = report.return_mean;
    return true;
  };
  const TrainResult result = train(options);
  CHECK(dense > 0);
  Config task = options.env;
  task["reward"] = "task";
  for (const char* name : {"best.iap", "final.iap"}) {
    const PolicyFile file = read_policy_file(options.out / name);
    const Config env = *file.metadata.find("env");
    CHECK(*env.find("reward") == Config("task"));
    CHECK(file.metadata.find("env_given")->find("reward") != nullptr);
    const double value = evaluate(file.policy, task, options.eval_episodes, options.seed, 1).mean;
    CHECK(value == (name == std::string("best.iap") ? result.best_eval : result.last_eval));
    CHECK(evaluate(file.policy, options.env, options.eval_episodes, options.seed, 1).mean != value);
  }
  // A whole environment is as good as the options that change, and a run is resumed with either.
  TrainOptions named = options;
  named.on_iteration = {};
  named.eval_env = task;
  named.out = scratch / "named";
  CHECK(train(named).best_eval == result.best_eval);
  named.eval_env = options.eval_env;
  named.resume = true;
  CHECK(refusal(named) == "no error");
  named.eval_env = Config();
  CHECK_THAT(refusal(named), ContainsSubstring("eval_env"));
}

TEST_CASE("an eval_env that is where the last stage trains is none") {
  const Scratch scratch("eval_env_none");
  for (const bool staged : {false, true}) {
    TrainOptions options = dense_run(scratch / (staged ? "staged" : "plain"));
    options.eval_env = Config();
    if (staged) options.curriculum = {TrainStage{.through = 1}, TrainStage{.env = Config::Map{{"reward", "task"}}}};
    train(options);
    options.resume = true;
    options.eval_env = Config::Map{};
    CHECK(refusal(options) == "no error");
    options.eval_env = Config::Map{{"reward", staged ? "task" : "dense"}};
    CHECK(refusal(options) == "no error");
    options.eval_env = Config::Map{{"reward", staged ? "dense" : "task"}};
    CHECK_THAT(refusal(options), ContainsSubstring("eval_env"));
  }
}

TEST_CASE("a default that is written out as another kind of number changes nothing") {
  const Scratch scratch("eval_env_numbers");
  TrainOptions options = dense_run(scratch / "run");
  options.eval_env = Config();
  train(options);
  options.resume = true;
  for (const Config& limit : {Config(60), Config(60.0)}) {
    options.eval_env = Config::Map{{"time_limit", limit}};
    CHECK(refusal(options) == "no error");
    options.curriculum = {TrainStage{.env = options.eval_env}};
    CHECK(refusal(options) == "no error");
    options.eval_env = Config();
    CHECK(refusal(options) == "no error");
    options.curriculum.clear();
  }
  options.eval_env = Config::Map{{"time_limit", 40}};
  CHECK_THAT(refusal(options), ContainsSubstring("eval_env"));
  options.eval_env = Config();
  options.curriculum = {TrainStage{.env = Config::Map{{"time_limit", 40}}}};
  CHECK_THAT(refusal(options), ContainsSubstring("curriculum"));
}

TEST_CASE("a run with evaluations of its own that stops and goes on equals the uninterrupted one") {
  const Scratch scratch("eval_env_resume");
  TrainOptions options = dense_run(scratch / "whole");
  train(options);
  const auto content = run_content(options.out);
  for (std::uint32_t stop = 1; stop < 5; ++stop) {
    CAPTURE(stop);
    options.out = scratch / std::to_string(stop);
    options.resume = true;
    options.threads = 1;
    options.on_iteration = [&](const IterationReport& report) { return report.iteration < stop; };
    train(options);
    options.on_iteration = {};
    train(options);
    CHECK(differences(content, run_content(options.out)) == "");
  }
}

TEST_CASE("an environment for evaluations must show and take what training does; image sizes may differ") {
  TrainOptions options = dense_run({});
  options.eval_env = Config::Map{{"name", "walker-walk"}};
  CHECK_THAT(refusal(options), ContainsSubstring("train: option 'eval_env': ") && ContainsSubstring("takes 6 action values"));
  options.eval_env = Config::Map{{"rewrad", "task"}};
  CHECK_THAT(refusal(options), ContainsSubstring("option 'eval_env'") && ContainsSubstring("did you mean 'reward'?"));
  options.eval_env = Config::Map{{"pixels", Config::List{16, 16}}};
  CHECK_THAT(refusal(options), ContainsSubstring("only the sizes of images may differ"));
  CHECK_THROWS_WITH(read_train_options(parse_json(R"({"env": "cheetah-run", "policy": {}, "eval_env": 3})", "test")),
                    ContainsSubstring("option 'eval_env' must be an environment"));
  TrainOptions small = pixel_run({}, 8, 12);
  small.eval_env = pixels(16, 24);
  const TrainResult result = train(small);
  CHECK(result.policy->policy.observation().images.front().shape.height == 16);
}
