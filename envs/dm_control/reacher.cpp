module;
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.envs.dm_control;
import iap.core;
import iap.env;
import iap.sim;

namespace iap {
namespace {

class Reacher final : public ControlTask {
 public:
  Reacher(std::string_view name, double target_radius, Options& options)
      : ControlTask({.name = name, .model = "reacher", .physics_steps = 1, .state_size = 6}, options),
        dense_(read_dense_reward(options)),
        target_radius_(target_radius),
        target_(world().id("geom", "target")),
        finger_(world().id("geom", "finger")) {
    auto names = joint_positions();
    for (const char* offset : {"x from finger to target", "y from finger to target"}) names.emplace_back(offset);
    std::ranges::move(joint_velocities(), std::back_inserter(names));
    name_state(std::move(names));
  }

 private:
  void start(MujocoWorld& world, Random& random) override {
    world.geom_size(target_)[0] = target_radius_;
    randomize_joints(world, random, false);
    const double angle = random.uniform(0, 2 * std::numbers::pi), distance = random.uniform(0.05, 0.2);
    world.geom_offset(target_)[0] = distance * std::sin(angle);
    world.geom_offset(target_)[1] = distance * std::cos(angle);
  }

  // Paid as soon as the two spheres overlap, seen from above. Dense: it falls with the distance, to a tenth at 20 cm.
  double reward() const override {
    const double reach = target_radius_ + world().geom_size(finger_)[0], margin = dense_ ? 0.2 : 0;
    return tolerance(std::hypot(to_target(0), to_target(1)),
                     {.lower = 0, .upper = reach, .margin = margin, .sigmoid = Sigmoid::long_tail});
  }

  void write_state(std::span<float> state) const override {
    const auto cast = [](double value) { return static_cast<float>(value); };
    auto next = std::ranges::transform(world().qpos(), state.begin(), cast).out;
    for (const int axis : {0, 1}) *next++ = cast(to_target(axis));
    std::ranges::transform(world().qvel(), next, cast);
  }

  double to_target(int axis) const { return world().geom_position(target_)[axis] - world().geom_position(finger_)[axis]; }

  bool dense_;
  double target_radius_;  // m
  int target_, finger_;
};

}  // namespace

/// @lua options env.reacher-easy
/// An arm of two links reaches a target of 5 cm: 2 actions, a state of 6, 0.02 s a step, 1000 steps; a step pays 1 while finger and
/// target
/// touch.
/// @option reward "task"|"dense" = "task" - "dense" leads the way where the task's own reward is 0 almost everywhere; its figures
/// are not the benchmark's
/// @use env.mujoco
/// @see training.md#evaluations-elsewhere
extern "C++" std::unique_ptr<Env> make_reacher_easy(Options& options) {
  return std::make_unique<Reacher>("reacher-easy", 0.05, options);
}
/// @lua options env.reacher-hard
/// As reacher-easy with a target of 1.5 cm.
/// @option reward "task"|"dense" = "task" - "dense" leads the way where the task's own reward is 0 almost everywhere; its figures
/// are not the benchmark's
/// @use env.mujoco
/// @see training.md#evaluations-elsewhere
extern "C++" std::unique_ptr<Env> make_reacher_hard(Options& options) {
  return std::make_unique<Reacher>("reacher-hard", 0.015, options);
}

}  // namespace iap
