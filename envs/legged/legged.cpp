module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.env;
import iap.render;
import iap.sim;
#include "body.hpp"
#include "legs.hpp"
#include "picture.hpp"

namespace iap {
namespace {

constexpr int episode_steps = 2500;

constexpr const char* files_key = "model_files";

/// The robot of the file `urdf`: as it was when the options were completed, if they hold it, so that a policy plays elsewhere and a
/// run is never continued with another robot.
LeggedRobot read_own_robot(const std::string& urdf, Options& options) {
  const Config& held = options.record(files_key);
  try {
    RobotBundle bundle = held.find(urdf) ? RobotBundle::unpack(urdf, held) : RobotBundle::read(urdf);
    options.complete(files_key, std::move(bundle.files));
    return legged_robot(std::move(bundle.robot));
  } catch (const Error& error) {
    options.fail(text("option 'urdf': ", error.what()));
  }
}

// A torque of damping lasts for a whole physics step. One that takes more from a joint's rate than there is turns it round, and
// light legs swing up. Of what a joint carries the inertia counts for less than all, as the joints beyond give way.
void bound_damping(LeggedRobot& robot, double timestep) {
  constexpr double counted = .75;
  const auto inertias = carried_inertias(robot, robot.standing);
  for (std::size_t i = 0; i < inertias.size(); ++i) robot.kd[i] = std::min(robot.kd[i], counted * inertias[i] / timestep);
}

LeggedRobot read_robot(Options& options) {
  if (!options.has("urdf")) return legged_robot(options.choice("robot", legged_robots(), "a1"));
  if (options.has("robot"))
    options.fail("'robot' and 'urdf' both say which robot it is; give one (--set robot=null drops a policy's own, or urdf=null)");
  LeggedRobot robot = read_own_robot(options.string("urdf"), options);
  bound_damping(robot, read_timestep(options));
  return robot;
}

/// A robot on four legs on a flat floor, paid for moving ahead. An action is twelve targets of the joints' motors, as residuals to
/// the standing pose in units of `action_scale`. The state (default: without `pixels`) holds roll, pitch, their rates in the
/// robot's axes, the joint angles and, with `velocities`, the joint velocities. The reward of a step is how far the base came along
/// x, at most what `top_speed` allows, in metres; an episode ends when the robot falls. It begins `start_height` above the floor
/// with up to `jitter` radians of noise on each joint.
class Legged final : public Env {
 public:
  explicit Legged(Options& options) : Legged(read_robot(options), options) {}

  const EnvSpec& spec() const override { return spec_; }

  void reset(std::uint64_t seed) override {
    Random random({.seed = seed, .purpose = Purpose::environment});
    body_.reset(body_.robot().standing_state(body_.robot().start_height), random);
    if (picture_) scene_ = robot_scene(body_.world());
    steps_ = 0;
    drawn_ = false;
  }

  StepResult step(std::span<const float> action) override {
    clip_action(spec_, action, action_);
    for (int i = 0; i < LeggedBody::joints; ++i) targets_[i] = body_.robot().standing[i] + action_scale_ * action_[i];
    const double way = body_.step(targets_);
    drawn_ = false;
    StepResult result{.truncated = ++steps_ >= episode_steps, .unstable = body_.world().unstable()};
    result.terminated = result.unstable || body_.fallen();
    if (!result.unstable) {
      const double most = top_speed_ * spec_.control_dt;
      result.reward = std::clamp(way, -most, most);
    }
    return result;
  }

  Observation observe() override {
    if (!drawn_ && !body_.world().unstable()) {
      if (!state_.empty()) body_.write_state(state_.data(), velocities_);
      if (picture_) {
        move_robot(body_.world(), scene_);
        scene_.camera = camera_beside(body_);
        picture_->draw(scene_);
      }
    }
    drawn_ = true;
    return {.images = views_, .vector = state_};
  }

 private:
  Legged(const LeggedRobot& robot, Options& options)
      : body_(robot, .5 * robot.touching_height(robot.standing), options), targets_(robot.standing) {
    action_scale_ = options.number_in("action_scale", 0, 3, .5);
    top_speed_ = options.number_in("top_speed", 0, 100, 1);
    velocities_ = options.boolean("velocities", true);
    picture_ = read_picture(options, {}, false);
    if (picture_) {
      spec_.observation.images.push_back(picture_->spec());
      views_.push_back(picture_->view());
    }
    if (options.boolean("state", !picture_)) state_.resize(LeggedBody::imu + LeggedBody::joints * (velocities_ ? 2 : 1));
    if (state_.empty() && !picture_) options.fail("it would show nothing: set pixels = {height, width} or state = true");
    spec_.name = "legged";
    // The files are as much given as the options are.
    const Config completed = options.completed();
    if (const Config* files = completed.find(files_key)) spec_.given[files_key] = *files;
    spec_.action_size = LeggedBody::joints;
    spec_.control_dt = spec_.observation.dt = body_.control_dt();
    spec_.max_steps = episode_steps;
    spec_.observation.vector = static_cast<int>(state_.size());
    spec_.state_names = body_.state_names();
    spec_.state_names.resize(state_.size());
  }

  LeggedBody body_;
  std::vector<double> targets_;
  EnvSpec spec_;
  Scene scene_;
  int steps_ = 0;
  double action_scale_ = 0, top_speed_ = 0;
  bool velocities_ = true, drawn_ = false;
  std::array<float, LeggedBody::joints> action_{};
  std::vector<float> state_;
  std::optional<RobotPicture> picture_;
  std::vector<ImageView> views_;
};

}  // namespace

/// @lua topic robots
/// Options of the environments with robots on four legs.

/// @lua options robots.legged
/// The environment `legged`: a robot walks ahead on a flat floor. 12 actions, a state of 28, 250 Hz, 2500 steps. A robot with
/// thighs below 3 cm wants shorter steps of physics: `timestep = 0.0001, physics_steps = 40` for 1 cm.
/// @option robot "a1"|"laikago" = "a1" - one of ours
/// @option urdf string ? - in place of `robot`: a URDF file, in metres, of a robot on four legs of three joints (abduction about x,
/// hip and knee about y), whose limits `effort` and `velocity` of 0 are none; its text and collision meshes travel in policy files,
/// and a run is not continued with others
/// @option action_scale number 0..3 = 0.5 - radians that an action of 1 adds to a joint's target in the standing pose
/// @option top_speed number 0..100 = 1 - m/s; the reward of a step is the way ahead in metres, clipped to what this allows
/// @option velocities boolean = true - joint velocities are in the state
/// @option lowest number 0..10 = (half the standing height) - height of the base, metres, below which it has fallen
/// @option state boolean = (true without pixels) - roll, pitch, their rates, joint angles and velocities as a vector
/// @option pixels integer[] ? - {height, width} of a picture from the robot's side, for films
/// @option render {env.render} ? - how pictures are drawn
/// @use robots.body
/// @see robots.md#the-environment-legged
extern "C++" std::unique_ptr<Env> make_legged(Options& options) { return std::make_unique<Legged>(options); }

}  // namespace iap
