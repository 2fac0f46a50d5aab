module;
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
export module iap.sim:mujoco;
import iap.core;
import :mujoco_bundle;

export namespace iap {

/// Where two geoms touch, or nearly so.
struct MujocoContact {
  int geom1 = 0, geom2 = 0;
  std::array<double, 3> position{};  ///< in the world
  double distance = 0;               ///< between the surfaces; negative where they overlap
  double force = 0;                  ///< along the contact's normal, in newtons, in the last step; 0 of a contact that is new since
};

/// Kinds of joints, as MuJoCo counts them.
enum class MujocoJoint { free, ball, slide, hinge };

/// A MuJoCo model (MJCF) and its state. Every world has its own copy of the model, so that one may change colours without touching
/// the others; the texts compiled last are kept, for the next world of the same. Indices of bodies, joints and so on come from
/// `id`. Lengths in metres, angles in radians, rotations as row-major 3 x 3 matrices whose columns are the local axes. Not
/// thread-safe; different worlds may be used by different threads. Every method @throws Error if MuJoCo reports an error; `reset`
/// makes the world usable again.
class MujocoWorld {
 public:
  /// Compiles `files[0]`, which may include the others, as they are: what others wrote belongs in a bundle, which looks through it
  /// and keeps MuJoCo's compiler from threads of its own, whose errors end the process. @throws Error with MuJoCo's message and the
  /// file's name.
  explicit MujocoWorld(std::span<const MujocoFile> files);
  explicit MujocoWorld(const MujocoBundle& bundle);
  ~MujocoWorld();
  MujocoWorld(MujocoWorld&&) noexcept;
  MujocoWorld& operator=(MujocoWorld&&) noexcept;

  /// The model's initial state at time 0; clears controls, warm starts and warnings. Derived quantities are stale until `forward`.
  void reset();
  /// Computes all that follows from positions, velocities and controls.
  void forward();
  /// As `forward`, with all actuator forces zero.
  void forward_without_actuation();
  /// Advances by `steps` physics steps (at least 1) in the order of dm_control: afterwards whatever follows from positions and
  /// velocities is up to date, accelerations and contact forces are those of the last step. `forward` must have come before.
  void step(int steps);
  /// True from the moment the simulation met a bad number (positions, velocities, accelerations, controls, a singular inertia)
  /// until the next `reset`: MuJoCo itself resets such a state silently and runs on. So it is from the first step on in which there
  /// were more contacts or constraints than the model has room for, which the standard error is told once; MuJoCo leaves them out.
  bool unstable() const;

  double timestep() const;
  double time() const;
  void set_time(double seconds);
  std::span<double> qpos();
  std::span<const double> qpos() const;
  std::span<double> qvel();
  std::span<const double> qvel() const;
  std::span<double> ctrl();
  std::span<const double> ctrl() const;
  std::span<const double> sensordata() const;
  int contacts() const;
  /// Number `index` of `contacts()`.
  MujocoContact contact(int index) const;

  /// The index of the `kind` ("body", "joint", "geom", "site", "camera", "material", "sensor", "actuator" ...) called `name`.
  /// @throws Error with the nearest name.
  int id(std::string_view kind, std::string_view name) const;
  /// All names of a kind, in index order; "" for what has no name. @throws Error if MuJoCo knows no such kind.
  std::vector<std::string> names(std::string_view kind) const;
  /// How many there are of a kind, and the name of one of them: "" for none; it lives as long as the world does.
  int count(std::string_view kind) const;
  const char* name(std::string_view kind, int index) const;
  /// Any array of mjModel or mjData ("body_mass", "qM"), size ("nq") or option ("timestep") by MuJoCo's own name, as a copy.
  /// @throws Error for other names.
  std::vector<double> array(std::string_view name) const;

  /// World positions (3) and rotations (9), as of the last `forward` or `step`.
  std::span<const double> body_position(int body) const;
  std::span<const double> body_rotation(int body) const;
  /// World position (3) of a body's own centre of mass.
  std::span<const double> body_centre(int body) const;
  /// World position (3) of the centre of mass of a body and all that hangs on it.
  std::span<const double> subtree_centre(int body) const;
  std::span<const double> geom_position(int geom) const;
  std::span<const double> geom_rotation(int geom) const;
  std::span<const double> site_position(int site) const;
  std::span<const double> site_rotation(int site) const;
  /// Angular (3) and linear (3) velocity of a "body", "geom" or "site" about its own centre, along the axes of the world; of a
  /// body, at its frame.
  std::array<double, 6> velocity(std::string_view kind, int index) const;
  double body_mass(int body) const;
  /// The body that a geom belongs to.
  int geom_body(int geom) const;
  /// The values of one sensor.
  std::span<const double> sensor(int sensor) const;
  /// Where a joint's coordinates begin in `qpos` and in `qvel`.
  int qpos_address(int joint) const;
  int qvel_address(int joint) const;
  /// How many they are: 7 and 6 of a free joint, 4 and 3 of a ball, 1 of others.
  int qpos_size(int joint) const;
  int qvel_size(int joint) const;
  MujocoJoint joint_type(int joint) const;
  bool joint_limited(int joint) const;
  std::array<double, 2> joint_range(int joint) const;
  /// What an actuator's control is clipped to; nothing where it is not limited.
  std::optional<std::array<double, 2>> ctrl_range(int actuator) const;

  /// Pose of a camera in the world: position (3) and rotation (9; it looks along -z, y is up). Writable; `forward` and `step`
  /// compute it anew.
  std::span<double> camera_position(int camera);
  std::span<double> camera_rotation(int camera);
  /// Pixels of a texture as the model holds them: tex_height x tex_width x 3.
  std::span<const std::uint8_t> texture_pixels(int texture) const;
  /// Centre of a geom in its body's frame (3) and its size (3, by type: a sphere's radius, a capsule's radius and half length,
  /// half sides). Writable; masses and inertias stay, and `forward` and `step` move the geom. A larger size than the compiled one
  /// escapes MuJoCo's bounding spheres.
  std::span<double> geom_offset(int geom);
  std::span<const double> geom_offset(int geom) const;
  /// Brings back where the model's text has the centres of all geoms.
  void restore_geom_offsets();
  std::span<double> geom_size(int geom);
  std::span<const double> geom_size(int geom) const;
  std::span<const double> site_size(int site) const;
  /// Colour and opacity (4) of a material of this world.
  std::span<float> material_rgba(int material);
  /// A geom's own: shown where it has no material, or where it is not what MuJoCo takes for none (.5, .5, .5, 1).
  std::span<float> geom_rgba(int geom);

  struct Impl;
  /// For the sources of this module (mujoco_internal.hpp).
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
