module;
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
module iap.sim;
import iap.core;
import iap.geometry;
#include "../mujoco_internal.hpp"
#include "robot_engine.hpp"

namespace iap {
namespace {

using namespace geometry;

constexpr int robot_bit = 1, terrain_bit = 2;

class MujocoEngine final : public RobotEngine {
 public:
  explicit MujocoEngine(const EngineSetup& setup)
      : description_(setup.robot), robot_(setup.model), options_(setup.options), joint_body_(setup.joint_body) {}

  void set_terrain(const Terrain& terrain) override {
    // Compiling takes milliseconds, so that worlds with about as many boxes share a model.
    constexpr std::size_t group = 32;
    const int slots = static_cast<int>((terrain.boxes.size() + group - 1) / group * group);
    if (!world_ || slots != slots_) compile(slots);
    mjModel& model = *world_->impl().model;
    std::fill_n(&model.geom_contype[first_slot_], slots, 0);
    std::fill_n(&model.geom_conaffinity[first_slot_], slots, 0);
    show(floor_, terrain.plane, terrain.friction);
    for (int i = 0; i < static_cast<int>(terrain.boxes.size()); ++i) {
      const TerrainBox& box = terrain.boxes[i];
      const int geom = first_slot_ + i;
      show(geom, true, terrain.friction);
      std::ranges::copy(box.placement.position, &model.geom_pos[3 * geom]);
      std::ranges::copy(quaternion_of(box.placement.rotation), &model.geom_quat[4 * geom]);
      std::ranges::copy(box.half, &model.geom_size[3 * geom]);
      model.geom_rbound[geom] = std::sqrt(dot(box.half, box.half));
      model.geom_sameframe[geom] = 0;
    }
  }

  void reset(const RobotState& start) override {
    world_->reset();
    const auto position = world_->qpos(), velocity = world_->qvel();
    std::ranges::copy(start.position, position.begin());
    std::ranges::copy(start.quaternion, position.begin() + 3);
    std::ranges::copy(start.velocity, velocity.begin());
    std::ranges::copy(transposed(rotation_of(start.quaternion)) * start.angular_velocity, velocity.begin() + 3);
    for (std::size_t j = 0; j < joint_body_.size(); ++j) {
      position[angle_at_[j]] = start.angles[j];
      velocity[velocity_at_[j]] = start.velocities[j];
    }
    touched_ = false;
  }

  void step(std::span<const double> torques, int steps) override {
    mjData& data = *world_->impl().data;
    const MujocoCall call;
    for (int i = 0; i < steps; ++i) {
      for (std::size_t j = 0; j < torques.size(); ++j) data.qfrc_applied[velocity_at_[j]] = torques[j];
      mj_step(world_->impl().model.get(), &data);
    }
    touched_ = true;
    if (!is_full(data)) return;
    note_full(text("robot '", description_.name, "'"), *world_->impl().model, data,
              "give it fewer or simpler collision shapes, none of them in each other, or play it on Bullet");
  }

  bool failed() const override { return world_->unstable(); }

  void read(RobotState& state) override {
    const auto position = world_->qpos(), velocity = world_->qvel();
    std::copy_n(position.begin(), 3, state.position.begin());
    std::copy_n(position.begin() + 3, 4, state.quaternion.begin());
    std::copy_n(velocity.begin(), 3, state.velocity.begin());
    state.angular_velocity = rotation_of(state.quaternion) * Vector3{velocity[3], velocity[4], velocity[5]};
    for (std::size_t j = 0; j < joint_body_.size(); ++j) {
      state.angles[j] = position[angle_at_[j]];
      state.velocities[j] = velocity[velocity_at_[j]];
    }
  }

  // Contacts stay those of the last step. Positions do, too: MuJoCo normalises their quaternions in place, so that who looks would
  // change the steps that follow.
  void placements(std::span<Placement> bodies) override {
    const auto positions = world_->qpos();
    std::ranges::copy(positions, positions_.begin());
    const MujocoCall call;
    mj_kinematics(world_->impl().model.get(), world_->impl().data.get());
    std::ranges::copy(positions_, positions.begin());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      std::ranges::copy(world_->body_position(bodies_[i]), bodies[i].position.begin());
      std::ranges::copy(world_->body_rotation(bodies_[i]), bodies[i].rotation.begin());
    }
  }

  void contacts(std::vector<RobotContact>& found) override {
    if (!touched_) return;
    const mjData& data = *world_->impl().data;
    for (int i = 0; i < data.ncon; ++i) {
      const mjContact& from = data.contact[i];
      if (from.efc_address < 0) continue;
      double force[6];
      mj_contactForce(world_->impl().model.get(), &data, i, force);
      // The normal points from the first geom to the second.
      const bool second = geom_link_[from.geom2] >= 0;
      const int own = second ? from.geom2 : from.geom1, other = second ? from.geom1 : from.geom2;
      const double sign = second ? 1 : -1;
      RobotContact contact{.link = geom_link_[own], .other_link = geom_link_[other], .force = force[0]};
      if (contact.other_link < 0) contact.terrain = other == floor_ ? -1 : other - first_slot_;
      for (int k = 0; k < 3; ++k) {
        contact.position[k] = from.pos[k];
        contact.normal[k] = sign * from.frame[k];
      }
      found.push_back(contact);
    }
  }

  std::vector<RigidBody> bodies() const override {
    std::vector<RigidBody> result;
    const mjModel& model = *const_cast<MujocoWorld&>(*world_).impl().model;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const int body = bodies_[i];
      RigidBody rigid{.name = description_.links[robot_.bodies[i].root].name, .mass = model.body_mass[body]};
      std::copy_n(&model.body_ipos[3 * body], 3, rigid.centre.begin());
      const double *turn = &model.body_iquat[4 * body], *moments = &model.body_inertia[3 * body];
      rigid.inertia = turned({moments[0], 0, 0, 0, moments[1], 0, 0, 0, moments[2]},
                             rotation_of(std::array{turn[0], turn[1], turn[2], turn[3]}));
      result.push_back(rigid);
    }
    return result;
  }

 private:
  void compile(int slots) {
    const std::string xml = robot_mjcf(description_, options_.timestep, options_.self_collision, slots);
    const std::array<MujocoFile, 1> files{{{"robot.xml", xml}}};
    world_.emplace(files);
    slots_ = slots;
    mjModel& model = *world_->impl().model;
    model.opt.gravity[0] = model.opt.gravity[1] = 0;
    model.opt.gravity[2] = -options_.gravity;
    floor_ = world_->id("geom", "floor");
    first_slot_ = floor_ + 1;
    geom_link_.assign(model.ngeom, -1);
    for (std::size_t link = 0; link < description_.links.size(); ++link)
      for (std::size_t k = 0; k < description_.links[link].collisions.size(); ++k)
        geom_link_[world_->id("geom", text(description_.links[link].name, ":", k))] = static_cast<int>(link);
    positions_.resize(world_->qpos().size());
    bodies_.clear();
    for (const auto& body : robot_.bodies)
      bodies_.push_back(world_->id("body", mjcf_body_name(description_.links[body.root].name)));
    angle_at_.clear();
    velocity_at_.clear();
    for (const auto& name : options_.joints) {
      const int joint = world_->id("joint", name);
      angle_at_.push_back(world_->qpos_address(joint));
      velocity_at_.push_back(world_->qvel_address(joint));
    }
  }

  void show(int geom, bool shown, double friction) {
    mjModel& model = *world_->impl().model;
    model.geom_contype[geom] = shown ? terrain_bit : 0;
    model.geom_conaffinity[geom] = shown ? robot_bit : 0;
    model.geom_friction[3 * geom] = friction;
  }

  const RobotDescription& description_;
  const RobotModel& robot_;
  const RobotWorldOptions& options_;
  const std::vector<int>& joint_body_;
  std::optional<MujocoWorld> world_;
  int slots_ = 0, floor_ = 0, first_slot_ = 0;
  bool touched_ = false;
  std::vector<int> geom_link_, bodies_, angle_at_, velocity_at_;
  std::vector<double> positions_;
};

}  // namespace

std::unique_ptr<RobotEngine> make_mujoco_engine(const EngineSetup& setup) { return std::make_unique<MujocoEngine>(setup); }

}  // namespace iap
