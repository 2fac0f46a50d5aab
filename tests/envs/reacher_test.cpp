#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <map>
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

std::unique_ptr<Env> make(const std::string& name) { return make_env(Config::Map{{"name", name}}); }

// Two links of 12 cm, the finger at the end of the second.
std::array<double, 2> finger(std::span<const double> q) {
  return {0.12 * (std::cos(q[0]) + std::cos(q[0] + q[1])), 0.12 * (std::sin(q[0]) + std::sin(q[0] + q[1]))};
}

}  // namespace

TEST_CASE("reacher has the suite's sizes") {
  for (const char* name : {"reacher-easy", "reacher-hard"}) {
    auto env = make(name);
    CHECK(env->spec().action_size == 2);
    CHECK(env->spec().observation.vector == 6);
    CHECK(env->spec().control_dt == 0.02);
    CHECK(env->spec().max_steps == 1000);
  }
}

TEST_CASE("reacher pays one while finger and target overlap and shows the way to the target") {
  for (const auto& [name, radius] : std::map<std::string, double>{{"reacher-easy", 0.05}, {"reacher-hard", 0.015}}) {
    auto env = make(name);
    auto& world = task_of(*env).world();
    const int target = world.id("geom", "target");
    Random random(3);
    int touching = 0;
    for (int i = 0; i < 200; ++i) {
      env->reset(i);
      const double x = world.geom_offset(target)[0], y = world.geom_offset(target)[1];
      CHECK(world.geom_size(target)[0] == radius);
      // Half of the arms are laid so that the finger comes near the target: bent by the angle that the law of cosines gives.
      if (i % 2 == 0) {
        const double far = std::hypot(x, y) + random.uniform(-2, 2) * radius;
        world.qpos()[1] = 2 * std::acos(std::clamp(far / 0.24, -1.0, 1.0));
        world.qpos()[0] = std::atan2(y, x) - world.qpos()[1] / 2;
        world.forward();
      }
      const double reward = env->step(std::vector{0.3f, -0.2f}).reward;
      const auto [finger_x, finger_y] = finger(world.qpos());
      CHECK(reward == (std::hypot(x - finger_x, y - finger_y) <= radius + 0.01 ? 1 : 0));
      touching += reward > 0;
      const auto shown = env->observe().vector;
      for (int k = 0; k < 2; ++k) {
        CHECK(shown[k] == static_cast<float>(world.qpos()[k]));
        CHECK(shown[4 + k] == static_cast<float>(world.qvel()[k]));
      }
      CHECK(std::abs(shown[2] - (x - finger_x)) < 1e-6);
      CHECK(std::abs(shown[3] - (y - finger_y)) < 1e-6);
    }
    CHECK((touching > 20 && touching < 180));
  }
}

TEST_CASE("reacher draws its target anywhere in a ring and its arm anywhere") {
  auto env = make("reacher-hard");
  const auto& world = task_of(*env).world();
  const int target = world.id("geom", "target");
  const int episodes = 2000;
  double distance = 0, turn = 0, wrist = 0;
  int right = 0, above = 0;
  for (int seed = 0; seed < episodes; ++seed) {
    env->reset(seed);
    const auto place = world.geom_position(target);
    const double far = std::hypot(place[0], place[1]);
    CHECK((far >= 0.05 && far <= 0.2));
    CHECK(place[2] == 0.01);
    distance += far;
    right += place[0] > 0;
    above += place[1] > 0;
    CHECK(std::abs(world.qpos()[0]) <= M_PI);
    CHECK(std::abs(world.qpos()[1]) <= 160 * M_PI / 180 + 1e-9);
    turn += world.qpos()[0] * world.qpos()[0];
    wrist += world.qpos()[1] * world.qpos()[1];
  }
  // Of a uniform variable in [-a, a], the square has the mean a^2 / 3 and the standard deviation a^2 sqrt(4 / 45).
  const double root = std::sqrt(episodes), a = M_PI, b = 160 * M_PI / 180;
  CHECK(std::abs(distance / episodes - 0.125) < 4 * 0.15 / std::sqrt(12.0) / root);
  CHECK(std::abs(right - episodes / 2.0) < 2 * root);
  CHECK(std::abs(above - episodes / 2.0) < 2 * root);
  CHECK(std::abs(turn / episodes - a * a / 3) < 4 * a * a * std::sqrt(4.0 / 45) / root);
  CHECK(std::abs(wrist / episodes - b * b / 3) < 4 * b * b * std::sqrt(4.0 / 45) / root);
}

TEST_CASE("reacher's dense reward falls with the distance to the target, and changes nothing else") {
  for (const auto& [name, radius] : std::map<std::string, double>{{"reacher-easy", 0.05}, {"reacher-hard", 0.015}}) {
    CAPTURE(name);
    auto dense = make_env(Config::Map{{"name", name}, {"reward", "dense"}});
    auto task = make_env(Config::Map{{"name", name}, {"reward", "task"}}), standard = make(name);
    auto& world = task_of(*dense).world();
    const int target = world.id("geom", "target");
    Random random(5);
    double lowest = 1;
    for (int i = 0; i < 400; ++i) {
      if (i % 20 == 0)
        for (Env* env : {dense.get(), task.get(), standard.get()}) env->reset(i);
      const std::vector<float> action{static_cast<float>(random.uniform(-1, 1)), static_cast<float>(random.uniform(-1, 1))};
      const double shaped = dense->step(action).reward, paid = task->step(action).reward;
      CHECK(standard->step(action).reward == paid);
      CHECK(std::ranges::equal(dense->observe().vector, task->observe().vector));
      const auto [x, y] = finger(world.qpos());
      // Tassa et al. 2018: the long tail 1 / (1 + (3 x)^2) is a tenth at x = 1, which is 20 cm beyond the touch.
      const double away = std::hypot(world.geom_offset(target)[0] - x, world.geom_offset(target)[1] - y) - (radius + 0.01);
      CHECK(std::abs(shaped - (away <= 0 ? 1 : 1 / (1 + 9 * (away / 0.2) * (away / 0.2)))) < 1e-9);
      CHECK((paid == 1) == (shaped == 1));
      lowest = std::min(lowest, shaped);
    }
    CHECK((lowest > 0 && lowest < 0.2));
    CHECK(*dense->spec().config.find("reward") == Config("dense"));
    CHECK(*standard->spec().config.find("reward") == Config("task"));
  }
  CHECK_THROWS_WITH(make_env(Config::Map{{"name", "reacher-easy"}, {"reward", "dence"}}),
                    Catch::Matchers::ContainsSubstring("unknown reward 'dence'; did you mean 'dense'?"));
  CHECK_THROWS_WITH(make_env(Config::Map{{"name", "cheetah-run"}, {"reward", "dense"}}),
                    Catch::Matchers::ContainsSubstring("unknown option 'reward'"));
}
