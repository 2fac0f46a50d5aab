module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>
module iap.sim;
import iap.core;
import iap.geometry;
#include "robot_engine.hpp"

namespace iap {

using namespace geometry;

namespace {

constexpr double bad = 1e10;

template <typename Values>
bool sound(const Values& values) {
  return std::ranges::all_of(values, [](double value) { return std::abs(value) <= bad; });  // false for NaN
}

bool sound(const RobotState& state) {
  return sound(state.position) && sound(state.quaternion) && sound(state.velocity) && sound(state.angular_velocity) &&
         sound(state.angles) && sound(state.velocities);
}

void check(const Terrain& terrain, const std::string& engine) {
  if (!(terrain.friction >= 0 && terrain.friction <= bad))
    throw Error(text("a terrain cannot have the friction ", terrain.friction, "; it must not be negative"));
  for (std::size_t i = 0; i < terrain.boxes.size(); ++i) {
    const auto& box = terrain.boxes[i];
    for (const double half : box.half)
      if (!(half > 0 && half <= bad))
        throw Error(text("box ", i, " of the terrain has the half side ", half, "; it must be positive"));
    if (!sound(box.placement.position) || !sound(box.placement.rotation))
      throw Error(text("box ", i, " of the terrain stands at a place that is not finite"));
  }
  if (terrain.meshes.empty()) return;
  if (engine == "mujoco")
    throw Error(
        "MuJoCo fills the hollows of meshes, so that a terrain of triangles would be another one; "
        "use engine = \"bullet\", or boxes");
  for (std::size_t i = 0; i < terrain.meshes.size(); ++i) {
    const auto& mesh = terrain.meshes[i];
    const auto vertices = static_cast<int>(mesh.vertices.size() / 3);
    if (mesh.vertices.size() % 3 != 0 || mesh.indices.size() % 3 != 0 || mesh.indices.empty())
      throw Error(text("mesh ", i, " of the terrain has ", mesh.vertices.size(), " coordinates and ", mesh.indices.size(),
                       " indices; vertices have three and so have triangles, of which there must be one"));
    if (!sound(mesh.vertices)) throw Error(text("mesh ", i, " of the terrain has a vertex that is not finite"));
    for (const int index : mesh.indices)
      if (index < 0 || index >= vertices)
        throw Error(text("mesh ", i, " of the terrain has no vertex ", index, "; there are ", vertices, ", from 0 on"));
  }
}

// Every joint of the robot once.
void check_joints(const std::vector<std::string>& order, const RobotDescription& robot) {
  const auto own = robot.joints();
  for (const auto& name : order) {
    if (std::ranges::find(own, name) == own.end())
      throw Error(text("the robot '", robot.name, "' has no joint '", name, "' that moves", did_you_mean(name, own)));
    if (std::ranges::count(order, name) > 1) throw Error(text("the order of joints names '", name, "' twice"));
  }
  for (const auto& name : own)
    if (std::ranges::find(order, name) == order.end()) throw Error(text("the order of joints leaves out '", name, "'"));
}

}  // namespace

struct RobotWorld::Impl {
  RobotDescription robot;
  RobotWorldOptions options;
  RobotModel model;
  std::vector<int> joint_body;
  Terrain terrain;
  std::unique_ptr<RobotEngine> engine;
  RobotState state;
  std::vector<Placement> placements;
  std::vector<RobotContact> contacts;
  bool unstable = false, due = false, placed = false, touched = false;
  std::int64_t steps = 0;

  void check_begun(const char* what) const {
    if (due) throw Error(text("the terrain is a new one; call reset before ", what));
  }

  void look() {
    engine->read(state);
    placed = touched = false;
    unstable = unstable || engine->failed() || !sound(state);
  }
};

RobotWorld::RobotWorld(RobotDescription robot, RobotWorldOptions options) : impl_(std::make_unique<Impl>()) {
  auto& own = *impl_;
  own.robot = std::move(robot);
  own.options = std::move(options);
  if (std::ranges::find(robot_engines(), own.options.engine) == robot_engines().end())
    throw Error(text("there is no engine '", own.options.engine, "'", did_you_mean(own.options.engine, robot_engines())));
  if (!(own.options.timestep > 0 && own.options.timestep <= 1))
    throw Error(text("a physics step of ", own.options.timestep, " s is not possible; use 0.001"));
  if (!(std::abs(own.options.gravity) <= 1000)) throw Error(text("a gravity of ", own.options.gravity, " m/s^2 is not possible"));
  own.model = make_model(own.robot);
  if (own.options.joints.empty()) own.options.joints = own.robot.joints();
  check_joints(own.options.joints, own.robot);
  for (const auto& name : own.options.joints) {
    const auto body =
        std::ranges::find_if(own.model.bodies, [&](const RobotBody& b) { return own.robot.links[b.root].joint == name; });
    own.joint_body.push_back(static_cast<int>(body - own.model.bodies.begin()));
  }
  const EngineSetup setup{own.robot, own.model, own.options, own.joint_body};
  own.engine = own.options.engine == "bullet" ? make_bullet_engine(setup) : make_mujoco_engine(setup);
  own.placements.resize(own.model.bodies.size());
  own.state.angles.resize(own.joint_body.size());
  own.state.velocities.resize(own.joint_body.size());
  own.engine->set_terrain(own.terrain);
  reset({.angles = std::vector<double>(own.joint_body.size())});
}

RobotWorld::~RobotWorld() = default;
RobotWorld::RobotWorld(RobotWorld&&) noexcept = default;
RobotWorld& RobotWorld::operator=(RobotWorld&&) noexcept = default;

const RobotDescription& RobotWorld::robot() const { return impl_->robot; }
const RobotWorldOptions& RobotWorld::options() const { return impl_->options; }
const std::vector<std::string>& RobotWorld::joints() const { return impl_->options.joints; }
const Terrain& RobotWorld::terrain() const { return impl_->terrain; }
const RobotState& RobotWorld::state() const { return impl_->state; }
bool RobotWorld::unstable() const { return impl_->unstable; }
double RobotWorld::time() const { return static_cast<double>(impl_->steps) * impl_->options.timestep; }
std::vector<RigidBody> RobotWorld::bodies() const {
  impl_->check_begun("bodies");
  return impl_->engine->bodies();
}

int RobotWorld::joint(std::string_view name) const {
  const auto found = std::ranges::find(joints(), name);
  if (found == joints().end())
    throw Error(text("the robot '", robot().name, "' has no joint '", name, "' that moves", did_you_mean(name, joints())));
  return static_cast<int>(found - joints().begin());
}

void RobotWorld::set_terrain(Terrain terrain) {
  check(terrain, impl_->options.engine);
  impl_->terrain = std::move(terrain);
  impl_->due = true;
  impl_->engine->set_terrain(impl_->terrain);
}

void RobotWorld::reset(const RobotState& start) {
  auto& own = *impl_;
  const std::size_t count = own.joint_body.size();
  if (start.angles.size() != count || (!start.velocities.empty() && start.velocities.size() != count))
    throw Error(text("the robot '", own.robot.name, "' has ", count, " joints; the state to begin with has ", start.angles.size(),
                     " angles and ", start.velocities.size(), " velocities"));
  const double norm =
      std::hypot(std::hypot(start.quaternion[0], start.quaternion[1]), std::hypot(start.quaternion[2], start.quaternion[3]));
  if (!sound(start) || std::abs(norm - 1) > 1e-6)
    throw Error(text("a robot cannot begin with numbers that are not finite or a quaternion of length ", norm));
  RobotState state = start;
  state.velocities.resize(count);
  for (double& part : state.quaternion) part /= norm;
  own.engine->reset(state);
  own.unstable = own.due = false;
  own.steps = 0;
  own.look();
}

void RobotWorld::step(std::span<const double> torques, int steps) {
  auto& own = *impl_;
  own.check_begun("step");
  if (steps < 1) throw Error(text("a robot's world cannot advance by ", steps, " steps; use at least 1"));
  if (torques.size() != own.joint_body.size())
    throw Error(text("the robot '", own.robot.name, "' has ", own.joint_body.size(), " joints, not ", torques.size()));
  own.unstable = own.unstable || !sound(torques);
  if (own.unstable) return;
  check_interrupt();
  own.engine->step(torques, steps);
  own.steps += steps;
  own.look();
}

Matrix3 RobotWorld::base_rotation() const { return rotation_of(state().quaternion); }
Vector3 RobotWorld::velocity_in_base() const { return transposed(base_rotation()) * state().velocity; }
Vector3 RobotWorld::angular_velocity_in_base() const { return transposed(base_rotation()) * state().angular_velocity; }

Placement RobotWorld::link_placement(int link) const {
  auto& own = *impl_;
  if (link < 0 || link >= static_cast<int>(own.robot.links.size()))
    throw Error(text("the robot '", own.robot.name, "' has no link ", link, "; it has ", own.robot.links.size()));
  own.check_begun("link_placement");
  if (!own.placed) own.engine->placements(own.placements);
  own.placed = true;
  return own.placements[own.model.link_body[link]] * own.model.link_place[link];
}

std::span<const RobotContact> RobotWorld::contacts() const {
  auto& own = *impl_;
  own.check_begun("contacts");
  if (!own.touched) {
    own.contacts.clear();
    own.engine->contacts(own.contacts);
    std::ranges::sort(own.contacts, {},
                      [](const RobotContact& c) { return std::tuple(c.link, c.other_link, c.terrain, c.position); });
  }
  own.touched = true;
  return own.contacts;
}

const std::vector<std::string>& robot_engines() {
  static const std::vector<std::string> names{"bullet", "mujoco"};
  return names;
}

}  // namespace iap
