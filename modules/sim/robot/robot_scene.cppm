module;
#include <array>
export module iap.sim:robot_scene;
import iap.render;
import :robot_world;

export namespace iap {

/// What is to be seen of `world`: its terrain on a checkered floor, the robot in its colours, a sun that casts shadows, a plain
/// sky. Links without visuals show what they touch with; convex hulls show as the boxes around them. Triangles of the terrain are
/// left out. The camera is the caller's to place.
Scene robot_scene(const RobotWorld& world);
/// Moves the robot in a scene that `robot_scene` made of this world on this terrain. Allocates nothing.
void move_robot(const RobotWorld& world, Scene& scene);
/// The same without the robot, and without its shadow: what a camera sees whose own body is not to be in its pictures.
Scene terrain_scene(const RobotWorld& world);

/// A camera on a link of a robot. Place and axes are in the link's frame.
struct RobotCamera {
  int link = 0;
  std::array<double, 3> position{};  ///< m
  std::array<double, 3> forward{1, 0, 0}, up{0, 0, 1};
  double vertical_fov_degrees = 60;
  double near_plane = .01, far_plane = 100;  ///< m
};

/// Where `camera` stands and looks now. Allocates nothing.
Camera camera_on(const RobotWorld& world, const RobotCamera& camera);

}  // namespace iap
