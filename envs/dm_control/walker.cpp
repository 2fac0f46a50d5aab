module;
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
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

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double standing_height = 1.2;  // m, of the torso's centre

// Stands, walks or runs: the tasks differ in the speed they ask for.
class Walker final : public ControlTask {
 public:
  Walker(std::string_view name, double wanted_speed, Options& options)
      : ControlTask({.name = name, .model = "walker", .physics_steps = 10, .state_size = 24}, options),
        wanted_speed_(wanted_speed),
        torso_(world().id("body", "torso")),
        bodies_(static_cast<int>(world().names("body").size())),
        velocity_(world().id("sensor", "torso_velocity")) {
    const auto bodies = world().names("body");
    std::vector<std::string> names;
    for (int body = torso_; body < bodies_; ++body)
      for (const char* quantity : {"cosine of ", "sine of "}) names.push_back(quantity + bodies[static_cast<std::size_t>(body)]);
    names.emplace_back("height of torso");
    std::ranges::move(joint_velocities(), std::back_inserter(names));
    name_state(std::move(names));
  }

 private:
  void start(MujocoWorld& world, Random& random) override { randomize_joints(world, random, false); }

  double reward() const override {
    const double standing = tolerance(height(), {.lower = standing_height, .upper = infinity, .margin = standing_height / 2});
    const double upright = (1 + world().body_rotation(torso_)[8]) / 2;
    const double stand = (3 * standing + upright) / 4;
    if (wanted_speed_ == 0) return stand;
    const double move = tolerance(world().sensor(velocity_)[0], {.lower = wanted_speed_,
                                                                 .upper = infinity,
                                                                 .margin = wanted_speed_ / 2,
                                                                 .value_at_margin = 0.5,
                                                                 .sigmoid = Sigmoid::linear});
    return stand * (5 * move + 1) / 6;
  }

  // Every body turns about y only: two entries of its rotation say all. The horizontal position is left out.
  void write_state(std::span<float> state) const override {
    auto next = state.begin();
    for (int body = torso_; body < bodies_; ++body) {
      const auto rotation = world().body_rotation(body);
      *next++ = static_cast<float>(rotation[0]);
      *next++ = static_cast<float>(rotation[2]);
    }
    *next++ = static_cast<float>(height());
    std::ranges::transform(world().qvel(), next, [](double value) { return static_cast<float>(value); });
  }

  double height() const { return world().body_position(torso_)[2]; }

  double wanted_speed_;  // m/s
  int torso_, bodies_, velocity_;
};

}  // namespace

/// @lua options env.walker-stand
/// Two legs in the plane stand up and stay so, the body 1.2 m high and upright: 6 actions, a state of 24, 0.025 s a step, 1000
/// steps.
/// @use env.mujoco
extern "C++" std::unique_ptr<Env> make_walker_stand(Options& options) {
  return std::make_unique<Walker>("walker-stand", 0, options);
}
/// @lua options env.walker-walk
/// Two legs in the plane stand up and walk at 1 m/s: 6 actions, a state of 24, 0.025 s a step, 1000 steps.
/// @use env.mujoco
extern "C++" std::unique_ptr<Env> make_walker_walk(Options& options) { return std::make_unique<Walker>("walker-walk", 1, options); }
/// @lua options env.walker-run
/// Two legs in the plane run at 8 m/s: 6 actions, a state of 24, 0.025 s a step, 1000 steps. A step pays for standing upright,
/// mostly
/// times speed.
/// @use env.mujoco
extern "C++" std::unique_ptr<Env> make_walker_run(Options& options) { return std::make_unique<Walker>("walker-run", 8, options); }

}  // namespace iap
