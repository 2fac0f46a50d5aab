module;
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.envs.dm_control;
import iap.core;
import iap.env;
import iap.envs.distraction;
import iap.render;
import iap.sim;

namespace iap {
namespace {

int read_camera(const MujocoWorld& world, Options& options) {
  const int count = static_cast<int>(world.names("camera").size());
  if (!options.value("camera").string()) return static_cast<int>(options.integer_in("camera", 0, count - 1, 0));
  try {
    return world.id("camera", options.string("camera"));
  } catch (const Error& error) {
    options.fail(error.what());
  }
}

}  // namespace

bool read_dense_reward(Options& options) {
  const std::vector<std::string> kinds{"task", "dense"};
  return options.choice("reward", kinds, "task") == "dense";
}

ControlTask::ControlTask(const ControlTaskInfo& info, Options& options)
    : world_(dm_control_files(info.model)), physics_steps_(info.physics_steps), max_steps_(info.max_steps) {
  const int actions = static_cast<int>(world_.ctrl().size());
  spec_.name = info.name;
  spec_.action_size = actions;
  spec_.control_dt = spec_.observation.dt = world_.timestep() * physics_steps_;
  spec_.max_steps = max_steps_;
  action_.resize(actions);
  read_options(info, options);
}

void ControlTask::read_options(const ControlTaskInfo& info, Options& options) {
  constexpr PictureSize largest{4096, 4096};
  const auto size = read_pixels(options, largest);
  if (size) {
    const ImageShape shape{size->height, size->width, 3, PixelType::uint8};
    spec_.observation.images.push_back({"pixels", shape});
    views_.push_back(pixels_.emplace_back(shape).view());
  }
  const bool state = options.boolean("state", !size);
  if (!state && !size) options.fail("it would show nothing: set pixels = {height, width} or state = true");
  if (state) state_.resize(info.state_size);
  spec_.observation.vector = static_cast<int>(state_.size());
  camera_ = read_camera(world_, options);
  options.complete("camera", camera_);
  draw_options_ = read_draw_options(options.value("render"), options.owner());
  options.complete("render", to_config(draw_options_));
  const Config& distraction = options.value("distraction");
  if (distraction.is_null() || (distraction.boolean() && !*distraction.boolean())) return;
  if (!size) options.fail("'distraction' changes only what is seen: set pixels = {height, width}, or leave it out");
  distraction_ =
      std::make_unique<Distraction>(distraction, options.owner(), info.model, world_, camera_, size->height, size->width);
  options.complete("distraction", distraction_->config());
  spec_.given["distraction"] = distraction_->given();
}

void ControlTask::name_state(std::vector<std::string> names) {
  if (!state_.empty()) spec_.state_names = std::move(names);
}

std::vector<std::string> ControlTask::joint_positions(int first) const {
  std::vector<std::string> names = world_.names("joint");
  names.erase(names.begin(), names.begin() + first);
  for (auto& name : names) name = "position of " + name;
  return names;
}

std::vector<std::string> ControlTask::joint_velocities() const {
  std::vector<std::string> names = world_.names("joint");
  for (auto& name : names) name = "velocity of " + name;
  return names;
}

// The settled initial state is computed without actuation, as the reference does after its own reset and again after a task's.
void ControlTask::reset(std::uint64_t seed) {
  Random random({.seed = seed, .purpose = Purpose::environment});
  world_.reset();
  world_.forward_without_actuation();
  start(world_, random);
  world_.forward_without_actuation();
  if (distraction_) distraction_->reset(world_, seed);
  steps_ = 0;
  running_ = true;
  drawn_ = false;
}

StepResult ControlTask::step(std::span<const float> action) {
  if (!running_) throw Error(text(spec_.name, ": the episode has not begun or is over; call reset before step"));
  clip_action(spec_, action, action_);
  std::ranges::copy(action_, world_.ctrl().begin());
  drawn_ = false;
  world_.step(physics_steps_);
  if (distraction_) distraction_->step();
  StepResult result{.truncated = ++steps_ >= max_steps_, .unstable = world_.unstable()};
  result.terminated = result.unstable;
  if (!result.unstable) result.reward = reward();
  running_ = !result.terminated && !result.truncated;
  return result;
}

Observation ControlTask::observe() {
  if (!drawn_) {
    if (!state_.empty()) write_state(state_);
    if (distraction_) distraction_->apply(world_, view_);
    for (auto& image : pixels_)
      view_.draw(world_, camera_, draw_options_, image.shape().height, image.shape().width, image.bytes());
    if (distraction_)
      for (auto& image : pixels_) distraction_->disturb(image.bytes());
    drawn_ = true;
  }
  return {.images = views_, .vector = state_};
}

}  // namespace iap
