#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <exception>
#include <span>
#include <vector>

#include "../allocation.hpp"
import iap.core;
import iap.env;
import iap.policy;
import iap.ranks;
import iap.rollout;

#include "../train/fake_env.hpp"
#include "in_process.hpp"

using namespace iap;

TEST_CASE("memory that runs out at any moment of a round ends that round alone") {
  const EnvSpec spec = FakeEnv().spec();
  const Policy policy(fake_policy(), spec.observation, spec.action_size);
  const std::vector<float> parameters(policy.size(), 0.1F);
  std::vector<RolloutTask> tasks;
  for (std::size_t i = 0; i < 4; ++i) tasks.push_back({.parameters = std::span<const float>(parameters), .seed = i});

  JobHere here(1);
  const auto rollouts = open_rollouts(spec.config, fake_envs(), policy.clone(), 1);
  const auto totals = [&] {
    std::vector<double> all;
    for (const auto& episode : rollouts->run(tasks)) all.push_back(episode.total);
    return all;
  };
  const auto expected = totals();
  // One failure a round, at each allocation in turn, on whichever thread it comes.
  long failures = 0;
  for (long before = 0;; ++before) {
    CAPTURE(before);
    until_failure = before;
    try {
      rollouts->run(tasks);
    } catch (const std::exception&) {
      ++failures;
    }
    if (until_failure.exchange(-1) >= 0) break;
    CHECK(totals() == expected);
  }
  CHECK(failures > 20);
}
