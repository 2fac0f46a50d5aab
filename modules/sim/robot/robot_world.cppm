module;
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
export module iap.sim:robot_world;
import iap.core;
import :robot;

export namespace iap {

/// A box of the ground.
struct TerrainBox {
  Placement placement;
  std::array<double, 3> half{};  ///< half sides
  std::array<float, 4> rgba{.6f, .6f, .6f, 1};
};

/// A surface of triangles, seen and felt from both sides.
struct TerrainMesh {
  std::vector<double> vertices;  ///< x, y, z of each
  std::vector<int> indices;      ///< three of each triangle
  std::array<float, 4> rgba{.6f, .6f, .6f, 1};
};

/// What a robot walks on. It does not move.
struct Terrain {
  bool plane = true;    ///< an endless floor at z = 0
  double friction = 1;  ///< Coulomb's coefficient between robot and terrain
  std::vector<TerrainBox> boxes;
  std::vector<TerrainMesh> meshes;  ///< Bullet only
};

struct RobotWorldOptions {
  std::string engine = "bullet";    ///< a name of `robot_engines`
  double timestep = .001;           ///< s, of one physics step
  double gravity = 9.81;            ///< m/s^2, downwards
  bool self_collision = false;      ///< whether links touch each other; never a link and its parent
  std::vector<std::string> joints;  ///< the order of joint arrays: every joint that moves, once; empty: that of the description
};

/// Positions and velocities. The base's are those of the origin of its link frame, in the world's axes.
struct RobotState {
  std::array<double, 3> position{};
  std::array<double, 4> quaternion{1, 0, 0, 0};  ///< w, x, y, z
  std::array<double, 3> velocity{};
  std::array<double, 3> angular_velocity{};
  std::vector<double> angles;      ///< of the joints, in the world's order; rad or m
  std::vector<double> velocities;  ///< empty: at rest
};

/// A link that touches something.
struct RobotContact {
  int link = 0;
  int other_link = -1;               ///< the link that it touches, -1: it is the terrain
  int terrain = -1;                  ///< which part: -1 the floor, then the boxes in order, then the meshes
  std::array<double, 3> position{};  ///< in the world
  std::array<double, 3> normal{};    ///< in the world, of length 1, towards `link`
  double force = 0;                  ///< N along the normal, in the last physics step
};

/// A body as the engine has it: links that are joined by fixed joints are one, named as the first of them.
struct RigidBody {
  std::string name;
  double mass = 0;
  std::array<double, 3> centre{};   ///< of mass, in the frame of the link `name`
  std::array<double, 9> inertia{};  ///< about the centre, along that link's axes
};

/// A robot with a free base on a terrain, simulated by Bullet (a Featherstone multibody in float64) or MuJoCo. Joints are driven by
/// torques alone: neither engine adds damping. Both integrate semi-implicitly. Not thread-safe; different worlds may be used by
/// different threads, with the same bits as by one.
class RobotWorld {
 public:
  /// A world with a floor, the base at its origin and all angles 0. @throws Error for an unknown engine, a timestep that is not
  /// positive, joint names that are not the robot's, a body that moves and has no mass, and whatever the engine refuses.
  explicit RobotWorld(RobotDescription robot, RobotWorldOptions options = {});
  ~RobotWorld();
  RobotWorld(RobotWorld&&) noexcept;
  RobotWorld& operator=(RobotWorld&&) noexcept;

  const RobotDescription& robot() const;
  const RobotWorldOptions& options() const;
  /// Names of the joints in the order of all joint arrays.
  const std::vector<std::string>& joints() const;
  /// The place of a joint in them. @throws Error with the nearest name.
  int joint(std::string_view name) const;

  /// Puts the robot on another terrain; `reset` must follow. @throws Error for sizes that are not positive, numbers that are not
  /// finite, indices that name no vertex, and meshes on MuJoCo, which would fill their hollows.
  void set_terrain(Terrain terrain);
  const Terrain& terrain() const;

  /// Starts anew: nothing of what was before remains. @throws Error if `start` has other joints or a number is not finite.
  void reset(const RobotState& start);
  /// Advances by `steps` physics steps, at least 1, under constant joint torques (N m, or N for a prismatic joint). A torque that
  /// is not finite makes the world unstable. @throws Error for a wrong number of torques or before a `reset` is due.
  void step(std::span<const double> torques, int steps);

  const RobotState& state() const;
  /// Of the base: columns are its axes in the world.
  std::array<double, 9> base_rotation() const;
  /// The base's velocity and angular velocity along its own axes.
  std::array<double, 3> velocity_in_base() const;
  std::array<double, 3> angular_velocity_in_base() const;
  /// Where the frame of a link stands in the world. A shape of the link is at this times its own placement.
  Placement link_placement(int link) const;
  /// What touched in the last physics step, ordered by link, then by what it touches; borrowed until the next call.
  std::span<const RobotContact> contacts() const;
  /// True from the moment that the simulation met a bad number (not finite or beyond 1e10) until the next `reset`; the world then
  /// stands still.
  bool unstable() const;
  /// Seconds since the last `reset`.
  double time() const;
  /// What the engine made of the masses.
  std::vector<RigidBody> bodies() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// "bullet", "mujoco".
const std::vector<std::string>& robot_engines();

/// What a motor gives of a torque that is asked for while its joint moves at `velocity`: clipped to +-torque_limit, and 0 where it
/// would drive a joint faster still that moves faster than its velocity limit. A limit of 0 is none.
double limited_torque(double torque, double velocity, double torque_limit, double velocity_limit);

/// A proportional and differential motor a joint: kp (target - angle) - kd velocity as `limited_torque` lets it through.
class PdMotors {
 public:
  /// One value a joint, in the world's order. @throws Error if the sizes differ or a value is negative.
  PdMotors(std::vector<double> kp, std::vector<double> kd, std::vector<double> torque_limits, std::vector<double> velocity_limits);

  /// The torques for the present angles and velocities; borrowed until the next call. @throws Error on wrong sizes.
  std::span<const double> torques(std::span<const double> targets, std::span<const double> angles,
                                  std::span<const double> velocities);
  /// Advances `world` by `steps` physics steps towards `targets`, with new torques at each.
  void step(RobotWorld& world, std::span<const double> targets, int steps);

 private:
  std::vector<double> kp_, kd_, torque_limits_, velocity_limits_, torques_;
};

}  // namespace iap
