#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.optim;
import iap.policy;
import iap.rollout;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

using namespace iap;

namespace {

/// The whole of training without pool, files and reports, in the order of the definition.
struct Reference {
  std::vector<double> return_means, evals;
  std::vector<float> mean, best;
  double best_eval = 0;
};

Reference slow_train(const TrainOptions& options) {
  Reference reference;
  FakeEnv env;
  Policy policy(options.policy, env.spec().observation, 2);
  policy.initialise(options.seed);
  const auto optimizer = make_optimizer(options.optimizer, policy.parameters(), options.seed);
  const auto evaluate_mean = [&] {
    policy.set_parameters(optimizer->mean());
    double sum = 0;
    for (int e = 0; e < options.eval_episodes; ++e)
      sum +=
          run_episode(env, policy,
                      derive_seed({.seed = options.seed, .episode = static_cast<std::uint32_t>(e), .purpose = Purpose::evaluation}))
              .total;
    const double value = sum / options.eval_episodes;
    if (reference.evals.empty() || value > reference.best_eval) {
      reference.best_eval = value;
      reference.best.assign(optimizer->mean().begin(), optimizer->mean().end());
    }
    reference.evals.push_back(value);
  };
  evaluate_mean();
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const std::size_t size = policy.size();
    std::vector<float> population(optimizer->population() * size);
    optimizer->ask(population);
    std::vector<double> fitness(optimizer->population());
    double mean = 0;
    for (std::size_t member = 0; member < fitness.size(); ++member) {
      policy.set_parameters(std::span(population).subspan(member * size, size));
      for (int e = 0; e < options.episodes; ++e) {
        StreamKey key{.seed = options.seed,
                      .iteration = static_cast<std::uint32_t>(iteration),
                      .episode = static_cast<std::uint32_t>(e),
                      .purpose = Purpose::environment};
        if (options.episode_seeds == EpisodeSeeds::own) key.member = static_cast<std::uint32_t>(member);
        if (options.episode_seeds == EpisodeSeeds::pairs) key.member = static_cast<std::uint32_t>(member / 2);
        fitness[member] += run_episode(env, policy, derive_seed(key)).total / options.episodes;
      }
      mean += fitness[member] / static_cast<double>(fitness.size());
    }
    optimizer->tell(fitness);
    reference.return_means.push_back(mean);
    if ((iteration + 1) % options.eval_every == 0 || iteration + 1 == options.iterations) evaluate_mean();
  }
  reference.mean.assign(optimizer->mean().begin(), optimizer->mean().end());
  return reference;
}

}  // namespace

TEST_CASE("training is the loop of its definition, bit by bit") {
  for (const EpisodeSeeds shared : {EpisodeSeeds::common, EpisodeSeeds::pairs, EpisodeSeeds::own}) {
    for (const std::string optimizer : {"adam", "sgd"}) {
      TrainOptions options = small_run({});
      options.episode_seeds = shared;
      options.optimizer["optimizer"] = optimizer;
      options.iterations = 7;
      std::vector<double> return_means, evals;
      options.on_iteration = [&](const IterationReport& report) {
        return_means.push_back(report.return_mean);
        if (report.evaluated) evals.push_back(report.eval_mean);
        return true;
      };
      const TrainResult result = train(options);
      const Reference reference = slow_train(options);
      CHECK(result.iterations == 7);
      CHECK(result.stop_reason == "iterations");
      CHECK(return_means == reference.return_means);
      evals.insert(evals.begin(), result.first_eval);
      CHECK(evals == reference.evals);
      CHECK(result.last_eval == reference.evals.back());
      CHECK(result.parameters == reference.mean);
      CHECK(result.best_parameters == reference.best);
      CHECK(result.best_eval == reference.best_eval);
    }
  }
}

TEST_CASE("training learns") {
  TrainOptions options = small_run({});
  options.iterations = 60;
  options.optimizer["population"] = 16;
  options.eval_episodes = 16;
  const TrainResult result = train(options);
  // Standing still loses a third of a point for each of two coordinates and twelve steps; a good pusher loses it only at first.
  CHECK(result.first_eval < 6);
  CHECK(result.last_eval > 10.5);
  CHECK(result.best_eval >= result.last_eval);
}

TEST_CASE("a run is the same for any number of threads") {
  const Scratch scratch("threads");
  TrainOptions options = small_run(scratch / "one");
  options.threads = 1;
  train(options);
  const auto one = run_content(options.out);
  for (const int threads : {2, 5}) {
    options.threads = threads;
    options.out = scratch / std::to_string(threads);
    train(options);
    CHECK(differences(one, run_content(options.out)) == "");
    CHECK(read_file(options.out / "checkpoint.previous.iap") == read_file(scratch / "one/checkpoint.previous.iap"));
  }
}

TEST_CASE("metrics.csv has one row per iteration and its times last") {
  const Scratch scratch("metrics");
  TrainOptions options = small_run(scratch / "run");
  options.make_env = fake_envs([](auto, int step, StepResult& result) { result.unstable = step == 3; });
  std::vector<IterationReport> reports;
  options.on_iteration = [&](const IterationReport& report) {
    reports.push_back(report);
    return true;
  };
  train(options);
  const Rows table = read_rows(options.out / "metrics.csv");
  REQUIRE(table.size() == 7);
  const auto& header = table[0];
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  CHECK(header[0] == "iteration");
  CHECK(header[header.size() - 2] == "seconds");
  CHECK(header.back() == "steps_per_second");
  double seconds = 0;
  for (std::size_t row = 1; row < table.size(); ++row) {
    REQUIRE(table[row].size() == header.size());
    const std::size_t iteration = row - 1;
    CHECK(table[row][0] == std::to_string(iteration));
    const bool evaluated = iteration % 2 == 0 || iteration == 5;
    CHECK(table[row][column("eval_mean")].empty() == !evaluated);
    CHECK(table[row][column("eval_std")].empty() == !evaluated);
    CHECK(table[row][column("return_mean")].empty() == (iteration == 0));
    // 4 members, 2 episodes, 3 steps until each becomes unstable.
    CHECK(table[row][column("steps")] == std::to_string(iteration * 24));
    CHECK(table[row][column("unstable")] == (iteration == 0 ? "0" : "8"));
    CHECK(table[row][column("sigma")] == "0.1");
    const double now = std::stod(table[row][column("seconds")]);
    CHECK(now >= seconds);
    seconds = now;
    if (iteration == 0) continue;
    const IterationReport& report = reports[iteration - 1];
    CHECK(report.iteration == iteration);
    CHECK(report.evaluated == evaluated);
    REQUIRE(report.columns.size() == header.size());
    for (std::size_t i = 0; i < header.size(); ++i) {
      CHECK(report.columns[i].first == header[i]);
      if (table[row][i].empty())
        CHECK(std::isnan(report.columns[i].second));
      else
        CHECK(std::stod(table[row][i]) == report.columns[i].second);
    }
  }
}

TEST_CASE("a run folder holds what was asked for and policies that know their origin") {
  const Scratch scratch("folder");
  TrainOptions options = small_run(scratch / "deep/run");
  options.script = "-- an experiment\n";
  const TrainResult result = train(options);
  CHECK(read_file(options.out / "experiment.lua") == options.script);

  const TrainOptions again = read_train_options(parse_json(read_file(options.out / "config.json"), "config.json"));
  CHECK(again.env == FakeEnv().spec().config);
  CHECK(again.policy ==
        Config(Config::Map{{"kind", "linear"}, {"activation", "tanh"}, {"bias", true}, {"scale", 0.1}, {"units", 2}}));
  CHECK(*again.given.find("given") ==
        Config(Config::Map{{"env", Config()}, {"policy", options.policy}, {"optimizer", options.optimizer}}));
  CHECK(again.iterations == options.iterations);
  CHECK(again.episodes == options.episodes);
  CHECK(again.seed == options.seed);
  CHECK(again.eval_every == options.eval_every);
  CHECK(again.eval_episodes == options.eval_episodes);

  const PolicyFile last = read_policy_file(options.out / "final.iap");
  CHECK(std::vector<float>(last.policy.parameters().begin(), last.policy.parameters().end()) == result.parameters);
  CHECK(last.metadata.find("iteration")->integer() == 5);
  CHECK(last.metadata.find("return")->number() == result.last_eval);
  CHECK(last.metadata.find("seed")->integer() == 9);
  CHECK_FALSE(last.metadata.find("env"));
  const PolicyFile best = read_policy_file(options.out / "best.iap");
  CHECK(std::vector<float>(best.policy.parameters().begin(), best.policy.parameters().end()) == result.best_parameters);
  CHECK(best.metadata.find("return")->number() == result.best_eval);
  CHECK(read_file(options.out / "log.txt").find("ends at iteration 5") != std::string::npos);
}

TEST_CASE("no evaluation schedule leaves the first and the last; no iterations leave the first") {
  TrainOptions options = small_run({});
  options.eval_every = 0;
  int evaluated = 0;
  options.on_iteration = [&](const IterationReport& report) {
    evaluated += report.evaluated;
    CHECK(report.evaluated == (report.iteration == 5));
    return true;
  };
  train(options);
  CHECK(evaluated == 1);
  options.iterations = 0;
  const TrainResult none = train(options);
  CHECK(none.iterations == 0);
  CHECK(none.first_eval == none.last_eval);
  CHECK(none.parameters == none.best_parameters);
}

TEST_CASE("on_iteration ends a run in good order") {
  const Scratch scratch("stop");
  TrainOptions options = small_run(scratch / "run");
  options.on_iteration = [](const IterationReport& report) { return report.iteration < 3; };
  const TrainResult result = train(options);
  CHECK(result.stop_reason == "on_iteration");
  CHECK(result.iterations == 3);
  CHECK(read_policy_file(options.out / "final.iap").metadata.find("iteration")->integer() == 3);
  CHECK(read_rows(options.out / "metrics.csv").size() == 5);
}

TEST_CASE("an interrupted run comes to its result, however many blocks its policy has") {
  const Scratch scratch("interrupted_blocks");
  TrainOptions options = small_run(scratch / "run");
  Config::List blocks;
  for (int i = 0; i < 300; ++i) blocks.push_back(Config::Map{{"kind", "linear"}, {"units", 1}});
  options.policy =
      Config::Map{{"kind", "sequence"},
                  {"blocks", Config::List{Config::Map{{"kind", "concat"}, {"blocks", std::move(blocks)}}, fake_policy()}}};
  options.on_iteration = [](const IterationReport& report) {
    if (report.iteration == 2) request_interrupt();
    return true;
  };
  const TrainResult result = train(options);
  CHECK(interrupt_requested());
  clear_interrupt();
  CHECK(result.stop_reason == "interrupted");
  CHECK(result.iterations == 2);
  CHECK(!result.parameters.empty());
}

TEST_CASE("what on_iteration says of the last iteration changes nothing, resumed or not") {
  const Scratch scratch("stop_last");
  TrainOptions options = small_run(scratch / "run");
  options.on_iteration = [&](const IterationReport& report) { return static_cast<int>(report.iteration) < options.iterations; };
  CHECK(train(options).stop_reason == "iterations");
  const auto content = run_content(options.out);
  options.resume = true;
  CHECK(train(options).stop_reason == "iterations");
  CHECK(run_content(options.out) == content);
}

TEST_CASE("a run that on_iteration ended ends there again, unless it has changed its mind") {
  const Scratch scratch("stop_again");
  TrainOptions options = small_run(scratch / "run"), whole = small_run(scratch / "whole");
  train(whole);
  std::vector<IterationReport> asked;
  int last = 3;
  options.on_iteration = [&](const IterationReport& report) {
    asked.push_back(report);
    return static_cast<int>(report.iteration) < last;
  };
  const TrainResult first = train(options);
  const auto content = run_content(options.out);
  options.resume = true;
  const TrainResult again = train(options);
  CHECK(again.stop_reason == "on_iteration");
  CHECK(again.parameters == first.parameters);
  CHECK(again.confirmed->mean == first.confirmed->mean);
  CHECK(differences(content, run_content(options.out)) == "");
  REQUIRE(asked.size() == 4);
  CHECK(asked[3].iteration == 3);
  CHECK(asked[3].return_mean == asked[2].return_mean);
  CHECK(asked[3].evaluated == asked[2].evaluated);
  // What a kill took of the end is made up for.
  std::filesystem::remove(options.out / "result.json");
  CHECK(train(options).stop_reason == "on_iteration");
  CHECK(differences(content, run_content(options.out)) == "");
  last = 100;
  CHECK(train(options).stop_reason == "iterations");
  CHECK(differences(run_content(whole.out), run_content(options.out)) == "");
}

TEST_CASE("a plan says what the run would be and leaves no trace") {
  const Scratch scratch("plan");
  TrainOptions options = small_run(scratch / "run");
  const TrainingPlan plan = plan_training(options);
  CHECK(!std::filesystem::exists(options.out));
  CHECK(plan.result.iterations == 5);
  CHECK(plan.result.last_eval == 0);
  train(options);
  const Config written = parse_json(read_file(options.out / "config.json"), "config.json");
  CHECK(to_json(plan.config) == to_json(written));
  CHECK(settings_difference(plan.config, written).empty());
  // It begins where the run does.
  options.iterations = 0;
  options.out = scratch / "beginning";
  CHECK(plan.result.parameters == train(options).parameters);
  // A longer run is the same one, another sigma is not.
  CHECK(settings_difference(written, plan_training(options).config).empty());
  options.optimizer["sigma"] = 0.3;
  CHECK(settings_difference(written, plan_training(options).config) == "optimizer.sigma: 0.1 before, 0.3 now");
  options.optimizer["sgima"] = 0.3;
  CHECK_THROWS_WITH(plan_training(options), Catch::Matchers::ContainsSubstring("sgima"));
}

TEST_CASE("more episodes than memory holds are refused with their number and its size") {
  using Catch::Matchers::ContainsSubstring;
  limit_usable_memory(2.0 * (1 << 30));
  TrainOptions options = small_run({});
  options.episodes = (1 << 24) - 1;
  CHECK_THAT(error_of(options), ContainsSubstring("train: option 'episodes' (16777215 for each of 4 members) needs 1") &&
                                    ContainsSubstring(" GiB of memory, more than half of the 2 GiB"));
  options = small_run({});
  options.eval_episodes = (1 << 24) - 1;
  CHECK_THAT(error_of(options), ContainsSubstring("train: option 'eval_episodes' (16777215) needs 3"));
  limit_usable_memory(std::numeric_limits<double>::infinity());
}
