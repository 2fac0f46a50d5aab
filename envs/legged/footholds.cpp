module;
#include <algorithm>
#include <array>
#include <cmath>
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
import iap.geometry;
import iap.legged;
import iap.render;
import iap.sim;

namespace iap {
namespace {

using legged::leg_count;
using legged::LegState;
using namespace geometry;

constexpr int most_steps = 2000, actions = 22, toe_values = 3 * leg_count;
constexpr std::array<double, 2> camera_x{.197, -.092}, camera_z{-.115, -.105};  // front, belly; in the base's frame
constexpr float camera_fov = 75;

RobotWorld make_world(const LeggedRobot& robot, Options& options) {
  return RobotWorld(robot.description, {.engine = options.choice("engine", robot_engines(), "bullet"),
                                        .timestep = options.number_in("timestep", 1e-5, .01, .001),
                                        .joints = robot.joints});
}

LocomotionOptions read_locomotion(Options& options) {
  LocomotionOptions own;
  own.physics_steps = static_cast<int>(options.integer_in("physics_steps", 1, 100, own.physics_steps));
  own.gait.stance.fill(options.number_in("stance", .05, 5, own.gait.stance[0]));
  own.gait.duty.fill(options.number_in("duty", .1, .95, own.gait.duty[0]));
  return own;
}

// What actions of 1 (and -1) mean.
struct Ranges {
  explicit Ranges(Options& options) {
    toe = {options.number_in("toe_x", 0, 1, .2), options.number_in("toe_y", 0, 1, .05), options.number_in("toe_z", 0, 1, .03)};
    least_clearance = options.number_in("least_clearance", 0, 1, .05);
    most_clearance = options.number_in("most_clearance", least_clearance, 1, .1);
    speed = options.number_in("speed", -2, 2, .3);
    velocity = options.number_in("velocity_range", 0, 2, .05);
    twist = options.number_in("twist", 0, 2, .2);
    least_height = options.number_in("least_height", .1, 1, .42);
    most_height = options.number_in("most_height", least_height, 1, .48);
    roll = options.number_in("roll", 0, 1, .05);
    pitch = options.number_in("pitch", 0, 1, .2);
  }

  WalkCommand command(std::span<const float> action) const {
    const auto between = [](double low, double high, double value) { return low + (high - low) * (value + 1) / 2; };
    WalkCommand to;
    for (int leg = 0; leg < leg_count; ++leg) {
      for (int i = 0; i < 3; ++i) to.offsets[leg][i] = toe[i] * action[3 * leg + i];
      to.clearances[leg] = between(least_clearance, most_clearance, action[toe_values + leg]);
    }
    const auto body = action.subspan(toe_values + leg_count);
    to.velocity = {speed + velocity * body[0], velocity * body[1]};
    to.twist = twist * body[2];
    to.height = between(least_height, most_height, body[3]);
    to.roll = roll * body[4];
    to.pitch = pitch * body[5];
    return to;
  }

  std::array<double, 3> toe{};
  double least_clearance = 0, most_clearance = 0, speed = 0, velocity = 0, twist = 0, least_height = 0, most_height = 0, roll = 0,
         pitch = 0;
};

// Toes and what is fixed to a shank may touch.
std::vector<bool> may_touch(const LeggedRobot& robot) {
  const auto& links = robot.description.links;
  std::vector<bool> may(links.size());
  for (std::size_t i = 1; i < links.size(); ++i) {
    may[i] = links[i].kind == JointKind::fixed && may[links[i].parent];
    for (const auto& leg : robot.legs) may[i] = may[i] || links[i].joint == leg.joints[2];
  }
  return may;
}

std::vector<std::string> state_names() {
  std::vector<std::string> all{"roll", "pitch", "roll rate", "pitch rate"};
  const auto legs = [&all](const std::string& what) {
    for (const char* leg : legged::leg_names) all.push_back(text(what, " of ", leg));
  };
  const auto points = [&all](const std::string& what) {
    for (const char* leg : legged::leg_names)
      for (const char axis : {'x', 'y', 'z'}) all.push_back(text(what, " of ", leg, ' ', axis));
  };
  points("last offset");
  legs("last clearance");
  for (const char* what : {"forward", "sideways", "twist", "height", "roll", "pitch"}) all.push_back(text("last ", what));
  points("toe");
  legs("gait phase");
  legs("foot state");
  legs("need of target");
  for (const char* what :
       {"forward speed", "sideways speed", "vertical speed", "height", "Raibert velocity x", "Raibert velocity y"})
    all.emplace_back(what);
  points("toe target");
  return all;
}

}  // namespace

struct FootholdEnv::Impl {
  Impl(std::string name, Options& options, Ground made_ground)
      : ground(std::move(made_ground)),
        robot(legged_robot("laikago")),
        world(make_world(robot, options)),
        locomotion(robot, world, read_locomotion(options)),
        ranges(options),
        allowed(may_touch(robot)) {
    friction = options.number_in("friction", 0, 10, 1);
    decision_steps = static_cast<int>(options.integer_in("decision_steps", 1, 1000, 12));
    cap = options.number_in("cap", 0, 1, .0015);
    jitter = options.number_in("jitter", 0, 1, .02);
    angle_noise = options.number_in("angle_noise", 0, 1, .025);
    rate_noise = options.number_in("rate_noise", 0, 10, .1);
    largest_roll = options.number_in("largest_roll", 0, 3.2, .25);
    largest_pitch = options.number_in("largest_pitch", 0, 3.2, 1);
    lowest = options.number_in("lowest", -10, 10, .15);
    read_pictures(options);
    if (options.boolean("state", true)) spec.state_names = state_names();
    state.resize(spec.state_names.size());
    if (state.empty() && images.empty()) options.fail("it would show nothing: leave out state = false or depth = false");
    spec.name = std::move(name);
    spec.action_size = actions;
    spec.control_dt = spec.observation.dt = world.options().timestep * locomotion.options().physics_steps * decision_steps;
    spec.max_steps = most_steps;
    spec.observation.vector = static_cast<int>(state.size());
  }

  void read_pictures(Options& options) {
    draw_options = read_draw_options(options.value("render"), options.owner());
    options.complete("render", to_config(draw_options));
    if (const auto size = read_pixels(options, {4096, 4096})) {
      if (draw_options.path == DrawOptions::Path::gl) options.fail("its pictures are drawn by the CPU; leave out render.path");
      add_image("pixels", {size->height, size->width, 3, PixelType::uint8});
      film = true;
    }
    if (!options.boolean("depth", true)) return;
    const int height = static_cast<int>(options.integer_in("depth_height", 1, 1024, 24));
    const int width = static_cast<int>(options.integer_in("depth_width", 1, 1024, 32));
    for (const char* name : {"front", "belly"}) add_image(name, {height, width, 1, PixelType::float32});
  }

  void add_image(const char* name, const ImageShape& shape) {
    spec.observation.images.push_back({name, shape});
    views.push_back(images.emplace_back(shape).view());
  }

  void reset(std::uint64_t seed) {
    random = Random({.seed = seed, .purpose = Purpose::environment});
    FootholdCourse course = ground(random);
    goal = course.goal;
    course.terrain.friction = friction;
    world.set_terrain(std::move(course.terrain));
    RobotState start = robot.standing_state(0);
    for (double& angle : start.angles) angle += random.uniform(-jitter, jitter);
    start.position[2] = robot.touching_height(start.angles);
    world.reset(start);
    locomotion.reset(world);
    if (!images.empty()) scene = robot_scene(world);
    last.fill(0);
    command = ranges.command(last);
    steps = 0;
    sense();
    running = true;
    drawn = false;
  }

  StepResult step(std::span<const float> action) {
    if (!running) throw Error(text(spec.name, ": the episode has not begun or is over; call reset before step"));
    clip_action(spec, action, last);
    command = ranges.command(last);
    StepResult result{.truncated = ++steps >= most_steps};
    for (int i = 0; i < decision_steps && !result.terminated; ++i) {
      const double from = world.state().position[0];
      const bool solved = locomotion.step(world, command);
      result.unstable = world.unstable();
      if (solved && !result.unstable) result.reward += std::clamp(world.state().position[0] - from, -cap, cap);
      result.terminated = !solved || result.unstable || fallen() || world.state().position[0] > goal;
    }
    if (result.unstable) result.reward = 0;
    if (!result.unstable) sense();
    drawn = false;
    running = !result.terminated && !result.truncated;
    return result;
  }

  bool fallen() const {
    const auto [roll, pitch, yaw] = roll_pitch_yaw(world.base_rotation());
    if (std::abs(roll) > largest_roll || std::abs(pitch) > largest_pitch || world.state().position[2] < lowest) return true;
    return std::ranges::any_of(world.contacts(), [this](const RobotContact& contact) { return !allowed[contact.link]; });
  }

  // Also draws the noise, so that looking twice shows the same.
  void sense() {
    if (state.empty()) return;
    auto at = state.begin();
    const auto put = [&at](double value) { *at++ = static_cast<float>(value); };
    const auto axes = world.base_rotation();
    const auto [roll, pitch, yaw] = roll_pitch_yaw(axes);
    const auto rates = world.angular_velocity_in_base(), velocity = world.velocity_in_base();
    put(roll + angle_noise * random.normal());
    put(pitch + angle_noise * random.normal());
    put(rates[0] + rate_noise * random.normal());
    put(rates[1] + rate_noise * random.normal());
    for (const float value : last) put(value);
    for (const auto& toe : locomotion.toes())
      for (const double value : toe) put(value);
    for (const double phase : locomotion.gait().phases()) put(phase);
    for (const double foot : locomotion.gait().feet()) put(foot);
    for (int leg = 0; leg < leg_count; ++leg) put(locomotion.until_lift(leg) <= spec.control_dt ? 1 : 0);
    for (const double value : velocity) put(value);
    put(locomotion.height(world));
    const auto& position = world.state().position;
    const auto in_base = [&](const Vector3& point) { return transposed(axes) * (point - position); };
    // What Raibert's rule corrects: the velocity that is missing.
    for (int i = 0; i < 2; ++i) put(command.velocity[i] - velocity[i]);
    for (const auto& target : locomotion.targets())
      for (const double value : in_base(target)) put(value);
  }

  void draw() {
    move_robot(world, scene);
    std::size_t next = 0;
    if (film) {
      const auto& at = world.state().position;
      const auto x = static_cast<float>(at[0]), y = static_cast<float>(at[1]);
      scene.camera = {.position = {x + .9f, y - 1.8f, 1.1f}, .forward = {-.9f, 1.8f, -.9f}};
      auto& image = images[next++];
      caster.draw(scene, draw_options, image.shape().height, image.shape().width, image.bytes());
    }
    const auto axes = world.base_rotation();
    const auto& base = world.state().position;
    for (std::size_t camera = 0; next < images.size(); ++camera, ++next) {
      const auto mount = axes * Vector3{camera_x[camera], 0, camera_z[camera]};
      auto& view = scene.camera;
      view = {.vertical_fov_degrees = camera_fov};
      for (int i = 0; i < 3; ++i) {
        view.position[i] = static_cast<float>(base[i] + mount[i]);
        view.forward[i] = static_cast<float>(-axes[3 * i + 2]);
        view.up[i] = static_cast<float>(axes[3 * i]);
      }
      caster.draw_depth(scene, images[next].shape().height, images[next].shape().width, images[next].floats());
    }
  }

  Observation observe() {
    if (!drawn && !world.unstable() && !images.empty()) draw();
    drawn = true;
    return {.images = views, .vector = state};
  }

  Ground ground;
  LeggedRobot robot;
  RobotWorld world;
  Locomotion locomotion;
  Ranges ranges;
  std::vector<bool> allowed;
  Random random{0};
  EnvSpec spec;
  WalkCommand command;
  DrawOptions draw_options;
  Scene scene;
  Caster caster;
  int decision_steps = 1, steps = 0;
  double friction = 1, cap = 0, jitter = 0, angle_noise = 0, rate_noise = 0, largest_roll = 0, largest_pitch = 0, lowest = 0,
         goal = 0;
  bool film = false, running = false, drawn = false;
  std::array<float, actions> last{};
  std::vector<float> state;
  std::vector<Image> images;
  std::vector<ImageView> views;
};

FootholdEnv::FootholdEnv(std::string name, Options& options, Ground ground)
    : impl_(std::make_unique<Impl>(std::move(name), options, std::move(ground))) {}
FootholdEnv::~FootholdEnv() = default;

const EnvSpec& FootholdEnv::spec() const { return impl_->spec; }
void FootholdEnv::reset(std::uint64_t seed) { impl_->reset(seed); }
StepResult FootholdEnv::step(std::span<const float> action) { return impl_->step(action); }
Observation FootholdEnv::observe() { return impl_->observe(); }
const RobotWorld& FootholdEnv::world() const { return impl_->world; }
const Locomotion& FootholdEnv::locomotion() const { return impl_->locomotion; }
const std::array<double, 3>& FootholdEnv::reach() const { return impl_->ranges.toe; }

}  // namespace iap
