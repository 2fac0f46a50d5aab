module;
#include <console_bridge/console.h>
#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.sim;
import iap.core;
import iap.geometry;
#include "mesh_files.hpp"
#include "robot_check.hpp"
#include "robot_engine.hpp"
#include "urdf_text.hpp"

namespace iap {
namespace {

// Engines descend along chains by recursion.
constexpr int longest_chain = 100;

// Takes what the library would print of this thread's work. The present handler and the previous one, to which a host may go back,
// are the host's again afterwards, and so is its level, below which the library tells a handler nothing.
class Collected final : public console_bridge::OutputHandler {
 public:
  Collected() : present_(console_bridge::getOutputHandler()) {
    console_bridge::restorePreviousOutputHandler();
    previous_ = console_bridge::getOutputHandler();
    console_bridge::useOutputHandler(this);
    if (level_ > needed) console_bridge::setLogLevel(needed);
  }
  ~Collected() override {
    if (level_ > needed) console_bridge::setLogLevel(level_);
    console_bridge::useOutputHandler(previous_);
    console_bridge::useOutputHandler(present_);
  }
  Collected(const Collected&) = delete;
  Collected& operator=(const Collected&) = delete;

  void log(const std::string& line, console_bridge::LogLevel level, const char* file, int number) override {
    if (std::this_thread::get_id() != thread_) {
      if (present_ && level >= level_) present_->log(line, level, file, number);
      return;
    }
    // Of a material there is only the colour to lose, and published texts have many that are no colours.
    if (level < needed || line.starts_with("Material ") || complete_) return;
    if (!joined_.empty()) joined_ += "; ";
    joined_ += line;
    // What is wrong comes first, then whose part it is.
    constexpr std::string_view whose = "Could not parse ";
    constexpr int most = 3;
    complete_ = ++lines_ >= most || (line.starts_with(whose) && line.find(" for Link ") != line.npos);
  }
  const std::string& joined() const { return joined_; }

 private:
  static constexpr auto needed = console_bridge::CONSOLE_BRIDGE_LOG_ERROR;

  const console_bridge::LogLevel level_ = console_bridge::getLogLevel();
  const std::thread::id thread_ = std::this_thread::get_id();
  console_bridge::OutputHandler *present_, *previous_;
  std::string joined_;
  int lines_ = 0;
  bool complete_ = false;
};

// Links own their children: a loop would keep itself alive.
void untie(const urdf::ModelInterface& model) {
  for (const auto& [name, link] : model.links_) link->child_links.clear();
}

urdf::ModelInterfaceSharedPtr parse(std::string_view urdf, const std::string& source) {
  if (urdf.size() > largest_urdf)
    throw Error(text(source, ": has ", memory_text(static_cast<double>(urdf.size())), "; a URDF may have ",
                     memory_text(static_cast<double>(largest_urdf))));
  check_urdf_text(urdf, source);
  static ForkMutex mutex;  // where the messages go is one for the process
  const std::lock_guard lock(mutex);
  const Collected log;
  std::string reason;
  try {
    auto model = urdf::parseURDF(std::string(urdf));
    // A model comes back as well where a link lacks what could not be read.
    if (model && log.joined().empty()) return model;
    if (model) untie(*model);
    reason = log.joined().empty() ? "it describes no robot" : log.joined();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  throw Error(text(source, ": cannot be read as URDF: ", reason));
}

std::array<double, 3> vector(const urdf::Vector3& v) { return {v.x, v.y, v.z}; }

Placement placement(const urdf::Pose& pose) {
  return {vector(pose.position), rotation_of({pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z})};
}

class Converter {
 public:
  Converter(const urdf::ModelInterface& model, const std::string& source, const FindMesh& find_mesh)
      : model_(model), source_(source), find_mesh_(find_mesh) {}

  RobotDescription convert() {
    RobotDescription robot{.name = model_.getName(), .links = {}};
    std::vector<int> depths;
    // A stack instead of recursion; the last child is pushed first, so that the first comes out next.
    std::vector<std::pair<const urdf::Link*, int>> open{{model_.getRoot().get(), -1}};
    while (!open.empty()) {
      const auto [link, parent] = open.back();
      open.pop_back();
      if (robot.links.size() >= model_.links_.size()) fail("link '", link->name, "' hangs on two joints");
      const int number = static_cast<int>(robot.links.size());
      depths.push_back(parent < 0 ? 0 : depths[static_cast<std::size_t>(parent)] + 1);
      if (depths.back() > longest_chain)
        fail("link '", link->name, "' hangs on a chain of more than ", longest_chain, " joints; shorten the chain");
      robot.links.push_back(convert(*link, parent));
      for (auto child = link->child_links.rbegin(); child != link->child_links.rend(); ++child)
        open.emplace_back(child->get(), number);
    }
    for (const auto& [name, link] : model_.links_)
      if (std::ranges::none_of(robot.links, [&](const RobotLink& known) { return known.name == name; }))
        fail("link '", name, "' belongs to a loop of joints that does not hang on the base '", robot.links[0].name, "'");
    return robot;
  }

 private:
  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw Error(text(source_, ": ", parts...));
  }

  RobotLink convert(const urdf::Link& from, int parent) {
    RobotLink link{.name = from.name, .parent = parent};
    if (parent >= 0) convert(*from.parent_joint, link);
    if (from.inertial) {
      const auto& inertial = *from.inertial;
      const Placement frame = placement(inertial.origin);
      link.mass = inertial.mass;
      link.centre = frame.position;
      link.inertia = geometry::turned({inertial.ixx, inertial.ixy, inertial.ixz, inertial.ixy, inertial.iyy, inertial.iyz,
                                       inertial.ixz, inertial.iyz, inertial.izz},
                                      frame.rotation);
    }
    for (const auto& collision : from.collision_array)
      if (collision->geometry) link.collisions.push_back(convert(*collision->geometry, collision->origin, from.name));
    for (const auto& visual : from.visual_array) {
      if (!visual->geometry || visual->geometry->type == urdf::Geometry::MESH) continue;
      link.visuals.push_back(convert(*visual->geometry, visual->origin, from.name));
      if (visual->material) {
        const auto& colour = visual->material->color;
        link.visuals.back().rgba = {colour.r, colour.g, colour.b, colour.a};
      }
    }
    return link;
  }

  void convert(const urdf::Joint& from, RobotLink& link) const {
    link.joint = from.name;
    link.origin = placement(from.parent_to_joint_origin_transform);
    link.axis = vector(from.axis);
    if (from.mimic) fail("joint '", from.name, "' mimics another one; joints that mimic are not supported, take it out");
    switch (from.type) {
      case urdf::Joint::FIXED: link.kind = JointKind::fixed; break;
      case urdf::Joint::REVOLUTE: link.kind = JointKind::revolute; break;
      case urdf::Joint::CONTINUOUS: link.kind = JointKind::continuous; break;
      case urdf::Joint::PRISMATIC: link.kind = JointKind::prismatic; break;
      default:
        fail("joint '", from.name, "' is neither fixed, revolute, continuous nor prismatic; write it as several such joints");
    }
    if (!from.limits) return;
    link.lower = from.limits->lower;
    link.upper = from.limits->upper;
    link.effort = from.limits->effort;
    link.velocity = from.limits->velocity;
  }

  // A file is read once, however many shapes name it.
  const std::vector<double>& points_of(const std::string& name, const std::string& link) {
    if (const auto known = meshes_.find(name); known != meshes_.end()) return known->second;
    const MeshFile mesh = find_mesh_(name, link);
    mesh_bytes_ += mesh.content.size();
    if (mesh_bytes_ > largest_meshes)
      fail("its mesh files have more than ", largest_meshes >> 20, " MiB (with '", mesh.name,
           "'); make them smaller (by decimation)");
    return meshes_.emplace(name, mesh_points(mesh)).first->second;
  }

  RobotShape convert(const urdf::Geometry& from, const urdf::Pose& origin, const std::string& link) {
    check_interrupt();
    RobotShape shape{.placement = placement(origin)};
    switch (from.type) {
      case urdf::Geometry::BOX: {
        const auto& box = static_cast<const urdf::Box&>(from);
        shape.size = {box.dim.x / 2, box.dim.y / 2, box.dim.z / 2};
        break;
      }
      case urdf::Geometry::SPHERE:
        shape.kind = RobotShape::Kind::sphere;
        shape.size = {static_cast<const urdf::Sphere&>(from).radius, 0, 0};
        break;
      case urdf::Geometry::CYLINDER: {
        const auto& cylinder = static_cast<const urdf::Cylinder&>(from);
        shape.kind = RobotShape::Kind::cylinder;
        shape.size = {cylinder.radius, cylinder.length / 2, 0};
        break;
      }
      default: {
        const auto& mesh = static_cast<const urdf::Mesh&>(from);
        const auto scale = vector(mesh.scale);
        shape.kind = RobotShape::Kind::hull;
        if (std::ranges::find(scale, 0.) != scale.end())
          fail("link '", link, "': the mesh '", mesh.filename, "' has the scale ", scale[0], ' ', scale[1], ' ', scale[2],
               "; none of its numbers may be 0");
        shape.points = points_of(mesh.filename, link);
        coordinates_ += static_cast<double>(shape.points.size());
        check_memory(text(source_, ": its meshes"), bytes_a_coordinate * coordinates_);
        for (std::size_t i = 0; i < shape.points.size(); ++i) shape.points[i] *= scale[i % 3];
        if (is_flat(shape.points))
          fail("link '", link, "': the mesh '", mesh.filename,
               "' is flat: its points enclose no volume; give the link a box, or a mesh with some thickness");
      }
    }
    return shape;
  }

  const urdf::ModelInterface& model_;
  const std::string& source_;
  const FindMesh& find_mesh_;
  std::map<std::string, std::vector<double>> meshes_;
  std::uintmax_t mesh_bytes_ = 0;
  double coordinates_ = 0;  // of all meshes
};

// What engines would refuse where the text's name is no longer known.
void check_bodies(const RobotDescription& robot, const std::string& source) {
  try {
    (void)make_model(robot);
  } catch (const Error& error) {
    throw Error(text(source, ": ", error.what()));
  }
}

}  // namespace

RobotDescription parse_urdf(std::string_view urdf, const std::string& source, const FindMesh& find_mesh) {
  const auto model = parse(urdf, source);
  struct Guard {
    const urdf::ModelInterface& model;
    ~Guard() { untie(model); }
  } const guard{*model};
  RobotDescription robot = Converter(*model, source, find_mesh).convert();
  check_robot(robot, source);
  check_bodies(robot, source);
  return robot;
}

RobotDescription parse_urdf(std::string_view urdf, const std::string& source, const std::filesystem::path& folder) {
  return parse_urdf(urdf, source, meshes_in(folder, source));
}

}  // namespace iap
