#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

using namespace iap;

namespace {

TrainOptions pixels_run(const std::filesystem::path& out) {
  TrainOptions options = read_train_options(parse_json(
      R"({"env": {"name": "cartpole-swingup", "pixels": [24, 32], "action_repeat": 4, "time_limit": 24},
          "policy": {"kind": "sequence", "blocks": [{"kind": "rank", "patch": 4, "stride": 4, "d": 4, "top": 3},
                                                    {"kind": "lstm", "units": 3},
                                                    {"kind": "linear", "activation": "tanh"}]},
          "optimizer": {"population": 4}, "iterations": 3, "eval_every": 2, "eval_episodes": 2, "seed": 4})",
      "test"));
  options.out = out;
  options.quiet = true;
  return options;
}

/// What a host may put round a known environment: it pays otherwise.
class Taxed final : public EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  StepResult step(std::span<const float> action) override {
    StepResult result = EnvWrapper::step(action);
    result.reward = -1;
    return result;
  }
};

}  // namespace

TEST_CASE("training from pixels does not depend on threads or interruptions, and its files say what it saw") {
  const Scratch scratch("pixels");
  TrainOptions options = pixels_run(scratch / "one");
  options.threads = 1;
  const TrainResult whole = train(options);
  const auto one = run_content(options.out);

  options.out = scratch / "two";
  options.threads = 2;
  options.on_iteration = [](const IterationReport& report) { return report.iteration < 1; };
  train(options);
  options.on_iteration = {};
  options.resume = true;
  CHECK(train(options).parameters == whole.parameters);
  CHECK(differences(one, run_content(options.out)) == "");

  const PolicyFile best = open_policy(options.out);
  const Config* env = best.metadata.find("env");
  REQUIRE(env);
  CHECK(*env->find("name")->string() == "cartpole-swingup");
  CHECK(evaluate(best.policy, *env, 2, 4, 1).mean == whole.best_eval);
}

TEST_CASE("what a host puts round a known environment is played in this process alone, and no policy file leaves it out") {
  const Scratch scratch("taxed");
  TrainOptions options = small_run(scratch / "run");
  options.make_env = [] {
    return std::make_unique<Taxed>(make_env(Config::Map{{"name", "cartpole-swingup"}, {"time_limit", 20}}));
  };
  options.iterations = 1;
  bool elsewhere = false;
  set_rollouts([&](auto&&...) -> std::unique_ptr<Rollouts> {
    elsewhere = true;
    throw Error("played elsewhere");
  });
  const TrainResult result = train(options);
  set_rollouts({});
  CHECK_FALSE(elsewhere);
  CHECK(result.best_eval == -20);
  for (const char* name : {"best.iap", "final.iap"}) {
    const PolicyFile file = read_policy_file(options.out / name);
    CHECK_FALSE(file.metadata.find("env"));
    CHECK_FALSE(file.metadata.find("env_given"));
  }

  options.out = scratch / "isolated";
  options.safeguards.isolate = true;
  CHECK(error_of(options).find("an environment that the host builds itself cannot be played in another process") !=
        std::string::npos);
}
