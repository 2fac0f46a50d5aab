module;
#include <algorithm>
#include <cmath>
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

class BallInCupCatch final : public ControlTask {
 public:
  explicit BallInCupCatch(Options& options)
      : ControlTask({.name = "ball-in-cup-catch", .model = "ball_in_cup", .physics_steps = 10, .state_size = 8}, options),
        dense_(read_dense_reward(options)),
        ball_(world().id("geom", "ball")),
        target_(world().id("site", "target")),
        ball_x_(world().qpos_address(world().id("joint", "ball_x"))),
        ball_z_(world().qpos_address(world().id("joint", "ball_z"))) {
    auto names = joint_positions();
    std::ranges::move(joint_velocities(), std::back_inserter(names));
    name_state(std::move(names));
  }

 private:
  // Joint positions count from the ball's place in the model, so that the ball hangs, flies or lies about, but not in the cup's
  // wall.
  void start(MujocoWorld& world, Random& random) override {
    do {
      world.qpos()[ball_x_] = random.uniform(-0.2, 0.2);
      world.qpos()[ball_z_] = random.uniform(0.2, 0.5);
      world.forward_without_actuation();
    } while (world.contacts() > 0);
  }

  // Dense: outside the cup up to a half, for a ball that is high and over it. From below the bottom is in the way, so that the mere
  // distance would lead astray.
  double reward() const override {
    if (inside(0) && inside(2)) return 1;
    if (!dense_) return 0;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const double high =
        tolerance(-to_target(2), {.lower = 0, .upper = infinite, .margin = 0.4, .value_at_margin = 0, .sigmoid = Sigmoid::linear});
    const double over =
        tolerance(to_target(0), {.lower = 0, .upper = 0, .margin = 0.4, .value_at_margin = 0, .sigmoid = Sigmoid::linear});
    return 0.5 * high * over;
  }

  void write_state(std::span<float> state) const override {
    const auto cast = [](double value) { return static_cast<float>(value); };
    const auto velocities = std::ranges::transform(world().qpos(), state.begin(), cast).out;
    std::ranges::transform(world().qvel(), velocities, cast);
  }

  // Whether the whole ball lies within the target box along `axis`; the cup never turns.
  bool inside(int axis) const { return std::abs(to_target(axis)) < world().site_size(target_)[axis] - world().geom_size(ball_)[0]; }

  double to_target(int axis) const { return world().site_position(target_)[axis] - world().geom_position(ball_)[axis]; }

  bool dense_;
  int ball_, target_, ball_x_, ball_z_;
};

}  // namespace

/// @lua options env.ball-in-cup-catch
/// A cup swings the ball on its string into itself: 2 actions, a state of 8, 0.02 s a step, 1000 steps; a step pays 1 while the
/// ball is in.
/// @option reward "task"|"dense" = "task" - "dense" leads the way where the task's own reward is 0 almost everywhere; its figures
/// are not the benchmark's
/// @use env.mujoco
/// @see training.md#evaluations-elsewhere
extern "C++" std::unique_ptr<Env> make_ball_in_cup_catch(Options& options) { return std::make_unique<BallInCupCatch>(options); }

}  // namespace iap
