#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
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

std::unique_ptr<Env> make() { return make_env(Config::Map{{"name", "ball-in-cup-catch"}}); }

}  // namespace

TEST_CASE("ball-in-cup-catch has the suite's sizes") {
  auto env = make();
  CHECK(env->spec().action_size == 2);
  CHECK(env->spec().observation.vector == 8);
  CHECK(std::abs(env->spec().control_dt - 0.02) < 1e-15);
  CHECK(env->spec().max_steps == 1000);
}

TEST_CASE("ball-in-cup-catch pays one while the whole ball is in the cup") {
  auto env = make();
  auto& world = task_of(*env).world();
  Random random(3);
  env->reset(3);
  int caught = 0;
  const int steps = 400;
  for (int i = 0; i < steps; ++i) {
    // The cup's origin is 0.6 m high, the ball's 0.2 m; the middle of the cup lies 0.05 m below its origin.
    const double cup_x = random.uniform(-0.05, 0.05), cup_z = random.uniform(-0.05, 0.05);
    const double into_x = random.uniform(-0.06, 0.06), into_z = random.uniform(-0.06, 0.06);
    const std::vector<double> place{cup_x, cup_z, cup_x + into_x, 0.6 + cup_z - 0.05 + into_z - 0.2};
    std::ranges::copy(place, world.qpos().begin());
    std::ranges::fill(world.qvel(), 0.0);
    world.forward();
    const double reward = env->step(std::vector{0.0f, 0.0f}).reward;
    const auto q = world.qpos();
    const double x = q[2] - q[0], z = 0.2 + q[3] - (0.6 + q[1] - 0.05);
    CHECK(reward == (std::abs(x) < 0.05 - 0.025 && std::abs(z) < 0.05 - 0.025 ? 1 : 0));
    caught += reward > 0;
    const auto shown = env->observe().vector;
    for (int k = 0; k < 4; ++k) {
      CHECK(shown[k] == static_cast<float>(q[k]));
      CHECK(shown[4 + k] == static_cast<float>(world.qvel()[k]));
    }
    if (env->step(std::vector{0.0f, 0.0f}).truncated) env->reset(i);
  }
  CHECK((caught > steps / 20 && caught < steps / 2));
}

TEST_CASE("the string holds the falling ball") {
  auto env = make();
  const auto& world = task_of(*env).world();
  env->reset(1);
  for (int i = 0; i < 400; ++i) env->step(std::vector{0.0f, 0.0f});
  const auto q = world.qpos();
  // From the cup's bottom, 0.108 m below its origin, to the ball's centre.
  const double length = std::hypot(q[2] - q[0], (0.6 + q[1] - 0.108) - (0.2 + q[3]));
  CHECK(std::abs(length - 0.3) < 0.01);
}

TEST_CASE("ball-in-cup-catch starts with the ball in free air, drawn uniformly") {
  auto env = make();
  const auto& world = task_of(*env).world();
  const int episodes = 2000;
  int left = 0, low = 0;
  for (int seed = 0; seed < episodes; ++seed) {
    env->reset(seed);
    const auto q = world.qpos();
    CHECK((q[0] == 0 && q[1] == 0));
    CHECK((std::abs(q[2]) <= 0.2 && q[3] >= 0.2 && q[3] <= 0.5));
    CHECK(world.contacts() == 0);
    left += q[2] < 0;
    // The cup takes away heights between 0.27 and 0.43 only.
    low += q[3] < 0.26;
  }
  CHECK(std::abs(left - episodes / 2.0) < 4 * std::sqrt(episodes / 4.0));
  const double share = static_cast<double>(low) / episodes;
  CHECK((share > 0.2 && share < 0.2 * 1.25 + 4 * std::sqrt(0.16 / episodes)));
}

TEST_CASE("ball-in-cup-catch's dense reward leads over the rim, and changes nothing else") {
  auto dense = make_env(Config::Map{{"name", "ball-in-cup-catch"}, {"reward", "dense"}});
  auto task = make_env(Config::Map{{"name", "ball-in-cup-catch"}, {"reward", "task"}}), standard = make();
  const auto& world = task_of(*dense).world();
  Random random(6);
  int caught = 0, between = 0;
  for (int i = 0; i < 3000; ++i) {
    if (i % 50 == 0)
      for (Env* env : {dense.get(), task.get(), standard.get()}) env->reset(i);
    const std::vector<float> action{static_cast<float>(random.uniform(-1, 1)), static_cast<float>(random.uniform(-1, 1))};
    const double shaped = dense->step(action).reward, paid = task->step(action).reward;
    CHECK(standard->step(action).reward == paid);
    CHECK(std::ranges::equal(dense->observe().vector, task->observe().vector));
    const auto q = world.qpos();
    const double x = q[2] - q[0], z = 0.2 + q[3] - (0.6 + q[1] - 0.05);
    // Half of: how high, from 40 cm below the cup's middle up, times how near to above it, within 40 cm.
    const double high = std::clamp(1 + z / 0.4, 0.0, 1.0), over = std::clamp(1 - std::abs(x) / 0.4, 0.0, 1.0);
    CHECK(std::abs(shaped - (paid == 1 ? 1 : 0.5 * high * over)) < 1e-9);
    caught += paid == 1;
    between += shaped > 0.05 && shaped < 0.45;
  }
  CHECK((caught > 0 && between > 500));
}
