#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.dm_control;
import iap.sim;

using namespace iap;

namespace {

ControlTask& task_of(Env& env) { return dynamic_cast<ControlTask&>(env.unwrapped()); }

}  // namespace

TEST_CASE("cartpole has the suite's sizes") {
  for (const char* name : {"cartpole-balance", "cartpole-balance-sparse", "cartpole-swingup", "cartpole-swingup-sparse"}) {
    auto env = make_env(Config::Map{{"name", name}});
    CHECK(env->spec().action_size == 1);
    CHECK(env->spec().observation.vector == 5);
    CHECK(env->spec().control_dt == 0.01);
    CHECK(env->spec().max_steps == 1000);
  }
}

TEST_CASE("cartpole pays for an upright, centred, quiet pole") {
  const std::string name = GENERATE("cartpole-swingup", "cartpole-balance");
  auto env = make_env(Config::Map{{"name", name}});
  auto& world = task_of(*env).world();
  Random random(6);
  env->reset(6);
  for (int i = 0; i < 300; ++i) {
    world.qpos()[0] = random.uniform(-1.7, 1.7);
    world.qpos()[1] = random.uniform(-4, 4);
    world.qvel()[1] = random.uniform(-8, 8);
    const float action = static_cast<float>(random.uniform(-1.3, 1.3));
    world.forward();
    const double reward = env->step(std::vector{action}).reward;
    const double x = world.qpos()[0], angle = world.qpos()[1], spin = world.qvel()[1];
    const double force = std::clamp(action, -1.0f, 1.0f);
    const double upright = (std::cos(angle) + 1) / 2;
    const double centred = (1 + std::exp(std::log(0.1) * x * x / 4)) / 2;
    const double quiet = (1 + std::exp(std::log(0.1) * spin * spin / 25)) / 2;
    const double gentle = (4 + 1 - force * force) / 5;
    CHECK(std::abs(reward - upright * centred * quiet * gentle) < 1e-9);
    const auto shown = env->observe().vector;
    CHECK(std::abs(shown[0] - x) < 1e-6);
    CHECK(std::abs(shown[1] - std::cos(angle)) < 1e-6);
    CHECK(std::abs(shown[2] - std::sin(angle)) < 1e-6);
    CHECK(std::abs(shown[3] - world.qvel()[0]) < 1e-5);
    CHECK(std::abs(shown[4] - spin) < 1e-5);
  }
}

TEST_CASE("a motionless upright pole earns one a step") {
  auto env = make_env(Config::Map{{"name", "cartpole-swingup"}});
  auto& world = task_of(*env).world();
  env->reset(1);
  std::ranges::fill(world.qpos(), 0.0);
  std::ranges::fill(world.qvel(), 0.0);
  world.forward();
  CHECK(std::abs(env->step(std::vector{0.0f}).reward - 1) < 1e-12);
}

TEST_CASE("cartpole-swingup starts hanging, with the suite's spread") {
  auto env = make_env(Config::Map{{"name", "cartpole-swingup"}});
  const auto& world = task_of(*env).world();
  const int episodes = 2000;
  double sum[4]{}, square[4]{};
  for (int seed = 0; seed < episodes; ++seed) {
    env->reset(seed);
    const double deviation[4]{world.qpos()[0] / 0.01, (world.qpos()[1] - M_PI) / 0.01, world.qvel()[0] / 0.01,
                              world.qvel()[1] / 0.01};
    for (int i = 0; i < 4; ++i) {
      sum[i] += deviation[i];
      square[i] += deviation[i] * deviation[i];
    }
  }
  for (int i = 0; i < 4; ++i) {
    CHECK(std::abs(sum[i] / episodes) < 4 / std::sqrt(episodes));
    CHECK(std::abs(square[i] / episodes - 1) < 4 * std::sqrt(2.0 / episodes));
  }
}

TEST_CASE("the sparse cartpole pays one while the pole is upright and the cart near the middle") {
  const std::string name = GENERATE("cartpole-swingup-sparse", "cartpole-balance-sparse");
  auto env = make_env(Config::Map{{"name", name}});
  auto& world = task_of(*env).world();
  Random random(6);
  env->reset(6);
  int paid = 0;
  for (int i = 0; i < 400; ++i) {
    world.qpos()[0] = random.uniform(-0.5, 0.5);
    world.qpos()[1] = random.uniform(-0.2, 0.2);
    world.forward();
    const double reward = env->step(std::vector{0.2f}).reward;
    CHECK(reward == (std::abs(world.qpos()[0]) <= 0.25 && std::cos(world.qpos()[1]) >= 0.995 ? 1 : 0));
    paid += reward > 0;
  }
  CHECK((paid > 20 && paid < 380));
}

TEST_CASE("cartpole-balance starts nearly upright, with the suite's spread") {
  auto env = make_env(Config::Map{{"name", "cartpole-balance"}});
  const auto& world = task_of(*env).world();
  const int episodes = 2000;
  double offset = 0, tilt = 0, speed = 0;
  for (int seed = 0; seed < episodes; ++seed) {
    env->reset(seed);
    CHECK(std::abs(world.qpos()[0]) <= 0.1);
    CHECK(std::abs(world.qpos()[1]) <= 0.034);
    offset += std::pow(world.qpos()[0] / 0.1, 2);
    tilt += std::pow(world.qpos()[1] / 0.034, 2);
    speed += std::pow(world.qvel()[1] / 0.01, 2);
  }
  // Squares of a uniform variable in [-1, 1] and of a standard normal one.
  CHECK(std::abs(offset / episodes - 1.0 / 3) < 4 * std::sqrt(4.0 / 45 / episodes));
  CHECK(std::abs(tilt / episodes - 1.0 / 3) < 4 * std::sqrt(4.0 / 45 / episodes));
  CHECK(std::abs(speed / episodes - 1) < 4 * std::sqrt(2.0 / episodes));
}
