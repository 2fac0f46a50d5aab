module;
#include <limits>
#include <memory>
#include <numbers>
#include <span>
#include <string_view>
module iap.envs.dm_control;
import iap.core;
import iap.env;
import iap.sim;

namespace iap {
namespace {

struct CartpoleTask {
  std::string_view name;
  bool hanging;  // starts with the pole down instead of nearly balanced
  bool sparse;   // pays one or nothing
};

class Cartpole final : public ControlTask {
 public:
  Cartpole(const CartpoleTask& task, Options& options)
      : ControlTask({.name = task.name, .model = "cartpole", .physics_steps = 1, .state_size = 5}, options),
        task_(task),
        pole_(world().id("body", "pole_1")) {
    name_state({"position of slider", "cosine of pole_1", "sine of pole_1", "velocity of slider", "velocity of hinge_1"});
  }

 private:
  void start(MujocoWorld& world, Random& random) override {
    constexpr double spread = 0.01, largest_offset = 0.1, largest_tilt = 0.034;
    if (task_.hanging) {
      world.qpos()[0] = spread * random.normal();
      world.qpos()[1] = std::numbers::pi + spread * random.normal();
    } else {
      world.qpos()[0] = random.uniform(-largest_offset, largest_offset);
      world.qpos()[1] = random.uniform(-largest_tilt, largest_tilt);
    }
    for (double& velocity : world.qvel()) velocity = spread * random.normal();
  }

  double reward() const override { return task_.sparse ? sparse_reward() : smooth_reward(); }

  double sparse_reward() const {
    constexpr double balanced = 0.995, half_width = 0.25;
    // The cosine of a rotation may exceed one by a rounding error, which must not cost the reward.
    return tolerance(world().qpos()[0], {.lower = -half_width, .upper = half_width}) *
           tolerance(pole_cos(), {.lower = balanced, .upper = std::numeric_limits<double>::infinity()});
  }

  double smooth_reward() const {
    const double upright = (pole_cos() + 1) / 2;
    const double centred = (1 + tolerance(world().qpos()[0], {.margin = 2})) / 2;
    const double effort = tolerance(world().ctrl()[0], {.margin = 1, .value_at_margin = 0, .sigmoid = Sigmoid::quadratic});
    const double small_control = (4 + effort) / 5;
    const double small_velocity = (1 + tolerance(world().qvel()[1], {.margin = 5})) / 2;
    return upright * small_control * small_velocity * centred;
  }

  void write_state(std::span<float> state) const override {
    state[0] = static_cast<float>(world().qpos()[0]);
    state[1] = static_cast<float>(pole_cos());
    state[2] = static_cast<float>(pole_sin());
    state[3] = static_cast<float>(world().qvel()[0]);
    state[4] = static_cast<float>(world().qvel()[1]);
  }

  // The pole's axis is its local z: these are the world's z and x components of it.
  double pole_cos() const { return world().body_rotation(pole_)[8]; }
  double pole_sin() const { return world().body_rotation(pole_)[2]; }

  CartpoleTask task_;
  int pole_;
};

std::unique_ptr<Env> make(const CartpoleTask& task, Options& options) { return std::make_unique<Cartpole>(task, options); }

}  // namespace

/// @lua options env.cartpole-balance
/// A cart keeps its pole upright, near the middle and calmly: 1 action, a state of 5, 0.01 s a step, 1000 steps of at most 1 each.
/// @use env.mujoco
extern "C++" std::unique_ptr<Env> make_cartpole_balance(Options& options) {
  return make({.name = "cartpole-balance", .hanging = false, .sparse = false}, options);
}
/// @lua options env.cartpole-balance-sparse
/// As cartpole-balance; a step pays 1 while the pole is upright and the cart within 0.25 m of the middle, else 0.
/// @use env.mujoco
extern "C++" std::unique_ptr<Env> make_cartpole_balance_sparse(Options& options) {
  return make({.name = "cartpole-balance-sparse", .hanging = false, .sparse = true}, options);
}
/// @lua options env.cartpole-swingup
/// A cart swings its pole up from below and keeps it there: 1 action, a state of 5, 0.01 s a step, 1000 steps of at most 1 each.
/// @use env.mujoco
extern "C++" std::unique_ptr<Env> make_cartpole_swingup(Options& options) {
  return make({.name = "cartpole-swingup", .hanging = true, .sparse = false}, options);
}
/// @lua options env.cartpole-swingup-sparse
/// As cartpole-swingup; a step pays 1 while the pole is upright and the cart within 0.25 m of the middle, else 0.
/// @use env.mujoco
extern "C++" std::unique_ptr<Env> make_cartpole_swingup_sparse(Options& options) {
  return make({.name = "cartpole-swingup-sparse", .hanging = true, .sparse = true}, options);
}

}  // namespace iap
