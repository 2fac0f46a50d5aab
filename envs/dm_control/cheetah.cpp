module;
#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.envs.dm_control;
import iap.core;
import iap.env;
import iap.sim;

namespace iap {
namespace {

constexpr double wanted_speed = 10;  // m/s

class CheetahRun final : public ControlTask {
 public:
  explicit CheetahRun(Options& options)
      : ControlTask({.name = "cheetah-run", .model = "cheetah", .physics_steps = 1, .state_size = 17}, options),
        velocity_(world().id("sensor", "torso_velocity")) {
    auto names = joint_positions(1);
    std::ranges::move(joint_velocities(), std::back_inserter(names));
    name_state(std::move(names));
  }

 private:
  void start(MujocoWorld& world, Random& random) override {
    constexpr int settling_steps = 200;
    randomize_joints(world, random, true);
    world.step(settling_steps);
    world.set_time(0);
  }

  double reward() const override {
    return tolerance(world().sensor(velocity_)[0], {.lower = wanted_speed,
                                                    .upper = std::numeric_limits<double>::infinity(),
                                                    .margin = wanted_speed,
                                                    .value_at_margin = 0,
                                                    .sigmoid = Sigmoid::linear});
  }

  // The horizontal position is left out: running should not depend on where.
  void write_state(std::span<float> state) const override {
    const auto cast = [](double value) { return static_cast<float>(value); };
    const auto velocities = std::ranges::transform(world().qpos().subspan(1), state.begin(), cast).out;
    std::ranges::transform(world().qvel(), velocities, cast);
  }

  int velocity_;
};

}  // namespace

/// @lua options env.cheetah-run
/// Half a cheetah runs in the plane: 6 actions, a state of 17, 0.01 s a step, 1000 steps. A step pays its speed over 10 m/s, at
/// most 1.
/// @use env.mujoco
extern "C++" std::unique_ptr<Env> make_cheetah_run(Options& options) { return std::make_unique<CheetahRun>(options); }

}  // namespace iap
