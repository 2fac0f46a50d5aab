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
module iap.envs.mujoco;
import iap.core;
import iap.env;
import iap.envs.distraction;
import iap.render;
import iap.sim;

namespace iap {
namespace {

int read_camera(const MujocoWorld& world, const Config& standard, Options& options) {
  const int count = static_cast<int>(world.names("camera").size());
  if (count == 0) options.fail("the model has no camera; add <camera name=\"side\" .../> to the MJCF");
  const Config& given = options.value("camera");
  const Config& wanted = given.is_null() ? standard : given;
  if (!wanted.string()) {
    if (const auto index = standard.integer(); given.is_null() && index && (*index < 0 || *index >= count))
      options.fail(text("the model has no camera ", *index, "; it has ", count, ", counted from 0"));
    return static_cast<int>(options.integer_in("camera", 0, count - 1, standard.integer()));
  }
  try {
    return world.id("camera", *wanted.string());
  } catch (const Error& error) {
    options.fail(error.what());
  }
}

/// "WHAT of NAME" for each coordinate, of which a joint has `size`, of the joints from `first` on.
std::vector<std::string> joint_coordinates(const MujocoWorld& world, const std::string& what, int (MujocoWorld::*size)(int) const,
                                           int first) {
  const auto joints = world.names("joint");
  std::vector<std::string> names;
  for (std::size_t joint = static_cast<std::size_t>(first); joint < joints.size(); ++joint) {
    const std::string name = what + " of " + (joints[joint].empty() ? text("joint ", joint + 1) : joints[joint]);
    const int count = (world.*size)(static_cast<int>(joint));
    for (int i = 0; i < count; ++i) names.push_back(count == 1 ? name : text(name, " ", i + 1));
  }
  return names;
}

/// OpenGL in software keeps its buffers in this process's memory.
void check_buffers(const std::string& owner, PictureSize size, int samples) {
  constexpr double colour_and_depth = 8;
  check_memory(text(owner, ": what OpenGL keeps for 'pixels'"), colour_and_depth * (samples + 1) * size.height * size.width);
}

}  // namespace

MujocoTask::MujocoTask(const MujocoTaskInfo& info, MujocoWorld world, Options& options)
    : world_(std::move(world)), physics_steps_(info.physics_steps), max_steps_(info.max_steps) {
  const int actions = static_cast<int>(world_.ctrl().size());
  if (actions == 0) options.fail("the model has no actuator, so that no action would do anything; give it one");
  spec_.name = info.name;
  spec_.action_size = actions;
  spec_.control_dt = spec_.observation.dt = world_.timestep() * physics_steps_;
  spec_.max_steps = max_steps_;
  action_.resize(actions);
  read_ranges();
  read_options(info, options);
}

void MujocoTask::read_ranges() {
  const auto names = world_.names("actuator");
  bool plain = true;
  for (int i = 0; i < static_cast<int>(names.size()); ++i) {
    const auto range = world_.ctrl_range(i);
    if (!range)
      throw Error(text(spec_.name, ": actuator ", names[i].empty() ? text(i + 1) : text("'", names[i], "'"),
                       " has no control range for actions in [-1, 1] to be mapped onto; give it ctrllimited=\"true\" "
                       "ctrlrange=\"-1 1\" in the MJCF, or whatever its controls are"));
    const auto [low, high] = *range;
    plain = plain && low == -1 && high == 1;
    ranges_.push_back({(low + high) / 2, (high - low) / 2});
  }
  if (plain) ranges_.clear();
}

namespace {

/// @throws Error for a background whose videos would stand where nothing is drawn.
void refuse_hidden_background(const Distraction& distraction, const Options& options) {
  const Config* background = distraction.config().find("background");
  if (!background || !background->map() || *background->find("video_alpha")->number() == 0) return;
  if (distraction.is_written_out("background")) return;
  options.fail(
      "the videos of distraction.background stand in place of the sky, which render.sky = false leaves out; set render.sky = true, "
      "distraction.background = false, or distraction.background.video_alpha = 0 for the floor's ground_alpha alone");
}

}  // namespace

/// @lua options env.mujoco
/// Options of every task on MuJoCo: DM Control's, and yours in Lua.
/// @option pixels integer[] ? - {height, width} of the picture, from {1, 1} to {16384, 16384}; without it nothing is drawn
/// @option state boolean = (true without pixels) - show the state as a vector, too
/// @option camera integer|string = (0; of a task in Lua its own) - index, from 0, or name of the model's camera
/// @option render {env.render} ? - how pictures are drawn
/// @option distraction {env.distraction}|"easy"|"medium"|"hard"|boolean = false - what disturbs the picture (true: as "easy"); the
/// physics stay the same to the bit
/// @use env.common
/// @see pictures.md
void MujocoTask::read_options(const MujocoTaskInfo& info, Options& options) {
  const auto size = read_pixels(options);
  if (size) {
    const ImageShape shape{size->height, size->width, 3, PixelType::uint8};
    spec_.observation.images.push_back({"pixels", shape});
    views_.push_back(pixels_.emplace_back(shape).view());
  }
  shows_state_ = options.boolean("state", !size);
  if (!shows_state_ && !size) options.fail("it would show nothing: set pixels = {height, width} or state = true");
  draw_options_ = read_draw_options(options.value("render"), text(options.owner(), ": render"));
  options.complete("render", to_config(draw_options_));
  if (size && draw_options_.path == DrawOptions::Path::gl) check_buffers(options.owner(), *size, draw_options_.samples);
  const Config& distraction = options.value("distraction");
  if (size || options.has("camera") || world_.count("camera") > 0) {
    camera_ = read_camera(world_, info.camera, options);
    options.complete("camera", camera_);
  }
  if (distraction.is_null() || (distraction.boolean() && !*distraction.boolean())) return;
  if (!size) options.fail("'distraction' changes only what is seen: set pixels = {height, width}, or leave it out");
  distraction_ =
      std::make_unique<Distraction>(distraction, options.owner(), info.model, world_, camera_, size->height, size->width);
  if (!draw_options_.sky) refuse_hidden_background(*distraction_, options);
  options.complete("distraction", distraction_->config());
  spec_.given["distraction"] = distraction_->given();
}

void MujocoTask::set_state_size(int count) {
  if (!shows_state_) return;
  state_.resize(static_cast<std::size_t>(count));
  spec_.observation.vector = count;
}

void MujocoTask::name_state(std::vector<std::string> names) {
  if (!state_.empty()) spec_.state_names = std::move(names);
}

std::vector<std::string> MujocoTask::joint_positions(int first) const {
  return joint_coordinates(world_, "position", &MujocoWorld::qpos_size, first);
}

std::vector<std::string> MujocoTask::joint_velocities() const {
  return joint_coordinates(world_, "velocity", &MujocoWorld::qvel_size, 0);
}

// The settled initial state is computed without actuation, as DM Control does after its own reset and again after a task's.
void MujocoTask::begin(Random& random) {
  restore(world_);
  world_.reset();
  world_.forward_without_actuation();
  start(world_, random);
  world_.forward_without_actuation();
}

void MujocoTask::reset(std::uint64_t seed) {
  Random random({.seed = seed, .purpose = Purpose::environment});
  seed_ = seed;
  steps_ = 0;
  drawn_ = false;
  begin(random);
  if (distraction_) distraction_->reset(world_, seed);
}

void MujocoTask::control() {
  const auto ctrl = world_.ctrl();
  if (ranges_.empty()) std::ranges::copy(action_, ctrl.begin());
  for (std::size_t i = 0; i < ranges_.size(); ++i) ctrl[i] = ranges_[i][0] + ranges_[i][1] * action_[i];
}

StepResult MujocoTask::step(std::span<const float> action) {
  clip_action(spec_, action, action_);
  control();
  drawn_ = false;
  world_.step(physics_steps_);
  if (distraction_) distraction_->step();
  ++steps_;
  StepResult result{.truncated = max_steps_ > 0 && steps_ >= max_steps_, .unstable = world_.unstable()};
  result.terminated = result.unstable;
  if (!result.unstable) {
    result.reward = reward();
    result.terminated = terminated();
  }
  return result;
}

void MujocoTask::draw() {
  struct Distracted {
    Distraction* distraction;
    MujocoWorld& world;
    ~Distracted() {
      if (distraction) distraction->restore(world);
    }
  };
  if (distraction_) distraction_->apply(world_, view_);
  const Distracted distracted{distraction_.get(), world_};
  for (auto& image : pixels_) view_.draw(world_, camera_, draw_options_, image.shape().height, image.shape().width, image.bytes());
}

Observation MujocoTask::observe() {
  if (!drawn_) {
    if (!state_.empty()) write_state(state_);
    draw();
    if (distraction_)
      for (auto& image : pixels_) distraction_->disturb(image.bytes());
    drawn_ = true;
  }
  return {.images = views_, .vector = state_};
}

}  // namespace iap
