module;
#include <algorithm>
#include <array>
#include <memory>
#include <numbers>
module iap.envs.distraction;
import iap.core;
import iap.sim;

namespace iap {
namespace {

constexpr double pi = std::numbers::pi;

/// @lua options env.distraction.camera
/// The camera's place; s is the difficulty's 0.1, 0.2 or 0.3.
/// @option dynamic boolean = (the distraction's) - the camera drifts during an episode
/// @option horizontal_delta number 0..6.28319 = (pi / 2 s) - most that it is turned around the scene, radians
/// @option vertical_delta number 0..6.28319 = (pi / 2 s) - up or down, radians
/// @option roll_delta number 0..6.28319 = (pi / 2 s) - around its axis, radians
/// @option max_vel number 0..1000 = (0.4 s if dynamic, else 0) - most that it moves a step
/// @option vel_std number 0..1000 = (0.1 s if dynamic, else 0) - deviation of the change of its velocity a step
/// @option max_roll_vel number 0..1000 = (pi / 50 s if dynamic, else 0) - radians a step
/// @option roll_std number 0..1000 = (pi / 300 s if dynamic, else 0) - deviation of the change of that, a step
/// @option zoom_in number 0..0.99 = (0.5 s) - nearer by at most this share of its distance
/// @option zoom_out number 0..1000 = (1.5 s) - further away by at most this share
/// @option upper_quadrant boolean = (false for reacher, else true) - it stays above the floor, on its own side
CameraRange read_range(Options& options, const DisturbanceContext& context) {
  constexpr double largest = 1e3;
  const double s = context.scale, moving = context.dynamic ? s : 0;
  CameraRange range;
  range.horizontal_delta = options.number_in("horizontal_delta", 0, 2 * pi, pi / 2 * s);
  range.vertical_delta = options.number_in("vertical_delta", 0, 2 * pi, pi / 2 * s);
  range.roll_delta = options.number_in("roll_delta", 0, 2 * pi, pi / 2 * s);
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
  MovedCamera(const CameraRange& range, int camera, bool follows) : motion_(range), camera_(camera), follows_(follows) {}

  void reset(MujocoWorld& world, Random random) override {
    random_ = random;
    motion_.reset(own_pose(world), agent(world), follows_, random_);
  }
  void step() override { motion_.step(random_); }
  void apply(MujocoWorld& world, MujocoCamera&) override {
    const CameraPose pose = motion_.pose(own_pose(world), agent(world));
    std::ranges::copy(pose.position, world.camera_position(camera_).begin());
    std::ranges::copy(pose.rotation, world.camera_rotation(camera_).begin());
  }

 private:
  static std::array<double, 3> agent(const MujocoWorld& world) {
    constexpr int agent_body = 1;
    const auto centre = world.subtree_centre(agent_body);
    return {centre[0], centre[1], centre[2]};
  }
  CameraPose own_pose(MujocoWorld& world) const {
    CameraPose pose;
    std::ranges::copy(world.camera_position(camera_), pose.position.begin());
    std::ranges::copy(world.camera_rotation(camera_), pose.rotation.begin());
    return pose;
  }

  CameraMotion motion_;
  int camera_;
  bool follows_;
  Random random_{0};
};

}  // namespace

std::unique_ptr<Disturbance> make_camera(Options& options, const DisturbanceContext& context) {
  const bool follows = context.world.array("cam_mode")[context.camera] != 0;
  return std::make_unique<MovedCamera>(read_range(options, context), context.camera, follows);
}

}  // namespace iap
