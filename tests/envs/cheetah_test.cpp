#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
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

// Mass-weighted mean of the bodies' velocities, from each body's spatial velocity about the model's centre of mass.
double forward_speed(const MujocoWorld& world) {
  const auto mass = world.array("body_mass"), velocity = world.array("cvel"), centre = world.array("xipos"),
             origin = world.array("subtree_com");
  double momentum = 0, total = 0;
  for (std::size_t body = 1; body < mass.size(); ++body) {
    const double* spin = &velocity[6 * body];
    const double z = centre[3 * body + 2] - origin[3 + 2], y = centre[3 * body + 1] - origin[3 + 1];
    momentum += mass[body] * (spin[3] + spin[1] * z - spin[2] * y);
    total += mass[body];
  }
  return momentum / total;
}

}  // namespace

TEST_CASE("cheetah-run has the suite's sizes") {
  auto env = make_env(Config::Map{{"name", "cheetah-run"}});
  CHECK(env->spec().action_size == 6);
  CHECK(env->spec().observation.vector == 17);
  CHECK(env->spec().control_dt == 0.01);
  CHECK(env->spec().max_steps == 1000);
}

TEST_CASE("cheetah-run pays a tenth a step for each metre a second of the whole body") {
  auto env = make_env(Config::Map{{"name", "cheetah-run"}});
  auto& world = task_of(*env).world();
  Random random(4);
  env->reset(4);
  double best = 0;
  for (int i = 0; i < 300; ++i) {
    if (i % 20 == 0) world.qvel()[0] = random.uniform(-3, 14);
    std::vector<float> action(6);
    for (float& value : action) value = static_cast<float>(random.uniform(-1, 1));
    const double reward = env->step(action).reward;
    CHECK(std::abs(reward - std::clamp(forward_speed(world) / 10, 0.0, 1.0)) < 1e-9);
    best = std::max(best, reward);
  }
  CHECK(best > 0.9);
}

TEST_CASE("cheetah-run shows all but the horizontal position") {
  auto env = make_env(Config::Map{{"name", "cheetah-run"}});
  env->reset(5);
  env->step(std::vector<float>(6, 0.5f));
  const auto& world = task_of(*env).world();
  const auto shown = env->observe().vector;
  for (int i = 0; i < 8; ++i) CHECK(shown[i] == static_cast<float>(world.qpos()[i + 1]));
  for (int i = 0; i < 9; ++i) CHECK(shown[8 + i] == static_cast<float>(world.qvel()[i]));
}

TEST_CASE("cheetah-run starts from settled random joints at time zero") {
  auto env = make_env(Config::Map{{"name", "cheetah-run"}});
  MujocoWorld world(dm_control_files("cheetah"));
  std::vector<double> first_joint;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    env->reset(seed);
    world.reset();
    world.forward_without_actuation();
    Random random({.seed = seed, .purpose = Purpose::environment});
    const auto range = world.array("jnt_range");
    for (int joint = 3; joint < 9; ++joint) world.qpos()[joint] = random.uniform(range[2 * joint], range[2 * joint + 1]);
    world.step(200);
    CHECK(std::ranges::equal(task_of(*env).world().qpos(), world.qpos()));
    CHECK(std::ranges::equal(task_of(*env).world().qvel(), world.qvel()));
    CHECK(task_of(*env).world().time() == 0);
  }
}

TEST_CASE("limited joints are drawn uniformly from their ranges, unlimited hinges from the circle") {
  MujocoWorld world(dm_control_files("cheetah"));
  const auto range = world.array("jnt_range");
  Random random(8);
  const int draws = 2000;
  std::array<double, 9> sum{}, square{};
  for (int i = 0; i < draws; ++i) {
    world.reset();
    randomize_joints(world, random, false);
    for (int joint = 0; joint < 9; ++joint) {
      const double low = joint == 2 ? -M_PI : range[2 * joint], high = joint == 2 ? M_PI : range[2 * joint + 1];
      const double x = joint < 2 ? 0 : (world.qpos()[joint] - low) / (high - low);
      if (joint < 2) CHECK(world.qpos()[joint] == 0);
      CHECK((x >= 0 && x <= 1));
      sum[joint] += x;
      square[joint] += x * x;
    }
  }
  for (int joint = 2; joint < 9; ++joint) {
    CHECK(std::abs(sum[joint] / draws - 0.5) < 4 * std::sqrt(1.0 / 12 / draws));
    CHECK(std::abs(square[joint] / draws - 1.0 / 3) < 4 * std::sqrt(4.0 / 45 / draws));
  }
  world.reset();
  randomize_joints(world, random, true);
  CHECK(world.qpos()[2] == 0);
  CHECK(world.qpos()[3] != 0);
}

TEST_CASE("limited balls are turned by uniform angles, free bodies in any direction where they are") {
  const std::vector<MujocoFile> files{{"model.xml", R"(<mujoco><worldbody>
    <body><joint type="ball" limited="true" range="0 120"/><geom size=".1"/></body>
    <body pos="1 2 3"><freejoint/><geom size=".1"/></body></worldbody></mujoco>)"}};
  MujocoWorld world(files);
  Random random(8);
  const int draws = 2000;
  const double limit = 2 * M_PI / 3;
  std::array<double, 8> sum{}, square{};  // the ball's angle as a share of its limit, its axis, the free body's quaternion
  for (int i = 0; i < draws; ++i) {
    world.reset();
    randomize_joints(world, random, false);
    const auto q = world.qpos();
    const double angle = 2 * std::acos(q[0]), sine = std::sin(angle / 2);
    CHECK(std::abs(std::hypot(q[1], q[2], q[3]) - sine) < 1e-9);
    CHECK((angle >= 0 && angle <= limit + 1e-9));
    CHECK((q[4] == 1 && q[5] == 2 && q[6] == 3));
    const std::array<double, 8> values{angle / limit, q[1] / sine, q[2] / sine, q[3] / sine, q[7], q[8], q[9], q[10]};
    for (std::size_t k = 0; k < values.size(); ++k) {
      sum[k] += values[k];
      square[k] += values[k] * values[k];
    }
  }
  // Of directions in n dimensions each entry has mean 0, square mean 1 / n and fourth moment 3 / (n (n + 2)).
  const auto check = [&](std::size_t k, double mean, double mean_square, double fourth) {
    CAPTURE(k);
    CHECK(std::abs(sum[k] / draws - mean) < 4 * std::sqrt((mean_square - mean * mean) / draws));
    CHECK(std::abs(square[k] / draws - mean_square) < 4 * std::sqrt((fourth - mean_square * mean_square) / draws));
  };
  check(0, 0.5, 1.0 / 3, 1.0 / 5);
  for (std::size_t k = 1; k < 4; ++k) check(k, 0, 1.0 / 3, 1.0 / 5);
  for (std::size_t k = 4; k < 8; ++k) check(k, 0, 1.0 / 4, 1.0 / 8);
}
