// Seeded episodes as they were when the files in tests/data/golden were written. `test_envs "[write]"` writes them anew, which is
// right only after a deliberate change of the physics, the reward or the random streams.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;

using namespace iap;

namespace {

constexpr int steps = 120;

std::string path(const std::string& name) { return std::string(IAP_TEST_DATA) + "/golden/" + name + ".json"; }

// A weighted sum notices exchanged entries too.
double checksum(std::span<const float> state) {
  double sum = 0;
  for (std::size_t i = 0; i < state.size(); ++i) sum += (static_cast<double>(i) + 1) * state[i];
  return sum;
}

Config trace(const EnvEntry& entry) {
  Config config = Config::Map{{"name", entry.name}};
  const Config example = parse_json(entry.example, entry.name);
  if (const auto* state = example.find("state")) config["state"] = *state;
  auto env = make_env(config);
  Random random({.seed = 21, .purpose = Purpose::user});
  std::vector<float> action(env->spec().action_size);
  Config::List rewards, states;
  env->reset(21);
  for (int i = 0; i < steps; ++i) {
    for (float& value : action) value = static_cast<float>(random.uniform(env->spec().action_low, env->spec().action_high));
    const auto result = env->step(action);
    rewards.push_back(result.reward);
    states.push_back(checksum(env->observe().vector));
    if (result.terminated || result.truncated) env->reset(21);
  }
  return Config::Map{{"rewards", rewards}, {"states", states}};
}

}  // namespace

TEST_CASE("environments repeat their golden traces") {
  for (const auto& entry : env_catalog()) {
    const auto golden = parse_json(read_file(path(entry.name)), entry.name), now = trace(entry);
    for (const char* part : {"rewards", "states"}) {
      const auto &expected = *golden.find(part)->list(), &actual = *now.find(part)->list();
      REQUIRE(expected.size() == steps);
      for (int i = 0; i < steps; ++i) {
        CAPTURE(entry.name, part, i);
        const double truth = *expected[i].number();
        CHECK(std::abs(*actual[i].number() - truth) <= 1e-9 * std::max(1.0, std::abs(truth)));
      }
    }
  }
}

TEST_CASE("golden traces are written", "[.][write]") {
  for (const auto& entry : env_catalog()) {
    make_folder(std::string(IAP_TEST_DATA) + "/golden");
    write_file_atomic(path(entry.name), to_json(trace(entry)) + "\n");
    CHECK(read_file(path(entry.name)).size() > steps);
  }
}
