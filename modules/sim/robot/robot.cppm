module;
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>
export module iap.sim:robot;
import iap.core;
import iap.geometry;

export namespace iap {

// What worlds are given in.
using geometry::Placement;
using geometry::quaternion_of;
using geometry::roll_pitch_yaw;
using geometry::rotation_of;

/// A solid of a link, in the link's frame.
struct RobotShape {
  enum class Kind : std::uint8_t { box, sphere, cylinder, hull };
  Kind kind = Kind::box;
  Placement placement;
  std::array<double, 3> size{};  ///< half sides; radius; radius and half length along z; nothing
  std::vector<double> points;    ///< of a convex hull: x, y, z of each
  std::array<float, 4> rgba{.7f, .7f, .7f, 1};
};

enum class JointKind : std::uint8_t { fixed, revolute, continuous, prismatic };

/// A link and the joint that hangs it on its parent; the base has neither parent nor joint. The link's frame is its joint's.
struct RobotLink {
  std::string name;
  int parent = -1;  ///< number of the parent link, -1 for the base
  std::string joint;
  JointKind kind = JointKind::fixed;
  Placement origin;                     ///< the joint's frame in the parent link's, at angle 0
  std::array<double, 3> axis{0, 0, 1};  ///< in the joint's frame, of length 1
  double lower = 0, upper = 0;          ///< rad or m; a continuous joint has none
  double effort = 0, velocity = 0;      ///< the text's limits: N m and rad/s, or N and m/s; 0 is none
  double mass = 0;                      ///< kg; 0 for a mere frame
  std::array<double, 3> centre{};       ///< of mass, in the link's frame
  std::array<double, 9> inertia{};      ///< about `centre`, along the link's axes, kg m^2
  std::vector<RobotShape> collisions;   ///< what touches
  std::vector<RobotShape> visuals;      ///< what is to be seen; meshes are left out
};

/// A robot as a tree of links, parents first; links[0] is its base. Children of a link come in the order of their joints' names.
struct RobotDescription {
  std::string name;
  std::vector<RobotLink> links;

  /// The number of a link. @throws Error with the nearest name.
  int link(std::string_view link) const;
  /// The joints that move, in the order of `links`.
  std::vector<std::string> joints() const;
  /// Of all links, in kg.
  double mass() const;
};

/// Reads a URDF text; `source` names it in messages, and mesh files are looked for in `folder`. Joints are fixed, revolute,
/// continuous or prismatic; damping and friction of joints, transmissions and other extensions are not read. Collision meshes (OBJ
/// or STL) become convex hulls. Safe on several threads; nothing is printed.
/// @throws Error naming the source, the link or joint and what is wrong: no XML, no tree with one base, a mass that is negative or
/// missing where something moves, an inertia that is not positive, a joint of another kind, a mesh file that is not there.
RobotDescription parse_urdf(std::string_view urdf, const std::string& source, const std::filesystem::path& folder = {});

/// A robot with the files that it was read from: what a policy file carries.
struct RobotBundle {
  /// What the files may take together, in bytes.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  /// Reads a URDF file and the collision meshes that it names. @throws Error as `parse_urdf` does, for a file that cannot be read,
  /// and for files that are too large.
  static RobotBundle read(const std::filesystem::path& file);
  /// The same out of `files`, as `read` gave them for the URDF `name`; nothing is read from the disk. @throws Error for what they
  /// lack, and as `read` does.
  static RobotBundle unpack(const std::string& name, const Config& files);

  RobotDescription robot;
  Config files;  ///< the URDF by its path and each mesh as the URDF names it: a text as it is, anything else as {base64 = "..."}
};

/// The robot as MJCF (MuJoCo's XML) with a free base: links joined by fixed joints are one body, named as the first of them (world_
/// where that is called world, as MuJoCo's own is, world__ where it is world_, and so on); a joint has its URDF name; no actuators.
/// `boxes` static boxes of the world, which touch nothing as compiled, are named terrain0, terrain1, ... @throws Error as MuJoCo's
/// other limits do when the text is compiled, not here.
std::string robot_mjcf(const RobotDescription& robot, double timestep, bool self_collision = false, int boxes = 0);

}  // namespace iap
