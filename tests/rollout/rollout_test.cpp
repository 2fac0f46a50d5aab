#include <atomic>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.policy;
import iap.rollout;

#include "../train/fake_env.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Policy policy_with(std::vector<float> parameters, const Config& architecture = fake_policy()) {
  Policy policy(architecture, FakeEnv().spec().observation, 2);
  policy.set_parameters(parameters);
  return policy;
}

/// An action range that is not symmetric; keeps what it was given.
class RangeEnv : public FakeEnv {
 public:
  RangeEnv(float low, float high) {
    spec_.action_low = low;
    spec_.action_high = high;
  }
  StepResult step(std::span<const float> action) override {
    given.assign(action.begin(), action.end());
    return FakeEnv::step(action);
  }
  std::vector<float> given;
};

}  // namespace

TEST_CASE("an episode sums the rewards of a loop written by hand") {
  Policy policy = policy_with({-1, 0.5F, 0.25F, -2, 0.1F, -0.1F});
  FakeEnv env, reference;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Episode episode = run_episode(env, policy, seed);
    reference.reset(seed);
    policy.reset();
    double total = 0;
    StepResult result;
    int steps = 0;
    for (; !result.truncated; ++steps) {
      const auto action = policy.act(reference.observe());
      result = reference.step(action);
      total += result.reward;
    }
    CHECK(episode.total == total);
    CHECK(episode.steps == steps);
    CHECK(episode.truncated);
    CHECK(!episode.terminated);
    CHECK(!episode.unstable);
  }
}

TEST_CASE("outputs are clipped to [-1, 1] and mapped to the action range") {
  const Config plain = Config::Map{{"kind", "linear"}};
  const auto given = [&](float low, float high, float output) {
    RangeEnv env(low, high);
    Policy policy = policy_with({0, 0, 0, 0, output, -output}, plain);
    run_episode(env, policy, 1);
    return env.given;
  };
  CHECK(given(-1, 1, 0.3F) == std::vector<float>{0.3F, -0.3F});
  CHECK(given(-1, 1, 7) == std::vector<float>{1, -1});
  CHECK(given(0, 10, 0.5F) == std::vector<float>{7.5F, 2.5F});
  CHECK(given(-3, 1, 2) == std::vector<float>{1, -3});
  // Whose middle and half are rounded.
  CHECK(given(2.05775046F, 2.33839369F, 9) == std::vector<float>{2.33839369F, 2.05775046F});
  // Wider than a float can say: a host's way of having no bounds.
  CHECK(given(-3e38F, 3e38F, 0.5F) == std::vector<float>{1.5e38F, -1.5e38F});
}

TEST_CASE("an observer sees every step before it is taken") {
  Policy policy = policy_with({-1, 0, 0, -1, 0, 0});
  FakeEnv env;
  int calls = 0;
  run_episode(env, policy, 4, [&](const Observation& observation, std::span<const float> action, const Policy&) {
    ++calls;
    for (std::size_t i = 0; i < 2; ++i) CHECK(action[i] == Catch::Approx(std::tanh(-observation.vector[i])).epsilon(1e-6));
  });
  CHECK(calls == 12);
}

TEST_CASE("an unstable step ends the episode and is told") {
  FakeEnv env(12, [](auto, int step, StepResult& result) { result.unstable = step == 5; });
  Policy policy = policy_with(std::vector<float>(6));
  const Episode episode = run_episode(env, policy, 1);
  CHECK(episode.unstable);
  CHECK(episode.terminated);
  CHECK(episode.steps == 5);
}

TEST_CASE("errors name environment, seed and step") {
  Policy policy = policy_with(std::vector<float>(6));
  const auto message = [&](const Meddler& meddler) {
    FakeEnv env(12, meddler);
    try {
      run_episode(env, policy, 77);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const Meddler nan_reward = [](auto, int step, StepResult& result) { result.reward = step == 4 ? not_a_number : 1; };
  const Meddler infinite_reward = [](auto, int step, StepResult& result) { result.reward = step == 4 ? infinity : 1; };
  const Meddler overflowing = [](auto, int step, StepResult& result) { result.reward = step >= 3 ? 1e308 : 1; };
  const Meddler throwing = [](auto, int step, StepResult&) {
    if (step == 4) throw std::runtime_error("the world broke");
  };
  const Meddler throwing_a_number = [](auto, int step, StepResult&) {
    if (step == 4) throw 42;
  };
  for (const auto& [meddler, reason] : {std::pair{nan_reward, "reward is nan"},
                                        {throwing_a_number, "something was thrown that is no std::exception"},
                                        {infinite_reward, "reward is inf"},
                                        {overflowing, "the return is inf; returns must be finite"},
                                        {throwing, "the world broke"}}) {
    const std::string got = message(meddler);
    for (const char* part : {"'fake'", "seed 77", "step 4:", reason}) CHECK_THAT(got, ContainsSubstring(part));
  }

  Policy overflow = policy_with({3e38F, 3e38F, 3e38F, 3e38F, 3e38F, 3e38F}, Config::Map{{"kind", "linear"}});
  FakeEnv env;
  CHECK_THROWS_WITH(run_episode(env, overflow, 1), ContainsSubstring("action 1 is") && ContainsSubstring("step"));
}

TEST_CASE("an episode keeps its actions where the task asks for them") {
  FakeEnv env;
  Policy policy = policy_with({0.1F, -0.2F, 0.3F, 5, 0, 0.5F}, Config::Map{{"kind", "linear"}});
  std::vector<float> seen;
  const StepObserver observer = [&seen](const Observation&, std::span<const float> action, const Policy&) {
    seen.insert(seen.end(), action.begin(), action.end());
  };
  const Episode observed = run_episode(env, policy, 3, observer);
  RolloutPool pool([] { return std::make_unique<FakeEnv>(); }, policy.clone(), 1);
  std::vector<RolloutTask> tasks(2, {.parameters = policy.parameters(), .seed = 3});
  tasks[1].keep_actions = true;
  const auto episodes = pool.run(tasks);
  CHECK(episodes[0].actions.empty());
  CHECK(episodes[1].actions == seen);
  CHECK(seen.size() == 2 * static_cast<std::size_t>(observed.steps));
}

TEST_CASE("a policy for another environment is refused") {
  FakeEnv env;
  Policy wide(fake_policy(), {{}, 3}, 2);
  CHECK_THROWS_WITH(
      run_episode(env, wide, 1),
      ContainsSubstring("another observation than the policy was built for: a vector of 2 values instead of one of 3 values"));
  Policy three(fake_policy(), {{}, 2}, 3);
  CHECK_THROWS_WITH(run_episode(env, three, 1), ContainsSubstring("3 action values"));
}

TEST_CASE("a pool gives the episodes of one thread for any number of threads") {
  Random random(3);
  std::vector<std::vector<float>> members(20, std::vector<float>(6));
  for (auto& member : members) random.fill_normal(member);
  std::vector<RolloutTask> tasks;
  for (std::size_t i = 0; i < members.size(); ++i) tasks.push_back({members[i], i / 2});
  FakeEnv env;
  for (const int threads : {1, 2, 5}) {
    RolloutPool pool(fake_envs(), policy_with(std::vector<float>(6)), threads);
    CHECK(pool.threads() == threads);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto episodes = pool.run(tasks);
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        Policy policy = policy_with(members[i]);
        CHECK(episodes[i].total == run_episode(env, policy, tasks[i].seed).total);
      }
    }
  }
  CHECK(RolloutPool(fake_envs(), policy_with(std::vector<float>(6)), 0).threads() == hardware_threads());
  CHECK_THROWS_AS(RolloutPool(fake_envs(), policy_with(std::vector<float>(6)), -1), Error);
}

TEST_CASE("a pool builds one environment a worker, one at a time") {
  std::atomic<int> built = 0, building = 0, overlaps = 0;
  const EnvFactory factory = [&] {
    if (++building > 1) ++overlaps;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    --building;
    ++built;
    return std::make_unique<FakeEnv>();
  };
  RolloutPool pool(factory, policy_with(std::vector<float>(6)), 3);
  CHECK(built == 0);
  const std::vector<float> parameters(6);
  const std::vector<RolloutTask> tasks(30, {parameters, 1});
  for (int repeat = 0; repeat < 3; ++repeat) pool.run(tasks);
  CHECK(built >= 1);
  CHECK(built <= 3);
  CHECK(overlaps == 0);
}

TEST_CASE("a pool throws the error of the lowest failing task and works on afterwards") {
  const EnvFactory factory = fake_envs([](std::uint64_t seed, int, auto&) {
    if (seed % 10 == 7) throw std::runtime_error("seed " + std::to_string(seed));
  });
  const std::vector<float> parameters(6);
  std::vector<RolloutTask> tasks;
  for (std::uint64_t seed = 0; seed < 40; ++seed) tasks.push_back({parameters, seed});
  for (const int threads : {1, 2, 4}) {
    RolloutPool pool(factory, policy_with(parameters), threads);
    CHECK_THROWS_WITH(pool.run(tasks), ContainsSubstring("seed 7,"));
    CHECK(pool.run(std::span(tasks).first(5)).size() == 5);
  }
  RolloutPool empty([] { return std::unique_ptr<Env>(); }, policy_with(parameters), 1);
  CHECK_THROWS_WITH(empty.run(tasks), ContainsSubstring("factory"));
}

TEST_CASE("an environment that threw is not used again") {
  int built = 0;
  bool broken = false;
  const EnvFactory factory = [&] {
    broken = false;
    ++built;
    return std::make_unique<FakeEnv>(12, [&](std::uint64_t seed, int, auto&) {
      broken = broken || seed == 7;
      if (broken) throw std::runtime_error("broken for good");
    });
  };
  const std::vector<float> parameters(6);
  RolloutPool pool(factory, policy_with(parameters), 1);
  CHECK_THROWS_AS(pool.run(std::vector<RolloutTask>{{parameters, 1}, {parameters, 7}}), Error);
  CHECK(pool.run(std::vector<RolloutTask>{{parameters, 1}}).size() == 1);
  CHECK(built == 2);
}

TEST_CASE("of an episode that failed twice before it went through, the first failure is told") {
  int built = 0;
  const EnvFactory factory = [&built] {
    return std::make_unique<FakeEnv>(12, [number = ++built](auto, int, auto&) {
      if (number <= 2) throw std::runtime_error("environment " + std::to_string(number));
    });
  };
  const std::vector<float> parameters(6);
  RolloutPool pool(factory, policy_with(parameters), 1, {.retries = 2});
  const auto episodes = pool.run(std::vector<RolloutTask>{{parameters, 1}});
  CHECK(episodes[0].retries == 2);
  CHECK_THAT(episodes[0].retried_for, ContainsSubstring("environment 1"));
}

TEST_CASE("a factory may throw anything, and is tried again") {
  int built = 0;
  const EnvFactory factory = [&built]() -> std::unique_ptr<Env> {
    if (++built <= 2) throw built;
    return std::make_unique<FakeEnv>();
  };
  const std::vector<float> parameters(6);
  RolloutPool pool(factory, policy_with(parameters), 1, {.retries = 2});
  const auto episodes = pool.run(std::vector<RolloutTask>{{parameters, 1}});
  CHECK(episodes[0].retries == 2);
  CHECK(episodes[0].retried_for == "the environment factory threw something that is no std::exception");
}

TEST_CASE("an interrupt stops a pool between steps") {
  RolloutPool pool(fake_envs([](auto, int step, auto&) {
                     if (step == 3) request_interrupt();
                   }),
                   policy_with(std::vector<float>(6)), 2);
  const std::vector<float> parameters(6);
  const std::vector<RolloutTask> tasks(8, {parameters, 1});
  CHECK_THROWS_AS(pool.run(tasks), Interrupted);
  clear_interrupt();
}
