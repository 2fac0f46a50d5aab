module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <numbers>
module iap.envs.distraction;
import iap.core;
import iap.sim;

namespace iap {
namespace {

constexpr double pi = std::numbers::pi;
constexpr int agent_body = 1;

/// MuJoCo's mjtCamLight.
enum class Mode { fixed, track, trackcom, targetbody, targetbodycom };

/// What a camera keeps its place to: the world, the agent, or wherever the model's own one goes.
enum class Hold { world, agent, itself };

Hold hold_of(const MujocoWorld& world, int camera) {
  const auto mode = static_cast<Mode>(world.array("cam_mode")[camera]);
  const auto body = static_cast<int>(world.array("cam_bodyid")[camera]);
  if (mode == Mode::fixed && body == 0) return Hold::world;
  const bool tracks = mode == Mode::track || mode == Mode::trackcom;
  return tracks && body == agent_body ? Hold::agent : Hold::itself;
}

/// @lua options env.distraction.camera
/// The camera's place; s is the difficulty's 0.1, 0.2 or 0.3. A camera that tracks the agent, the model's first body, goes on doing
/// so, one that rides on a body or tracks another one goes with that, and one that turns towards a body goes on turning and does
/// not travel. With every number at 0 the picture is the clean one. A camera that begins looking nearly straight down or up is
/// turned by the shortest way, any other one keeps its angle to the horizon.
/// @option dynamic boolean = (the distraction's) - the camera drifts during an episode
/// @option horizontal_delta number 0..6.2832 = (pi / 2 s) - most that it is turned around the scene, radians
/// @option vertical_delta number 0..6.2832 = (pi / 2 s) - up or down, radians
/// @option roll_delta number 0..6.2832 = (pi / 2 s) - around its axis, radians
/// @option max_vel number 0..1000 = (0.4 s if dynamic, else 0) - most that it moves a step, in quarters of
/// the distance at which the model has it
/// @option vel_std number 0..1000 = (0.1 s if dynamic, else 0) - deviation of the change of its velocity a
/// step, in the same quarters
/// @option max_roll_vel number 0..1000 = (pi / 50 s if dynamic, else 0) - radians a step
/// @option roll_std number 0..1000 = (pi / 300 s if dynamic, else 0) - deviation of the change of that, a step
/// @option zoom_in number 0..0.99 = (0.5 s) - nearer by at most this share of its distance
/// @option zoom_out number 0..1000 = (1.5 s) - further away by at most this share
/// @option upper_quadrant boolean = (false for reacher, else true) - it stays above the floor, and on its own side of the agent or,
/// where it does not travel, of the world: y < 0 or y > 0; one that begins lower comes no lower
CameraRange read_range(Options& options, const DisturbanceContext& context) {
  constexpr double largest = 1e3, whole_turn = 6.2832;  // as it is printed
  const double s = context.scale, moving = context.dynamic ? s : 0;
  CameraRange range;
  range.horizontal_delta = options.number_in("horizontal_delta", 0, whole_turn, pi / 2 * s);
  range.vertical_delta = options.number_in("vertical_delta", 0, whole_turn, pi / 2 * s);
  range.roll_delta = options.number_in("roll_delta", 0, whole_turn, pi / 2 * s);
  range.max_vel = options.number_in("max_vel", 0, largest, 0.4 * moving);
  range.vel_std = options.number_in("vel_std", 0, largest, 0.1 * moving);
  range.max_roll_vel = options.number_in("max_roll_vel", 0, largest, pi / 50 * moving);
  range.roll_std = options.number_in("roll_std", 0, largest, pi / 300 * moving);
  range.zoom_in = options.number_in("zoom_in", 0, 0.99, 0.5 * s);
  range.zoom_out = options.number_in("zoom_out", 0, largest, 1.5 * s);
  range.upper_quadrant = options.boolean("upper_quadrant", context.model != "reacher");
  return range;
}

class MovedCamera final : public Disturbance {
 public:
  MovedCamera(const CameraRange& range, int camera, Hold hold) : motion_(range), camera_(camera), hold_(hold) {}

  void reset(MujocoWorld& world, Random random) override {
    random_ = random;
    const CameraPose own = own_pose(world);
    const auto centre = agent(world);
    for (std::size_t i = 0; i < 3; ++i) arm_[i] = own.position[i] - centre[i];
    motion_.reset(own, centre, hold_ != Hold::world, random_);
  }
  void step() override { motion_.step(random_); }
  void apply(MujocoWorld& world, MujocoCamera&) override {
    own_ = own_pose(world);
    place(world, motion_.pose(own_, pivot(world, own_)));
  }
  // An accelerometer in the camera's place is read in the middle of the next step.
  void restore(MujocoWorld& world) noexcept override { place(world, own_); }

 private:
  static std::array<double, 3> agent(const MujocoWorld& world) {
    const auto centre = world.subtree_centre(agent_body);
    return {centre[0], centre[1], centre[2]};
  }
  // A camera that does not travel with the agent is moved around the point, fixed to the model's own camera, where the agent was
  // when the episode began.
  std::array<double, 3> pivot(const MujocoWorld& world, const CameraPose& own) const {
    if (hold_ != Hold::itself) return agent(world);
    return {own.position[0] - arm_[0], own.position[1] - arm_[1], own.position[2] - arm_[2]};
  }
  void place(MujocoWorld& world, const CameraPose& pose) const noexcept {
    std::ranges::copy(pose.position, world.camera_position(camera_).begin());
    std::ranges::copy(pose.rotation, world.camera_rotation(camera_).begin());
  }
  CameraPose own_pose(MujocoWorld& world) const {
    CameraPose pose;
    std::ranges::copy(world.camera_position(camera_), pose.position.begin());
    std::ranges::copy(world.camera_rotation(camera_), pose.rotation.begin());
    return pose;
  }

  CameraMotion motion_;
  int camera_;
  Hold hold_;
  CameraPose own_;               // what `apply` put another in the place of
  std::array<double, 3> arm_{};  // from the agent to the camera as the episode begins
  Random random_{0};
};

}  // namespace

std::unique_ptr<Disturbance> make_camera(Options& options, const DisturbanceContext& context) {
  if (context.world.count("body") <= agent_body)
    options.fail(
        "the camera is moved around the agent, which is the model's first body, and this model has none; add a <body> to the MJCF, "
        "or set camera = false");
  return std::make_unique<MovedCamera>(read_range(options, context), context.camera, hold_of(context.world, context.camera));
}

}  // namespace iap
