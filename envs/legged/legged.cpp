module;
#include <algorithm>
#include <array>
#include <cmath>
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

namespace iap {
namespace {

constexpr int episode_steps = 2500, joints = 12, imu = 4;

LeggedRobot read_robot(Options& options) {
  if (!options.has("urdf")) return legged_robot(options.choice("robot", legged_robots(), "a1"));
  if (options.has("robot")) options.fail("'robot' and 'urdf' both say which robot it is; give one");
  return legged_robot(read_urdf(options.string("urdf")));
}

RobotWorld make_world(const LeggedRobot& robot, Options& options) {
  RobotWorld world(robot.description, {.engine = options.choice("engine", robot_engines(), "bullet"),
                                       .timestep = options.number_in("timestep", 1e-5, .01, .001),
                                       .joints = robot.joints});
  world.set_terrain({.friction = options.number_in("friction", 0, 10, 1)});
  return world;
}

/// A robot on four legs on a flat floor, paid for moving ahead. An action is twelve targets of the joints' motors, as residuals to
/// the standing pose in units of `action_scale`. The state (default: without `pixels`) holds roll, pitch, their rates in the
/// robot's axes, the joint angles and, with `velocities`, the joint velocities. The reward of a step is how far the base came along
/// x, at most what `top_speed` allows, in metres; an episode ends when the robot falls. It begins `start_height` above the floor
/// with up to `jitter` radians of noise on each joint.
class Legged final : public Env {
 public:
  explicit Legged(Options& options)
      : robot_(read_robot(options)), world_(make_world(robot_, options)), motors_(robot_.motors()), targets_(robot_.standing) {
    physics_steps_ = static_cast<int>(options.integer_in("physics_steps", 1, 1000, 4));
    action_scale_ = options.number_in("action_scale", 0, 3, .5);
    top_speed_ = options.number_in("top_speed", 0, 100, 1);
    jitter_ = options.number_in("jitter", 0, 1, .05);
    largest_roll_ = options.number_in("largest_roll", 0, 3.2, .8);
    largest_pitch_ = options.number_in("largest_pitch", 0, 3.2, 1);
    lowest_ = options.number_in("lowest", 0, 10, .5 * robot_.touching_height(robot_.standing));
    velocities_ = options.boolean("velocities", true);
    read_picture(options);
    if (options.boolean("state", pixels_.empty())) state_.resize(imu + joints * (velocities_ ? 2 : 1));
    if (state_.empty() && pixels_.empty()) options.fail("it would show nothing: set pixels = {height, width} or state = true");
    spec_.name = "legged";
    spec_.action_size = joints;
    spec_.control_dt = spec_.observation.dt = world_.options().timestep * physics_steps_;
    spec_.max_steps = episode_steps;
    spec_.observation.vector = static_cast<int>(state_.size());
    spec_.state_names = names();
  }

  const EnvSpec& spec() const override { return spec_; }

  void reset(std::uint64_t seed) override {
    Random random({.seed = seed, .purpose = Purpose::environment});
    RobotState start = robot_.standing_state(robot_.start_height);
    for (double& angle : start.angles) angle += random.uniform(-jitter_, jitter_);
    world_.reset(start);
    if (!pixels_.empty()) scene_ = robot_scene(world_);
    steps_ = 0;
    running_ = true;
    drawn_ = false;
  }

  StepResult step(std::span<const float> action) override {
    if (!running_) throw Error("legged: the episode has not begun or is over; call reset before step");
    clip_action(spec_, action, action_);
    for (int i = 0; i < joints; ++i) targets_[i] = robot_.standing[i] + action_scale_ * action_[i];
    const double from = world_.state().position[0];
    motors_.step(world_, targets_, physics_steps_);
    drawn_ = false;
    StepResult result{.truncated = ++steps_ >= episode_steps, .unstable = world_.unstable()};
    result.terminated = result.unstable || fallen();
    if (!result.unstable) {
      const double most = top_speed_ * spec_.control_dt;
      result.reward = std::clamp(world_.state().position[0] - from, -most, most);
    }
    running_ = !result.terminated && !result.truncated;
    return result;
  }

  Observation observe() override {
    if (!drawn_ && !world_.unstable()) {
      if (!state_.empty()) write_state();
      if (!pixels_.empty()) draw();
    }
    drawn_ = true;
    return {.images = views_, .vector = state_};
  }

 private:
  void read_picture(Options& options) {
    constexpr PictureSize largest{4096, 4096};
    draw_options_ = read_draw_options(options.value("render"), options.owner());
    options.complete("render", to_config(draw_options_));
    const auto size = read_pixels(options, largest);
    if (!size) return;
    if (draw_options_.path == DrawOptions::Path::gl) options.fail("its pictures are drawn by the CPU; leave out render.path");
    const ImageShape shape{size->height, size->width, 3, PixelType::uint8};
    spec_.observation.images.push_back({"pixels", shape});
    views_.push_back(pixels_.emplace_back(shape).view());
  }

  std::vector<std::string> names() const {
    constexpr std::array<const char*, 3> parts{"abduction", "hip", "knee"};
    std::vector<std::string> all{"roll", "pitch", "roll rate", "pitch rate"};
    for (const char* kind : {"angle", "velocity"})
      for (const auto& leg : robot_.legs)
        for (const char* part : parts) all.push_back(text(kind, " of ", leg.name, ' ', part));
    all.resize(state_.size());
    return all;
  }

  bool fallen() const {
    const auto [roll, pitch, yaw] = roll_pitch_yaw(world_.base_rotation());
    return std::abs(roll) > largest_roll_ || std::abs(pitch) > largest_pitch_ || world_.state().position[2] < lowest_;
  }

  void write_state() {
    const auto [roll, pitch, yaw] = roll_pitch_yaw(world_.base_rotation());
    const auto rates = world_.angular_velocity_in_base();
    const std::array<double, imu> gyro{roll, pitch, rates[0], rates[1]};
    const auto& state = world_.state();
    auto at = state_.begin();
    const auto write = [&at](std::span<const double> values) {
      for (const double value : values) *at++ = static_cast<float>(value);
    };
    write(gyro);
    write(state.angles);
    if (velocities_) write(state.velocities);
  }

  // From the side and a little ahead, at the height of the robot's back.
  void draw() {
    move_robot(world_, scene_);
    const auto& at = world_.state().position;
    const auto size = static_cast<float>(robot_.start_height);
    const auto x = static_cast<float>(at[0]), y = static_cast<float>(at[1]);
    scene_.camera.position = {x + 2 * size, y - 4 * size, 2 * size};
    scene_.camera.forward = {-2 * size, 4 * size, -1.3f * size};
    for (auto& image : pixels_) caster_.draw(scene_, draw_options_, image.shape().height, image.shape().width, image.bytes());
  }

  LeggedRobot robot_;
  RobotWorld world_;
  PdMotors motors_;
  std::vector<double> targets_;
  EnvSpec spec_;
  DrawOptions draw_options_;
  Scene scene_;
  Caster caster_;
  int physics_steps_ = 1, steps_ = 0;
  double action_scale_ = 0, top_speed_ = 0, jitter_ = 0, largest_roll_ = 0, largest_pitch_ = 0, lowest_ = 0;
  bool velocities_ = true, running_ = false, drawn_ = false;
  std::array<float, joints> action_{};
  std::vector<float> state_;
  std::vector<Image> pixels_;
  std::vector<ImageView> views_;
};

}  // namespace

extern "C++" std::unique_ptr<Env> make_legged(Options& options) { return std::make_unique<Legged>(options); }

}  // namespace iap
