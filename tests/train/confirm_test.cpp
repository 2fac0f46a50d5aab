#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.policy;
import iap.rollout;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

namespace {

/// The seed of fresh episode `episode`, by its definition.
std::uint64_t fresh_seed(std::uint64_t seed, int episode) {
  return derive_seed({.seed = seed, .member = 1, .episode = static_cast<std::uint32_t>(episode), .purpose = Purpose::evaluation});
}

double played_by_hand(const TrainOptions& options, const std::vector<float>& parameters, int episodes) {
  FakeEnv env;
  Policy policy(options.policy, env.spec().observation, 2);
  policy.set_parameters(parameters);
  double sum = 0;
  for (int episode = 0; episode < episodes; ++episode) sum += run_episode(env, policy, fresh_seed(options.seed, episode)).total;
  return sum / episodes;
}

}  // namespace

TEST_CASE("the best policy is confirmed on episodes that nothing else of the run plays") {
  TrainOptions options = small_run({});
  options.threads = 1;
  options.iterations = 7;
  std::vector<std::uint64_t> order;
  options.make_env = fake_envs([&](std::uint64_t seed, int step, auto&) {
    if (step == 1) order.push_back(seed);
  });
  const TrainResult result = train(options);
  REQUIRE(result.confirmed);
  CHECK(result.confirmed->episodes == 12);  // four times those of an evaluation
  CHECK(std::abs(result.confirmed->mean - played_by_hand(options, result.best_parameters, 12)) < 1e-12);
  CHECK(result.confirmed->low < result.confirmed->mean);
  CHECK(result.confirmed->high > result.confirmed->mean);
  REQUIRE(order.size() > 12);
  const std::set<std::uint64_t> before(order.begin(), order.end() - 12);
  for (int episode = 0; episode < 12; ++episode) {
    CHECK(order[order.size() - 12 + static_cast<std::size_t>(episode)] == fresh_seed(options.seed, episode));
    CHECK_FALSE(before.contains(fresh_seed(options.seed, episode)));
  }
}

TEST_CASE("confirming changes no other file, and a complete run tells the same again") {
  const Scratch scratch("confirm");
  TrainOptions options = small_run(scratch / "none");
  options.confirm_episodes = 0;
  CHECK_FALSE(train(options).confirmed);
  auto without = run_content(options.out);
  for (const int episodes : {1, 5}) {
    options.out = scratch / std::to_string(episodes);
    options.confirm_episodes = episodes;
    options.resume = false;
    const TrainResult first = train(options);
    const auto files = run_content(options.out);
    CHECK(differences(without, files) == "config.json result.json ");
    CHECK_THAT(read_file(options.out / "log.txt"), ContainsSubstring(std::to_string(episodes) + " fresh episode"));
    // Once from result.json, once played anew.
    options.resume = true;
    for (const bool keep : {true, false}) {
      if (!keep) std::filesystem::remove(options.out / "result.json");
      const TrainResult again = train(options);
      REQUIRE(again.confirmed);
      CHECK(again.confirmed->mean == first.confirmed->mean);
      CHECK(differences(files, run_content(options.out)) == "");
      CHECK(std::isnan(again.confirmed->low) == (episodes == 1));  // one episode has no interval
      if (episodes == 1) continue;
      CHECK(again.confirmed->low == first.confirmed->low);
      CHECK(again.confirmed->high == first.confirmed->high);
    }
  }
}

TEST_CASE("what goes wrong while the best policy is confirmed costs the confirmation alone") {
  const Scratch scratch("confirm_trouble");
  TrainOptions options = small_run(scratch / "nan");
  options.make_env = fake_envs([&](std::uint64_t seed, auto, StepResult& result) {
    if (seed == fresh_seed(9, 2)) result.reward = std::numeric_limits<double>::quiet_NaN();
  });
  const TrainResult failed = train(options);
  CHECK(failed.stop_reason == "iterations");
  CHECK_FALSE(failed.confirmed);
  CHECK_THAT(read_file(options.out / "log.txt"), ContainsSubstring("could not be confirmed") && ContainsSubstring("reward is nan"));
  options.out = scratch / "interrupted";
  options.make_env = fake_envs([&](std::uint64_t seed, auto, StepResult&) {
    if (seed == fresh_seed(9, 2)) request_interrupt(SIGTERM);
  });
  CHECK_FALSE(train(options).confirmed);
  clear_interrupt();
  CHECK_THAT(read_file(options.out / "log.txt"),
             EndsWith("the confirmation of the best policy is left to do: interrupted by SIGTERM\n"));
  CHECK(std::filesystem::exists(options.out / "final.iap"));
  CHECK_FALSE(run_state(options.out)->complete);  // though it has all its iterations
  options.make_env = fake_envs();
  options.resume = true;
  CHECK(train(options).confirmed);
  CHECK(run_state(options.out)->complete);
}

TEST_CASE("a run that was stopped before its first evaluation has a policy and no figures") {
  TrainOptions options = small_run({});
  options.make_env = fake_envs([](auto...) { request_interrupt(); });
  const TrainResult result = train(options);
  clear_interrupt();
  CHECK(result.stop_reason == "interrupted");
  CHECK(std::isnan(result.best_eval));
  REQUIRE(result.policy);
  CHECK(result.policy->policy.parameters().size() == result.parameters.size());
  CHECK_FALSE(result.policy->metadata.find("return"));
}
