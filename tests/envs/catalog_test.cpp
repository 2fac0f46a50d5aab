#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>
import iap.contract;
import iap.core;
import iap.env;
import iap.envs;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

std::vector<Config> variants(const EnvEntry& entry) {
  Config full = parse_json(entry.example, entry.name);
  full["name"] = entry.name;
  full["action_repeat"] = 4;
  return {Config::Map{{"name", entry.name}}, full};
}

// Everything `steps` seeded random actions show, as bytes.
std::vector<std::string> trace(Env& env, std::uint64_t seed, int steps) {
  Random random(seed);
  std::vector<float> action(env.spec().action_size);
  std::vector<std::string> moments;
  env.reset(seed);
  for (int i = 0; i < steps; ++i) {
    const auto observation = env.observe();
    Writer writer;
    writer.put_all(observation.vector);
    for (const auto& image : observation.images) writer.put_all(std::span(image.bytes(), image.shape.count()));
    for (float& value : action) value = static_cast<float>(random.uniform(env.spec().action_low, env.spec().action_high));
    const auto result = env.step(action);
    writer.put(result.reward);
    moments.push_back(writer.bytes());
    if (result.terminated || result.truncated) break;
  }
  return moments;
}

}  // namespace

TEST_CASE("without the script layer, an environment written in Lua says what is missing") {
  CHECK_THROWS_MATCHES(
      make_env(Config::Map{{"name", "some.lua"}}), Error,
      MessageMatches(ContainsSubstring("environment 'some.lua': ") && ContainsSubstring("call iap::register_lua() first")));
}

TEST_CASE("every environment keeps the contract") {
  std::set<std::string> names;
  for (const auto& entry : env_catalog()) {
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.summary.empty());
    for (const auto& config : variants(entry)) {
      CAPTURE(to_json(config));
      const auto env = make_env(config);
      CHECK(env->spec().name == entry.name);
      CHECK_THROWS_MATCHES(env->observe(), Error, MessageMatches(ContainsSubstring("before the first reset")));
      const auto report =
          check_contract([&] { return make_env(config); }, {.seed = 11, .episodes = 2, .steps = 30, .most_steps = 60});
      CHECK(breaches(report) == "");
    }
  }
}

TEST_CASE("robots on MuJoCo keep the contract, drawn") {
  for (const char* options : {R"({"name": "legged", "pixels": [24, 32], "state": true})", R"({"name": "a1-obstacle-course"})",
                              R"({"name": "laikago-stairs"})"}) {
    Config config = parse_json(options, "options");
    config["engine"] = "mujoco";
    CAPTURE(options);
    const auto report =
        check_contract([&] { return make_env(config); }, {.seed = 11, .episodes = 2, .steps = 40, .most_steps = 60});
    CHECK(breaches(report) == "");
  }
}

TEST_CASE("the second episode of a used environment equals the first of a fresh one, pixels included") {
  for (const auto& entry : env_catalog()) {
    for (const auto& config : variants(entry)) {
      CAPTURE(to_json(config));
      auto used = make_env(config), fresh = make_env(config);
      auto before = trace(*used, 1, 60);
      const auto second = trace(*used, 2, 30), first = trace(*fresh, 2, 30);
      CHECK(second == first);
      before.resize(first.size());
      CHECK((before != first));
    }
  }
}

TEST_CASE("a spec's config rebuilds its environment") {
  for (const auto& entry : env_catalog()) {
    for (const auto& config : variants(entry)) {
      CAPTURE(to_json(config));
      auto env = make_env(config);
      auto again = make_env(parse_json(to_json(env->spec().config), "spec"));
      CHECK(again->spec().config == env->spec().config);
      CHECK(again->spec().observation == env->spec().observation);
      CHECK(again->spec().control_dt == env->spec().control_dt);
      CHECK(again->spec().max_steps == env->spec().max_steps);
      CHECK(trace(*again, 3, 10) == trace(*env, 3, 10));
    }
  }
}

TEST_CASE("unknown environments and options are errors with the nearest name") {
  CHECK_THROWS_MATCHES(make_env(Config::Map{{"name", "cheetah-rum"}}), Error,
                       MessageMatches(ContainsSubstring("did you mean 'cheetah-run'")));
  CHECK_THROWS_MATCHES(make_env(Config::Map{{"name", "cheetah-run"}, {"pixel", Config::List{64, 64}}}), Error,
                       MessageMatches(ContainsSubstring("'cheetah-run'") && ContainsSubstring("did you mean 'pixels'")));
  CHECK_THROWS_MATCHES(make_env({}), Error, MessageMatches(ContainsSubstring("'name' is missing")));
  CHECK_THROWS_MATCHES(make_env(Config::Map{{"name", 3}}), Error, MessageMatches(ContainsSubstring("'name' must be a string")));
  CHECK_THROWS_MATCHES(make_env(Config::Map{{"name", "missing.lua"}}), Error, MessageMatches(ContainsSubstring("missing.lua")));
}

TEST_CASE("environments say how many seconds lie between two observations, and action_repeat multiplies them") {
  for (const auto& entry : env_catalog()) {
    INFO(entry.name);
    Config options = parse_json(entry.example, entry.name);
    options["name"] = entry.name;
    const auto env = make_env(options);
    CHECK(env->spec().observation.dt == env->spec().control_dt);
    options["action_repeat"] = 3;
    CHECK(make_env(options)->spec().observation.dt == 3 * env->spec().control_dt);
  }
}
