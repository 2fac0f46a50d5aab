// The same runs, played by one process and by many.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
import iap.core;
import iap.env;
import iap.policy;
import iap.ranks;
import iap.train;

#include "../train/fake_env.hpp"
#include "../train/run_files.hpp"
#include "in_process.hpp"

using namespace iap;

namespace {

TrainOptions run_of(const std::string& changes) {
  Config config = parse_json(
      R"({"env": {"name": "cartpole-swingup", "pixels": [24, 32], "action_repeat": 4, "time_limit": 16},
          "policy": {"kind": "sequence", "blocks": [{"kind": "rank", "patch": 4, "stride": 4, "d": 4, "top": 3},
                                                    {"kind": "normalise", "over": "training"},
                                                    {"kind": "linear", "activation": "tanh"}]},
          "optimizer": {"population": 6}, "iterations": 3, "episodes": 2, "eval_every": 2, "eval_episodes": 3, "seed": 4})",
      "test");
  const Config changed = parse_json(changes, "test");
  for (const auto& [key, value] : *changed.map()) config[key] = value;
  TrainOptions options = read_train_options(config);
  options.quiet = true;
  return options;
}

}  // namespace

TEST_CASE("a run of many ranks leaves the files of a run of one, byte for byte") {
  const Scratch scratch("ranks");
  for (const std::string changes :
       {R"({})", R"({"optimizer": {"kind": "cma_es", "population": 5}})",
        R"({"optimizer": {"kind": "simple_ga", "population": 5}})",
        R"({"optimizer": {"kind": "pgpe", "population": 4, "directions": "orthogonal"}, "action_noise": 0.2})",
        R"({"optimizer": {"kind": "ars", "population": 4}, "curriculum": [{"through": 2, "population": 8}, {"pixels": [48, 64]}],
            "episode_seeds": "own"})"}) {
    CAPTURE(changes);
    TrainOptions options = run_of(changes);
    options.threads = 1;
    options.out = scratch / "alone";
    std::filesystem::remove_all(options.out);
    train(options);
    const auto alone = run_content(options.out);
    options.out = scratch / "ranks";
    for (const int size : {2, 4}) {
      std::filesystem::remove_all(options.out);
      options.threads = size == 2 ? 2 : 1;
      {
        JobHere here(size);
        // Begun by so many ranks, ended by one process.
        options.on_iteration = [](const IterationReport& report) { return report.iteration < 2; };
        options.resume = true;
        train(options);
        options.on_iteration = {};
        if (size == 2) train(options);
      }
      train(options);
      CHECK(differences(alone, run_content(options.out)) == "");
    }
  }
}
