#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;

using namespace iap;

namespace {

std::unique_ptr<Env> make(Config::Map options = {}) {
  options["name"] = "take-cover";
  options.try_emplace("art", "procedural");
  return make_env(options);
}

std::vector<std::uint8_t> picture(Env& env) {
  const ImageView view = env.observe().images[0];
  return {view.bytes(), view.bytes() + view.shape.count()};
}

}  // namespace

TEST_CASE("a third of the way decides whether the player steps aside") {
  auto env = make({{"state", true}});
  const auto place = [&](float action) {
    env->reset(1);
    for (int i = 0; i < 5; ++i) env->step(std::array{action});
    return env->observe().vector[1];
  };
  CHECK(place(0) == 384);
  CHECK(place(0.33f) == 384);
  CHECK(place(-0.33f) == 384);
  CHECK(place(0.34f) < 384);
  CHECK(place(-0.34f) > 384);
  CHECK(place(1) == place(0.34f));
}

TEST_CASE("every tic survived pays one point, until death") {
  auto env = make({{"state", true}});
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    env->reset(seed);
    StepResult result;
    int steps = 0;
    for (; !result.terminated; ++steps) {
      result = env->step(std::array{0.0f});
      CHECK(result.reward == 1);
      REQUIRE(steps < 2100);
    }
    CHECK_FALSE(result.truncated);
    CHECK(env->observe().vector[4] == 0);
    CHECK(steps > 40);
    CHECK_THROWS_AS(env->step(std::array{0.0f}), Error);
  }
}

TEST_CASE("modifications change what they name, and only the picture") {
  auto plain = make(), walls = make({{"modification", "walls"}}), floor = make({{"modification", "floor"}}),
       sign = make({{"modification", "text"}});
  for (auto* env : {&plain, &walls, &floor, &sign}) (*env)->reset(5);
  const auto original = picture(*plain);
  // Rows of 96: the sign hangs over 6..21, the horizon lies at 40, the status bar begins at 80.
  const auto changed = [&](Env& env, int from, int to) {
    const auto other = picture(env);
    int count = 0;
    for (int i = from * 96 * 3; i < to * 96 * 3; ++i)
      count += other[static_cast<std::size_t>(i)] != original[static_cast<std::size_t>(i)];
    return static_cast<double>(count) / ((to - from) * 96 * 3);
  };
  CHECK(changed(*walls, 0, 25) > 0.8);
  CHECK(changed(*walls, 52, 96) == 0);
  CHECK(changed(*floor, 0, 40) == 0);
  CHECK(changed(*floor, 60, 80) > 0.5);
  CHECK(changed(*sign, 6, 21) > 0.5);
  CHECK(changed(*sign, 23, 96) == 0);
  for (auto* env : {&walls, &floor, &sign}) CHECK(changed(**env, 82, 96) == 0);
}

TEST_CASE("on the rules of nightmare the same player dies sooner") {
  const auto survived = [](const std::string& skill) {
    auto env = make({{"skill", skill}});
    int steps = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      env->reset(seed);
      for (StepResult result; !result.terminated && !result.truncated; ++steps)
        result = env->step(std::array{steps % 80 < 40 ? 1.0f : -1.0f});
    }
    return steps / 20;
  };
  CHECK(survived("nightmare") < survived("hard"));
}
