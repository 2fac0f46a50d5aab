module;
#include <memory>
#include <numbers>
#include <span>
module iap.envs;
import iap.core;
import iap.env;
import iap.sim;

namespace iap {
namespace {

class CartpoleSwingup final : public ControlTask {
 public:
  explicit CartpoleSwingup(Options& options)
      : ControlTask({.name = "cartpole-swingup", .model = "cartpole", .physics_steps = 1, .state_size = 5}, options),
        pole_(world().id("body", "pole_1")) {}

 private:
  void start(MujocoWorld& world, Random& random) override {
    constexpr double spread = 0.01;
    world.qpos()[0] = spread * random.normal();
    world.qpos()[1] = std::numbers::pi + spread * random.normal();
    for (double& velocity : world.qvel()) velocity = spread * random.normal();
  }

  double reward() const override {
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

  int pole_;
};

}  // namespace

std::unique_ptr<Env> make_cartpole_swingup(Options& options) { return std::make_unique<CartpoleSwingup>(options); }

}  // namespace iap
