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
#include "body.hpp"
#include "foothold_ranges.hpp"
#include "picture.hpp"

namespace iap {
namespace {

using legged::leg_count;
using legged::LegState;
using namespace geometry;

constexpr int most_steps = 2000, actions = 22;

struct DepthCamera {
  const char* name;
  double x, z;  // in the base's frame
};
constexpr std::array<DepthCamera, 2> depth_cameras{{{"front", .197, -.115}, {"belly", -.092, -.105}}};

LocomotionOptions read_locomotion(Options& options, const FootholdRanges& usual) {
  LocomotionOptions own;
  // With its feet moved, Laikago walks no straighter on a plane, and the chooser that knows the ground climbs fewer steps (6.5
  // for 7.1) and crosses fewer rows (6.6 for 7.9).
  own.centred = false;
  own.physics_steps = static_cast<int>(options.integer_in("physics_steps", 1, 100, own.physics_steps));
  own.gait.stance.fill(options.number_in("stance", .05, 5, usual.stance));
  own.gait.duty.fill(options.number_in("duty", .1, .95, usual.duty));
  if (options.choice("gait", {"trot", "walk"}, usual.gait) == "walk") own.gait.offsets = {.25, .75, 0, .5};
  own.settle = options.number_in("settle", 0, 10, usual.settle);
  own.swing.peak_part = options.number_in("swing_peak", .2, .8, usual.peak);
  return own;
}

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
  Impl(std::string name, Options& options, Ground made_ground, const FootholdRanges& usual)
      : ground(std::move(made_ground)),
        robot(legged_robot("laikago")),
        world(make_world(robot, options)),
        locomotion(robot, world, read_locomotion(options, usual)),
        ranges(read_ranges(options, usual)),
        allowed(may_touch(robot)) {
    friction = options.number_in("friction", 0, 10, 1);
    decision_steps = static_cast<int>(options.integer_in("decision_steps", 1, 1000, 12));
    cap = options.number_in("cap", 0, 1, .0015);
    counts_marks = options.choice("reward", {"way", "crossed"}, "way") == "crossed";
    jitter = options.number_in("jitter", 0, 1, .02);
    angle_noise = options.number_in("angle_noise", 0, 1, .025);
    rate_noise = options.number_in("rate_noise", 0, 10, .1);
    largest_roll = options.number_in("largest_roll", 0, 3.2, .25);
    largest_pitch = options.number_in("largest_pitch", 0, 3.2, 1);
    lowest = options.number_in("lowest", -10, 10, .15);
    read_pictures(options);
    if (options.boolean("state", true)) spec.state_names = state_names();
    state.resize(spec.state_names.size());
    if (state.empty() && pictures.empty()) options.fail("it would show nothing: leave out state = false or depth = false");
    spec.name = std::move(name);
    spec.action_size = actions;
    spec.control_dt = spec.observation.dt = world.options().timestep * locomotion.options().physics_steps * decision_steps;
    spec.max_steps = most_steps;
    spec.observation.vector = static_cast<int>(state.size());
  }

  void read_pictures(Options& options) {
    if (auto picture = read_picture(options, {}, false)) {
      pictures.push_back(std::move(*picture));
      film = true;
    }
    const bool shows_depth = options.boolean("depth", true);
    const PictureSize size{static_cast<int>(options.integer_in("depth_height", 1, 1024, 24)),
                           static_cast<int>(options.integer_in("depth_width", 1, 1024, 32))};
    const double near = options.number_in("depth_near", 1e-4, 1, .01),
                 far = options.number_in("depth_far", 1.01 * near, 10000, 100);
    shows_body = options.boolean("body", true) && shows_depth;
    for (const DepthCamera& camera : depth_cameras) {
      if (!shows_depth) break;
      pictures.emplace_back(camera.name, size, true, DrawOptions{});
      cameras.push_back({.position = {camera.x, 0, camera.z},
                         .forward = {0, 0, -1},
                         .up = {1, 0, 0},
                         .vertical_fov_degrees = 75,
                         .near_plane = near,
                         .far_plane = far});
    }
    for (const RobotPicture& picture : pictures) {
      spec.observation.images.push_back(picture.spec());
      views.push_back(picture.view());
    }
  }

  void reset(std::uint64_t seed) {
    random = Random({.seed = seed, .purpose = Purpose::environment});
    FootholdCourse course = ground(random);
    goal = course.goal;
    rise = course.rise;
    marks = std::move(course.marks);
    crossed = 0;
    course.terrain.friction = friction;
    world.set_terrain(std::move(course.terrain));
    RobotState start = robot.standing_state(0);
    jitter_joints(robot, jitter, random, start.angles);
    start.position[2] = robot.touching_height(start.angles);
    world.reset(start);
    locomotion.reset(world);
    if (film || shows_body) scene = robot_scene(world);
    if (!cameras.empty() && !shows_body) bare_scene = terrain_scene(world);
    last.fill(0);
    command = walk_command(ranges, last);
    steps = 0;
    sense();
    drawn = false;
  }

  StepResult step(std::span<const float> action) {
    clip_action(spec, action, last);
    command = walk_command(ranges, last);
    StepResult result{.truncated = ++steps >= most_steps};
    for (int i = 0; i < decision_steps && !result.terminated; ++i) {
      const double from = world.state().position[0];
      const bool solved = locomotion.step(world, command);
      result.unstable = world.unstable();
      if (solved && !result.unstable) result.reward += std::clamp(world.state().position[0] - from, -cap, cap);
      result.terminated = !solved || result.unstable || fallen() || world.state().position[0] > goal;
    }
    if (counts_marks) result.reward = newly_crossed();
    if (result.unstable) result.reward = 0;
    if (!result.unstable) sense();
    drawn = false;
    return result;
  }

  // How many more marks the rear toes have passed than ever before.
  int newly_crossed() {
    constexpr double behind = .26;  // m, of the rear toes behind the base
    const int before = crossed;
    while (crossed < static_cast<int>(marks.size()) && world.state().position[0] - behind > marks[crossed]) ++crossed;
    return crossed - before;
  }

  bool fallen() const {
    const auto [roll, pitch, yaw] = roll_pitch_yaw(world.base_rotation());
    if (std::abs(roll) > largest_roll || std::abs(pitch) > largest_pitch || world.state().position[2] < lowest) return true;
    return std::ranges::any_of(world.contacts(), [this](const RobotContact& contact) { return !allowed[contact.link]; });
  }

  // Also draws the noise, so that looking twice shows the same. What `locomotion` knows is of the last control step's beginning:
  // policies were trained on that.
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
    // What Raibert's rule corrects is the velocity that is missing; here it is along the base's axes, as the one above.
    for (int i = 0; i < 2; ++i) put(command.velocity[i] - velocity[i]);
    for (const auto& target : locomotion.targets())
      for (const double value : in_base(target)) put(value);
  }

  void draw() {
    if (film || shows_body) move_robot(world, scene);
    auto picture = pictures.begin();
    if (film) {
      const auto& at = world.state().position;
      const auto x = static_cast<float>(at[0]), y = static_cast<float>(at[1]);
      const auto up = static_cast<float>(rise * std::clamp(at[0] / goal, 0., 1.));
      scene.camera = {.position = {x + .9f, y - 1.8f, 1.1f + up}, .forward = {-.9f, 1.8f, -.9f}};
      (picture++)->draw(scene);
    }
    Scene& seen = shows_body ? scene : bare_scene;
    for (const RobotCamera& camera : cameras) {
      seen.camera = camera_on(world, camera);
      (picture++)->draw(seen);
    }
  }

  Observation observe() {
    if (!drawn && !world.unstable() && !pictures.empty()) draw();
    drawn = true;
    return {.images = views, .vector = state};
  }

  Ground ground;
  LeggedRobot robot;
  RobotWorld world;
  Locomotion locomotion;
  FootholdRanges ranges;
  std::vector<bool> allowed;
  Random random{0};
  EnvSpec spec;
  WalkCommand command;
  Scene scene, bare_scene;
  int decision_steps = 1, steps = 0, crossed = 0;
  double friction = 1, cap = 0, jitter = 0, angle_noise = 0, rate_noise = 0, largest_roll = 0, largest_pitch = 0, lowest = 0,
         goal = 0, rise = 0;
  bool counts_marks = false, film = false, shows_body = false, drawn = false;
  std::vector<double> marks;
  std::array<float, actions> last{};
  std::vector<float> state;
  std::vector<RobotPicture> pictures;
  std::vector<RobotCamera> cameras;
  std::vector<ImageView> views;
};

/// @lua options robots.footholds
/// Laikago walks by a model predictive controller; the policy above it decides where toes land and how the body moves: 22 actions,
/// a state of
/// 68, 2000 decisions.
/// @option engine "bullet"|"mujoco" = "bullet" - the simulator
/// @option timestep number 1e-5..0.01 = 0.001 - seconds of a physics step
/// @option physics_steps integer 1..100 = 4 - physics steps in a control step
/// @option decision_steps integer 1..1000 = 12 - control steps in a step of the policy: 48 ms
/// @option friction number 0..10 = 1 - between robot and ground
/// @option gait "trot"|"walk" = "trot" - order of the legs
/// @option stance number 0.05..5 = 0.3 - seconds that a leg stands
/// @option duty number 0.1..0.95 = 0.6 - share of a cycle that it stands
/// @option settle number 0..10 = 0.1 - seconds in which the body's height follows that of the footholds
/// @option swing_peak number 0.2..0.8 = 0.7 - how far on its way a swinging toe is at its highest
/// @option cap number 0..1 = 0.0015 - the way ahead, metres, is clipped to this in each control step; the reward is the sum
/// @option reward "way"|"crossed" = "way" - "crossed": 1 for each gap, row or step that the robot's rear toes have left behind
/// @option jitter number 0..1 = 0.02 - uniform noise on each joint when an episode begins, radians, as far as the
/// joint's limits allow
/// @option angle_noise number 0..1 = 0.025 - on the angles that the policy is told, radians
/// @option rate_noise number 0..10 = 0.1 - on the rates, rad/s
/// @option largest_roll number 0..3.2 = 0.25 - beyond it the episode ends, radians
/// @option largest_pitch number 0..3.2 = 1 - likewise
/// @option lowest number -10..10 = 0.15 - height of the base, metres above the ground that it begins on, below which it ends
/// @option depth boolean = true - images `front` and `belly`: metres along the axis of cameras that look straight down the base
/// @option depth_height integer 1..1024 = 24 - of these, pixels
/// @option depth_width integer 1..1024 = 32 - likewise
/// @option depth_near number 0.0001..1 = 0.01 - metres; what is nearer is not seen
/// @option depth_far number depth_near..10000 = 100 - metres; what is further is shown as that far; at least 1.01 times depth_near
/// @option body boolean = true - whether the robot's legs are in the depth images
/// @option state boolean = true - the vector of 68 values
/// @option pixels integer[] ? - {height, width} of a film from the side
/// @option render {env.render} ? - how that is drawn
/// @use robots.foothold-ranges
/// @use env.common
/// @see robots.md#stones-to-step-on-laikago-stepstones
FootholdEnv::FootholdEnv(std::string name, Options& options, Ground ground, const FootholdRanges& usual)
    : impl_(std::make_unique<Impl>(std::move(name), options, std::move(ground), usual)) {}
FootholdEnv::~FootholdEnv() = default;

const EnvSpec& FootholdEnv::spec() const { return impl_->spec; }
void FootholdEnv::reset(std::uint64_t seed) { impl_->reset(seed); }
StepResult FootholdEnv::step(std::span<const float> action) { return impl_->step(action); }
Observation FootholdEnv::observe() { return impl_->observe(); }
const RobotWorld& FootholdEnv::world() const { return impl_->world; }
const Locomotion& FootholdEnv::locomotion() const { return impl_->locomotion; }
const FootholdRanges& FootholdEnv::ranges() const { return impl_->ranges; }

}  // namespace iap
