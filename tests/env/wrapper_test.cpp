#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.env;
#include "fake_env.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {
std::unique_ptr<Env> fake(FakeOptions options = {}) { return std::make_unique<FakeEnv>(options); }
const std::vector<float> action{0.5f, -1.5f};
}  // namespace

TEST_CASE("action repeat sums rewards, advances time and draws nothing") {
  auto env = action_repeat(fake({.max_steps = 10}), 4);
  CHECK(env->spec().control_dt == 1.0);
  CHECK(env->spec().max_steps == 3);
  CHECK(env->spec().config.find("action_repeat")->integer() == 4);
  auto& inside = dynamic_cast<FakeEnv&>(env->unwrapped());
  env->reset(1);
  auto result = env->step(action);
  CHECK(result.reward == -4);
  CHECK(inside.steps == 4);
  CHECK(inside.looks == 0);
  CHECK(env->observe().vector[1] == 4);
  CHECK_FALSE(env->step(action).truncated);
  result = env->step(action);
  CHECK(result.truncated);
  CHECK(result.reward == -2);
  CHECK(inside.steps == 10);
}

TEST_CASE("action repeat stops where the task ends") {
  auto env = action_repeat(fake({.fall_at = 6}), 4);
  env->reset(1);
  CHECK_FALSE(env->step(action).terminated);
  const auto result = env->step(action);
  CHECK(result.terminated);
  CHECK(result.reward == -2);
  CHECK(dynamic_cast<FakeEnv&>(env->unwrapped()).steps == 6);
}

TEST_CASE("a time limit truncates and starts anew at each reset") {
  auto env = time_limit(fake({.max_steps = 10}), 3);
  CHECK(env->spec().max_steps == 3);
  CHECK(env->spec().control_dt == 0.25);
  for (int episode = 0; episode < 2; ++episode) {
    env->reset(episode);
    CHECK_FALSE(env->step(action).truncated);
    CHECK_FALSE(env->step(action).truncated);
    const auto result = env->step(action);
    CHECK(result.truncated);
    CHECK_FALSE(result.terminated);
    CHECK(result.reward == -1);
  }
  CHECK(time_limit(fake({.max_steps = 10}), 20)->spec().max_steps == 10);
  CHECK(time_limit(fake(), 20)->spec().max_steps == 20);
}

TEST_CASE("nested wrappers report a config that rebuilds them") {
  auto twice = action_repeat(action_repeat(fake(), 2), 3);
  CHECK(twice->spec().config.find("action_repeat")->integer() == 6);
  CHECK(twice->spec().control_dt == 1.5);
  auto limited = time_limit(action_repeat(fake(), 4), 5);
  CHECK(limited->spec().max_steps == 5);
  CHECK(limited->spec().config.find("time_limit")->integer() == 20);
}

TEST_CASE("wrapped by hand, an environment reports a config that its options take and that ends episodes where it does") {
  const auto build = [](const Config& config) {
    Options options("fake", config);
    options.string("name", "fake");
    auto env = with_common_wrappers(fake({.max_steps = 100}), options);
    options.finish();
    return env;
  };
  const auto steps_of = [](Env& env) {
    env.reset(1);
    while (!env.step(action).truncated) {
    }
    return dynamic_cast<FakeEnv&>(env.unwrapped()).steps;
  };
  const Config limited = Config::Map{{"time_limit", 50}}, repeated = Config::Map{{"action_repeat", 3}};
  std::vector<std::unique_ptr<Env>> wrapped;
  wrapped.push_back(time_limit(action_repeat(build(limited), 7), 8));
  wrapped.push_back(time_limit(action_repeat(build(limited), 7), 5));
  wrapped.push_back(time_limit(build(repeated), 500));
  wrapped.push_back(time_limit(build(repeated), 33));
  wrapped.push_back(action_repeat(time_limit(build(repeated), 5), 2));
  for (const auto& env : wrapped) {
    CAPTURE(to_json(env->spec().config));
    for (const Config& config : {env->spec().config, env->spec().given}) {
      const auto again = build(config);
      CHECK(again->spec().config == env->spec().config);
      CHECK(again->spec().max_steps == env->spec().max_steps);
      CHECK(steps_of(*again) == steps_of(*env));
    }
  }
  CHECK_THROWS_MATCHES(action_repeat(fake(), 1001), Error, MessageMatches(ContainsSubstring("at most 1000, got 1001")));
  CHECK_THROWS_MATCHES(action_repeat(build(repeated), 334), Error,
                       MessageMatches(ContainsSubstring("got 334 of an environment that has 3 already")));
  CHECK(action_repeat(build(repeated), 333)->spec().config.find("action_repeat")->integer() == 999);
}

TEST_CASE("common wrappers read their options and complete the config") {
  const auto build = [](const Config& config, FakeOptions fake_options = {}) {
    Options options("fake", config);
    options.string("name", "fake");
    auto env = with_common_wrappers(fake(fake_options), options);
    options.finish();
    return env;
  };
  auto plain = build({}, {.max_steps = 10});
  CHECK(plain->spec().max_steps == 10);
  CHECK(plain->spec().config == Config(Config::Map{{"name", "fake"}, {"action_repeat", 1}, {"time_limit", 10}}));
  CHECK(build({})->spec().config == Config(Config::Map{{"name", "fake"}, {"action_repeat", 1}}));

  auto env = build(Config::Map{{"action_repeat", 4}, {"time_limit", 9}}, {.max_steps = 10});
  CHECK(env->spec().max_steps == 3);
  CHECK(env->spec().control_dt == 1.0);
  auto again = build(env->spec().config, {.max_steps = 10});
  CHECK(again->spec().config == env->spec().config);
  CHECK(again->spec().max_steps == 3);
  env->reset(1);
  CHECK_FALSE(env->step(action).truncated);
  CHECK_FALSE(env->step(action).truncated);
  CHECK(env->step(action).truncated);
  CHECK(dynamic_cast<FakeEnv&>(env->unwrapped()).steps == 9);

  CHECK_THROWS_MATCHES(build(Config::Map{{"time_limit", 11}}, {.max_steps = 10}), Error,
                       MessageMatches(ContainsSubstring("time_limit") && ContainsSubstring("11")));
  CHECK_THROWS_MATCHES(build(Config::Map{{"action_repeat", 0}}), Error, MessageMatches(ContainsSubstring("action_repeat")));
  CHECK_THROWS_MATCHES(build(Config::Map{{"action_repeet", 2}}), Error,
                       MessageMatches(ContainsSubstring("did you mean 'action_repeat'")));
  CHECK_THROWS_AS(action_repeat(fake(), 0), Error);
  CHECK_THROWS_AS(time_limit(fake(), 0), Error);
}

TEST_CASE("what an environment was given does not grow by the defaults of its wrappers") {
  class Given final : public FakeEnv {
   public:
    Given() : FakeEnv({.max_steps = 10}) { spec_.given["source"] = "a text"; }
  };
  const auto given = [](const Config& config) {
    Options options("fake", config);
    return with_common_wrappers(std::make_unique<Given>(), options)->spec().given;
  };
  CHECK(given({}) == Config(Config::Map{{"source", "a text"}}));
  const Config asked = Config::Map{{"time_limit", 8}, {"action_repeat", 2}, {"source", "a text"}};
  CHECK(given(asked) == asked);
  // Whoever wraps it without options changes what it must be given.
  CHECK(time_limit(std::make_unique<Given>(), 3)->spec().given.find("time_limit")->integer() == 3);
}

TEST_CASE("actions are clipped to the range and refused if wrong") {
  FakeEnv env;
  std::vector<float> clipped(2);
  clip_action(env.spec(), std::vector<float>{-5, 5}, clipped);
  CHECK(clipped == std::vector<float>{-2, 1});
  clip_action(env.spec(), std::vector<float>{-1.5f, 0.5f}, clipped);
  CHECK(clipped == std::vector<float>{-1.5f, 0.5f});
  CHECK_THROWS_MATCHES(clip_action(env.spec(), std::vector<float>{1}, clipped), Error,
                       MessageMatches(ContainsSubstring("fake") && ContainsSubstring("2 values, got 1")));
  CHECK_THROWS_MATCHES(clip_action(env.spec(), std::vector<float>{1, NAN}, clipped), Error,
                       MessageMatches(ContainsSubstring("value 2") && ContainsSubstring("nan")));
}
