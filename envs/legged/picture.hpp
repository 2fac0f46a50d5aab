// Include after `module iap.envs.legged;` and its imports, with <array>, <optional> and <string>.
#pragma once

namespace iap {

/// One image of an environment: bytes in colour, or float metres along the optical axis. Drawn by the CPU.
class RobotPicture {
 public:
  RobotPicture(std::string name, PictureSize size, bool depth, const DrawOptions& options);
  inline ImageSpec spec() const { return {name_, image_.shape()}; }
  inline ImageView view() const { return image_.view(); }
  /// Draws what `scene` holds as its camera sees it. Allocates nothing but for a scene of another size.
  void draw(const Scene& scene);

 private:
  std::string name_;
  DrawOptions options_;
  Image image_;
  Caster caster_;
};

/// Reads the options `pixels`, which may be without a fallback, and `render`; nothing where there are no pixels. The picture has
/// the name "pixels". @throws Error naming the option.
std::optional<RobotPicture> read_picture(Options& options, std::optional<PictureSize> fallback, bool depth);

/// A camera on the robot's base from the options camera_x, camera_z, camera_tilt, camera_fov, camera_near and camera_far, of which
/// `far` is the last one's fallback. @throws Error naming the option.
RobotCamera read_robot_camera(Options& options, double far);

/// Cameras beside the robot for people to look at: from its side and a little ahead, at the height of its back; from behind and
/// above it, along x; from its left and above it. They follow its place and do not turn with it.
Camera camera_beside(const LeggedBody& body);
Camera camera_behind(const LeggedBody& body);
Camera camera_above(const LeggedBody& body);
/// A camera `from` the robot, which is in the middle of its picture; x is along `heading` (rad), in start heights.
Camera camera_around(const LeggedBody& body, const std::array<double, 3>& from, double heading);

}  // namespace iap
