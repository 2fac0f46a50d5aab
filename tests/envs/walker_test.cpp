#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
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

// The horizontal speed of all bodies' common centre of mass, from two moments so close that it is as good as a derivative.
double forward_speed(const MujocoWorld& world) {
  MujocoWorld copy(dm_control_files("walker"));
  const auto centre = [&](double seconds) {
    for (std::size_t i = 0; i < world.qpos().size(); ++i) copy.qpos()[i] = world.qpos()[i] + seconds * world.qvel()[i];
    copy.forward();
    return copy.array("subtree_com")[3];
  };
  constexpr double instant = 1e-5;
  return (centre(instant) - centre(-instant)) / (2 * instant);
}

}  // namespace

TEST_CASE("walker has the suite's sizes") {
  for (const char* name : {"walker-stand", "walker-walk", "walker-run"}) {
    auto env = make(name);
    CHECK(env->spec().action_size == 6);
    CHECK(env->spec().observation.vector == 24);
    CHECK(std::abs(env->spec().control_dt - 0.025) < 1e-15);
    CHECK(env->spec().max_steps == 1000);
  }
}

TEST_CASE("walker pays for a high, upright torso, and for speed where the task asks for it") {
  for (const auto& [name, wanted] : std::map<std::string, double>{{"walker-stand", 0}, {"walker-walk", 1}, {"walker-run", 8}}) {
    auto env = make(name);
    auto& world = task_of(*env).world();
    Random random(3);
    env->reset(3);
    int fast = 0, half = 0, slow = 0;
    for (int i = 0; i < 150; ++i) {
      world.qpos()[0] = random.uniform(-0.6, 0.3);
      world.qpos()[2] = random.uniform(-3, 3);
      world.qvel()[1] = random.uniform(-0.3, 1.3) * std::max(wanted, 1.0);
      world.forward();
      std::vector<float> action(6);
      for (float& value : action) value = static_cast<float>(random.uniform(-1, 1));
      const double reward = env->step(action).reward;
      // The torso's height counts from 1.3 m, where the model puts it; its axis turns about y alone.
      const double height = 1.3 + world.qpos()[0], upright = (1 + std::cos(world.qpos()[2])) / 2;
      const double lack = std::max(0.0, 1.2 - height) / 0.6;
      double expected = (3 * std::exp(std::log(0.1) * lack * lack) + upright) / 4;
      if (wanted > 0) {
        const double speed = forward_speed(world);
        const double move = speed >= wanted ? 1 : std::max(0.0, 1 - (wanted - speed) / wanted);
        (move == 1 ? fast : move == 0 ? slow : half) += 1;
        expected *= (5 * move + 1) / 6;
      }
      CAPTURE(name, i);
      CHECK(std::abs(reward - expected) < 1e-6);
    }
    if (wanted > 0) CHECK((fast > 5 && half > 5 && slow > 5));
  }
}

TEST_CASE("walker shows the bodies' turns, the torso's height and the velocities") {
  auto env = make("walker-walk");
  env->reset(5);
  env->step(std::vector<float>(6, 0.5f));
  const auto& world = task_of(*env).world();
  const auto q = world.qpos();
  // Angles add up along each leg; the root turns about +y, the legs about -y.
  const double torso = q[2];
  const std::vector<double> turns{torso,        torso - q[3],        torso - q[3] - q[4],       torso - q[3] - q[4] - q[5],
                                  torso - q[6], torso - q[6] - q[7], torso - q[6] - q[7] - q[8]};
  const auto shown = env->observe().vector;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    CHECK(std::abs(shown[2 * i] - std::cos(turns[i])) < 1e-6);
    CHECK(std::abs(shown[2 * i + 1] - std::sin(turns[i])) < 1e-6);
  }
  CHECK(std::abs(shown[14] - (1.3 + q[0])) < 1e-6);
  for (int i = 0; i < 9; ++i) CHECK(shown[15 + i] == static_cast<float>(world.qvel()[i]));
}

TEST_CASE("walker starts with every angle drawn at random, at its place, at rest") {
  auto env = make("walker-walk");
  const auto& world = task_of(*env).world();
  const auto range = world.array("jnt_range");
  const int episodes = 1000;
  std::vector<double> sum(9);
  for (int seed = 0; seed < episodes; ++seed) {
    env->reset(seed);
    CHECK((world.qpos()[0] == 0 && world.qpos()[1] == 0));
    CHECK(std::ranges::all_of(world.qvel(), [](double v) { return v == 0; }));
    for (int joint = 2; joint < 9; ++joint) {
      const double low = joint == 2 ? -M_PI : range[2 * joint], high = joint == 2 ? M_PI : range[2 * joint + 1];
      const double place = (world.qpos()[joint] - low) / (high - low);
      CHECK((place >= 0 && place <= 1));
      sum[joint] += place;
    }
  }
  for (int joint = 2; joint < 9; ++joint) CHECK(std::abs(sum[joint] / episodes - 0.5) < 4 * std::sqrt(1.0 / 12 / episodes));
}
