/// iap.sim: physics worlds and the pictures of them.
export module iap.sim;
import iap.core;
export import :mujoco_bundle;
export import :mujoco;
export import :mujoco_camera;
export import :robot;
export import :robot_world;
export import :robot_scene;

export namespace iap {

/// Of the libraries behind this module's doors.
LibraryVersions sim_versions();

}  // namespace iap
