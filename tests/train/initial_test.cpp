// Runs that begin at the parameters of another.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
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

TEST_CASE("a run begins where another ended, at its size and at another one") {
  const Scratch scratch("initial");
  const TrainOptions first = pixel_run(scratch / "first", 16, 24);
  const TrainResult begun = train(first);
  for (const int scale : {1, 2}) {
    CAPTURE(scale);
    TrainOptions options = pixel_run(scratch / ("second" + std::to_string(scale)), 16 * scale, 24 * scale);
    options.init = (first.out / "final.iap").string();
    options.iterations = 2;
    const TrainResult result = train(options);
    if (scale == 1) CHECK(result.first_eval == begun.last_eval);
    const EnvSpec spec = make_env(options.env)->spec();
    const Policy expected = resized(begun.policy->policy, spec.observation);
    CHECK(result.first_eval == evaluate(expected, options.env, options.eval_episodes, options.seed, 1).mean);
    // The policy's blocks may be left out: they are those of the file.
    TrainOptions brief = options;
    brief.policy = Config();
    brief.out = scratch / ("brief" + std::to_string(scale));
    CHECK(train(brief).parameters == result.parameters);
    // A host may hold the policy itself.
    TrainOptions held = options;
    held.init = Config();
    held.init_policy = begun.policy;
    held.out.clear();
    CHECK(train(held).parameters == result.parameters);
  }
}

TEST_CASE("a run that began at a policy goes on without its file, and only there") {
  const Scratch scratch("initial_gone");
  TrainOptions first = small_run(scratch / "first");
  train(first);
  TrainOptions options = small_run(scratch / "second");
  options.init = first.out.string();
  const TrainResult whole = train(options);
  const auto content = run_content(options.out);
  for (const char* kind : {"es", "cma_es"}) {
    CAPTURE(kind);
    TrainOptions parts = options;
    if (kind == std::string("cma_es")) {
      parts.optimizer =
          Config::Map{{"kind", kind}, {"population", 4}, {"restarts", "ipop"}, {"tol_condition", 2.5}, {"max_restarts", 2}};
      parts.out = scratch / "cma_whole";
    }
    const TrainResult expected = kind == std::string("es") ? whole : train(parts);
    parts.out = scratch / (std::string("parts_") + kind);
    parts.on_iteration = [](const IterationReport& report) { return report.iteration < 2; };
    train(parts);
    std::filesystem::rename(first.out, scratch / "moved");
    parts.on_iteration = {};
    parts.resume = true;
    const TrainResult result = train(parts);
    CHECK(result.parameters == expected.parameters);
    if (kind == std::string("es")) CHECK(differences(content, run_content(parts.out)) == "");
    // From its own settings, as they stand in the folder.
    TrainOptions again = read_train_options(parse_json(read_file(parts.out / "config.json"), "config.json"));
    again.make_env = parts.make_env;
    again.out = parts.out;
    again.quiet = again.resume = true;
    again.iterations = 7;
    CHECK(train(again).iterations == 7);
    // A new run has nothing to begin at.
    parts.resume = false;
    parts.out = scratch / "anew";
    CHECK_THAT(refusal(parts), ContainsSubstring("option 'init'") && ContainsSubstring((first.out).string()));
    std::filesystem::rename(scratch / "moved", first.out);
  }
}

TEST_CASE("where a run began belongs to its settings, by content and not by name") {
  const Scratch scratch("initial_identity");
  TrainOptions first = small_run(scratch / "first");
  train(first);
  TrainOptions options = small_run(scratch / "second");
  options.init = (first.out / "final.iap").string();
  train(options);
  options.resume = true;
  std::filesystem::copy(first.out / "final.iap", scratch / "copy.iap");
  options.init = (scratch / "copy.iap").string();
  CHECK(refusal(options) == "no error");
  TrainOptions other = options;
  other.init = Config();
  CHECK_THAT(refusal(other), ContainsSubstring("init: ") && ContainsSubstring("not set now"));
  first.seed = 4;
  first.out = scratch / "other";
  train(first);
  other.init = first.out.string();
  CHECK_THAT(refusal(other), ContainsSubstring("init.content: "));
  other.init = Config::Map{{"path", first.out.string()}, {"content", "0123456789abcdef"}};
  CHECK_THAT(refusal(other), ContainsSubstring("not 0123456789abcdef"));
}

TEST_CASE("a policy that cannot be begun at is refused by the name of its first block that differs") {
  const Scratch scratch("initial_other");
  TrainOptions first = small_run(scratch / "first");
  first.policy = Config::Map{{"kind", "sequence"},
                             {"blocks", Config::List{Config::Map{{"kind", "lstm"}, {"units", 3}},
                                                     Config::Map{{"kind", "linear"}, {"activation", "tanh"}}}}};
  train(first);
  TrainOptions options = small_run({});
  options.init = first.out.string();
  CHECK_THAT(refusal(options), ContainsSubstring("train: option 'init' (") && ContainsSubstring("block 'policy' does not fit") &&
                                   ContainsSubstring("1.lstm"));
  options.policy = first.policy;
  set_path(options.policy, "blocks.1.units", "4");
  CHECK_THAT(refusal(options), ContainsSubstring("block '1.lstm' does not fit"));
  options.policy = Config();
  CHECK(refusal(options) == "no error");
  options.init = (scratch / "nothing.iap").string();
  CHECK_THAT(refusal(options), ContainsSubstring("train: option 'init'") && ContainsSubstring("nothing.iap"));
  CHECK_THROWS_WITH(read_train_options(parse_json(R"({"env": "cheetah-run", "init": 3})", "test")),
                    ContainsSubstring("option 'init' must be the path"));
}

TEST_CASE("moments go to the block that gathered them, or nowhere") {
  const Scratch scratch("initial_moments");
  const auto blocks = [](const char* json) { return parse_json(json, "test"); };
  TrainOptions first = small_run(scratch / "first");
  first.iterations = 1;
  first.policy = blocks(R"({"kind": "sequence", "blocks": [
      {"kind": "normalise", "over": "training"}, {"kind": "linear", "units": 2, "name": "a"}, {"kind": "linear", "name": "b"}]})");
  train(first);
  const auto refusal = [&](const Config& policy) {
    TrainOptions options = small_run({});
    options.policy = policy;
    options.init = first.out.string();
    options.iterations = 0;
    try {
      train(options);
      return std::string("no error");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  CHECK(refusal(first.policy) == "no error");
  CHECK_THAT(refusal(blocks(R"({"kind": "sequence", "blocks": [
      {"kind": "linear", "units": 2, "name": "a"}, {"kind": "normalise", "over": "training"}, {"kind": "linear", "name": "b"}]})")),
             ContainsSubstring("block '2.normalise' gathers 2 moments, where the other policy has 2 of '1.normalise'"));
  CHECK_THAT(refusal(blocks(R"({"kind": "sequence", "blocks": [
      {"kind": "linear", "units": 2, "name": "a"}, {"kind": "linear", "name": "b"}]})")),
             ContainsSubstring("the other policy has moments of '1.normalise', for which there is no block here"));
  // Blocks that differ in parameters, too, are named by those.
  CHECK_THAT(refusal(blocks(R"({"kind": "sequence", "blocks": [
      {"kind": "normalise", "over": "training"}, {"kind": "linear", "units": 3, "name": "a"}, {"kind": "linear", "name": "b"}]})")),
             ContainsSubstring("does not fit"));
}

TEST_CASE("another kernel is named where other options follow from it") {
  const Scratch scratch("initial_kernel");
  TrainOptions first = pixel_run(scratch / "first", 16, 24);
  first.iterations = 0;
  set_path(first.policy, "blocks.1.kernel", "relu");
  train(first);
  TrainOptions options = first;
  set_path(options.policy, "blocks.1.kernel", "exp");
  const std::string named = "blocks.1.kernel: \"relu\" before, \"exp\" now";
  options.resume = true;
  CHECK_THAT(refusal(options), ContainsSubstring(named));
  options.out = scratch / "second";
  options.init = first.out.string();
  train(options);
  CHECK_THAT(read_file(options.out / "log.txt"), ContainsSubstring("its blocks differ: " + named));
}
