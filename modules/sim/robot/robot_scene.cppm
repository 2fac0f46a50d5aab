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

}  // namespace iap
