module;
#include <btBulletDynamicsCommon.h>
#include <dlfcn.h>
// Bullet's other headers come after its common ones.
#include <BulletCollision/NarrowPhaseCollision/btGjkEpa2.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyJointLimitConstraint.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.sim;
import iap.core;
#include "bullet_internal.hpp"

namespace iap {
namespace {

// What is wrong if the program brings another Bullet along: the loader prefers that, function by function, and takes from the right
// one those alone whose names tell that they take float64.
std::string other_bullet() {
  using Distance = btScalar(const btVector3&, btScalar, const btConvexShape*, const btTransform&, btGjkEpaSolver2::sResults&);
  Distance* of_float64 = &btGjkEpaSolver2::SignedDistance;
  Dl_info any{}, own{};
  if (!dladdr(reinterpret_cast<const void*>(&btGjkEpaSolver2::StackSizeRequirement), &any) ||
      !dladdr(reinterpret_cast<const void*>(of_float64), &own) || any.dli_fbase == own.dli_fbase)
    return "";
  return text("another Bullet is in the way: functions of '", any.dli_fname, "' take the place of those of '", own.dli_fname,
              "'; link the program with bullet-float64, or load iap by dlopen with RTLD_DEEPBIND");
}

// Bullet writes the fixed body on first use: it is made before any world runs.
void prepare_process() {
  const Unforked whole;  // the first call finds out, and others wait for it
  static const std::string other = other_bullet();
  if (!other.empty()) throw Error(other);
  static std::once_flag once;
  std::call_once(once, [] { btTypedConstraint::getFixedBody(); });
}

constexpr int robot_group = 1, terrain_group = 2, terrain_mark = -1, floor_number = -1;

// Bullet leaves out what belongs to no group of touching bodies, and looks for the group of a joint at the shapes of its two links,
// which need not have any. A robot is all in the group of its base.
class JointLimit final : public btMultiBodyJointLimitConstraint {
 public:
  using btMultiBodyJointLimitConstraint::btMultiBodyJointLimitConstraint;
  int getIslandIdA() const override { return m_bodyA->getBaseCollider()->getIslandTag(); }
};

// Bullet's own pools for 4096 pairs take a millisecond to make; beyond these it goes on with single ones.
btDefaultCollisionConstructionInfo small_pools() {
  btDefaultCollisionConstructionInfo info;
  info.m_defaultMaxPersistentManifoldPoolSize = 128;
  info.m_defaultMaxCollisionAlgorithmPoolSize = 128;
  return info;
}

// All that lives for one episode: Bullet remembers contacts, pairs and impulses in many places, so a reset makes it anew. Members
// are destroyed in reverse: the world lets go of what the others own.
struct Episode {
  btDefaultCollisionConfiguration configuration{small_pools()};
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btMultiBodyConstraintSolver solver;
  std::unique_ptr<btMultiBody> robot;
  std::vector<std::unique_ptr<btMultiBodyLinkCollider>> colliders;
  std::vector<std::unique_ptr<btCollisionObject>> ground;
  std::vector<std::unique_ptr<JointLimit>> limits;
  btMultiBodyDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
};

class BulletEngine final : public RobotEngine {
 public:
  explicit BulletEngine(const EngineSetup& setup)
      : description_(setup.robot), model_(setup.model), options_(setup.options), joint_body_(setup.joint_body) {
    prepare_process();
    const OwnGlobals globals;
    for (const auto& body : model_.bodies) {
      frames_.push_back(bullet_frame(body));
      shapes_.push_back(body_shape(description_, model_, body, frames_.back(), shape_links_.emplace_back()));
    }
  }

  ~BulletEngine() override { end_episode(); }

  void set_terrain(const Terrain& terrain) override {
    const OwnGlobals globals;
    episode_.reset();
    terrain_ = &terrain;
    ground_shapes_.clear();
    for (const auto& box : terrain.boxes) ground_shapes_.push_back(box_shape(box));
    for (const auto& mesh : terrain.meshes) ground_shapes_.push_back(mesh_shape(mesh));
  }

  void reset(const RobotState& start) override {
    const OwnGlobals globals;
    episode_.reset();
    episode_ = std::make_unique<Episode>();
    build_world();
    build_ground();
    build_robot();
    place(start);
  }

  void step(std::span<const double> torques, int steps) override {
    const OwnGlobals globals;
    for (int i = 0; i < steps; ++i) {
      for (std::size_t j = 0; j < torques.size(); ++j) episode_->robot->addJointTorque(joint_body_[j] - 1, torques[j]);
      episode_->world.stepSimulation(options_.timestep, 0);
    }
  }

  bool failed() const override { return false; }

  void read(RobotState& state) override {
    const btMultiBody& robot = *episode_->robot;
    const btTransform base = robot.getBaseWorldTransform() * frames_[0].com.inverse();
    const btVector3 omega = robot.getBaseOmega();
    state.position = from_bullet(base.getOrigin());
    const btQuaternion turn = base.getRotation();
    state.quaternion = {turn.w(), turn.x(), turn.y(), turn.z()};
    state.velocity = from_bullet(robot.getBaseVel() + omega.cross(base.getOrigin() - robot.getBasePos()));
    state.angular_velocity = from_bullet(omega);
    for (std::size_t j = 0; j < joint_body_.size(); ++j) {
      state.angles[j] = robot.getJointPos(joint_body_[j] - 1);
      state.velocities[j] = robot.getJointVel(joint_body_[j] - 1);
    }
  }

  void placements(std::span<Placement> bodies) override {
    const OwnGlobals globals;
    episode_->robot->forwardKinematics(rotations_, origins_);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const btMultiBody& robot = *episode_->robot;
      const btTransform& com =
          i == 0 ? robot.getBaseWorldTransform() : robot.getLink(static_cast<int>(i) - 1).m_cachedWorldTransform;
      bodies[i] = from_bullet(com * frames_[i].com.inverse());
    }
  }

  void contacts(std::vector<RobotContact>& found) override {
    for (int m = 0; m < episode_->dispatcher.getNumManifolds(); ++m) {
      const btPersistentManifold& manifold = *episode_->dispatcher.getManifoldByIndexInternal(m);
      const btCollisionObject &first = *manifold.getBody0(), &second = *manifold.getBody1();
      for (int p = 0; p < manifold.getNumContacts(); ++p) {
        const btManifoldPoint& point = manifold.getContactPoint(p);
        const double force = point.m_appliedImpulse / options_.timestep;
        if (!(force > 0) && !(point.m_distance1 < 0)) continue;
        if (first.getUserIndex() != terrain_mark)
          found.push_back(
              contact(first, point.m_index0, second, point.m_index1, point.getPositionWorldOnB(), point.m_normalWorldOnB, force));
        else
          found.push_back(
              contact(second, point.m_index1, first, point.m_index0, point.getPositionWorldOnA(), -point.m_normalWorldOnB, force));
      }
    }
  }

  std::vector<RigidBody> bodies() const override {
    std::vector<RigidBody> result;
    const btMultiBody& robot = *episode_->robot;
    for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
      const int link = static_cast<int>(i) - 1;
      const btVector3 moments = i == 0 ? robot.getBaseInertia() : robot.getLinkInertia(link);
      const btMatrix3x3 axes = frames_[i].com.getBasis();
      const btMatrix3x3 diagonal(moments.x(), 0, 0, 0, moments.y(), 0, 0, 0, moments.z());
      result.push_back({.name = description_.links[model_.bodies[i].root].name,
                        .mass = i == 0 ? robot.getBaseMass() : robot.getLinkMass(link),
                        .centre = from_bullet(frames_[i].com.getOrigin()),
                        .inertia = from_bullet(axes * diagonal * axes.transpose())});
    }
    return result;
  }

 private:
  void end_episode() {
    const OwnGlobals globals;
    episode_.reset();
  }

  void build_world() {
    auto& world = episode_->world;
    world.setGravity({0, 0, -options_.gravity});
    world.setForceUpdateAllAabbs(false);  // the ground's stay
    // A residual this small ends the iterations; what rests sinks in by less than a hundredth of a millimetre.
    world.getSolverInfo().m_numIterations = 50;
    world.getSolverInfo().m_leastSquaresResidualThreshold = 1e-7;
    world.getSolverInfo().m_linearSlop = 1e-5;
    // Beyond this one the error of a joint's limit would be left to a part of the solver that multibodies do not have: the joint
    // would stay there. Contacts of multibodies do not ask for it.
    world.getSolverInfo().m_splitImpulsePenetrationThreshold = -1e30;
  }

  void add_ground(btCollisionShape& shape, const btTransform& place, int number) {
    auto& object = *episode_->ground.emplace_back(std::make_unique<btCollisionObject>());
    object.setCollisionShape(&shape);
    object.setWorldTransform(place);
    object.setFriction(terrain_->friction);
    object.forceActivationState(ISLAND_SLEEPING);
    object.setUserIndex(terrain_mark);
    object.setUserIndex2(number);
    episode_->world.addCollisionObject(&object, terrain_group, robot_group);
  }

  void build_ground() {
    if (terrain_->plane) add_ground(floor_, btTransform::getIdentity(), floor_number);
    for (std::size_t i = 0; i < ground_shapes_.size(); ++i) {
      const bool box = i < terrain_->boxes.size();
      add_ground(*ground_shapes_[i].shape, box ? to_bullet(terrain_->boxes[i].placement) : btTransform::getIdentity(),
                 static_cast<int>(i));
    }
  }

  void build_robot() {
    const auto& bodies = model_.bodies;
    const int links = static_cast<int>(bodies.size()) - 1;
    episode_->robot = std::make_unique<btMultiBody>(links, bodies[0].mass, frames_[0].moments, false, false);
    btMultiBody& robot = *episode_->robot;
    for (int i = 0; i < links; ++i) build_link(i);
    robot.finalizeMultiDof();
    robot.setHasSelfCollision(options_.self_collision);
    robot.setLinearDamping(0);
    robot.setAngularDamping(0);
    robot.setMaxCoordinateVelocity(1e30);  // clips nothing: what is beyond all bounds shall be noticed
    episode_->world.addMultiBody(&robot);
    for (std::size_t i = 0; i < bodies.size(); ++i) add_collider(static_cast<int>(i));
    for (std::size_t i = 1; i < bodies.size(); ++i) {
      const RobotLink& link = description_.links[bodies[i].root];
      if (link.kind == JointKind::continuous) continue;
      auto& limit =
          *episode_->limits.emplace_back(std::make_unique<JointLimit>(&robot, static_cast<int>(i) - 1, link.lower, link.upper));
      episode_->world.addMultiBodyConstraint(&limit);
      limit.finalizeMultiDof();
    }
  }

  void build_link(int number) {
    const RobotBody& body = model_.bodies[number + 1];
    const RobotLink& link = description_.links[body.root];
    const BulletFrame &own = frames_[number + 1], &parent = frames_[body.parent];
    // The joint's frame in the parent's frame of masses.
    const btTransform joint = parent.com.inverse() * to_bullet(body.joint);
    const btQuaternion turn = (joint * own.com).getRotation().inverse();
    const btVector3 axis = own.com.getBasis().transpose() * to_bullet(link.axis);
    const btVector3 arm = own.com.getBasis().transpose() * own.com.getOrigin();
    if (link.kind == JointKind::prismatic)
      episode_->robot->setupPrismatic(number, body.mass, own.moments, body.parent - 1, turn, axis, joint.getOrigin(), arm, true);
    else
      episode_->robot->setupRevolute(number, body.mass, own.moments, body.parent - 1, turn, axis, joint.getOrigin(), arm, true);
  }

  // The base has one even without a shape.
  void add_collider(int body) {
    if (!shapes_[body].shape && body > 0) return;
    auto& collider = *episode_->colliders.emplace_back(std::make_unique<btMultiBodyLinkCollider>(episode_->robot.get(), body - 1));
    collider.setCollisionShape(shapes_[body].shape ? shapes_[body].shape.get() : &nothing_);
    collider.setFriction(1);  // Bullet multiplies: the terrain's is what counts
    collider.setUserIndex(body);
    collider.setActivationState(DISABLE_DEACTIVATION);
    if (body == 0)
      episode_->robot->setBaseCollider(&collider);
    else
      episode_->robot->getLink(body - 1).m_collider = &collider;
    episode_->world.addCollisionObject(&collider, robot_group, terrain_group | (options_.self_collision ? robot_group : 0));
  }

  void place(const RobotState& start) {
    btMultiBody& robot = *episode_->robot;
    const btTransform base = to_bullet(Placement{start.position, rotation_of(start.quaternion)});
    robot.setBaseWorldTransform(base * frames_[0].com);
    const btVector3 omega = to_bullet(start.angular_velocity);
    robot.setBaseOmega(omega);
    robot.setBaseVel(to_bullet(start.velocity) + omega.cross(robot.getBasePos() - base.getOrigin()));
    for (std::size_t j = 0; j < joint_body_.size(); ++j) {
      robot.setJointPos(joint_body_[j] - 1, start.angles[j]);
      robot.setJointVel(joint_body_[j] - 1, start.velocities[j]);
    }
    robot.forwardKinematics(rotations_, origins_);
    robot.updateCollisionObjectWorldTransforms(rotations_, origins_);
  }

  int link_of(const btCollisionObject& object, int child) const {
    const auto& links = shape_links_[object.getUserIndex()];
    return links[child >= 0 && child < static_cast<int>(links.size()) ? child : 0];
  }

  RobotContact contact(const btCollisionObject& object, int child, const btCollisionObject& other, int other_child,
                       const btVector3& position, const btVector3& normal, double force) const {
    RobotContact result{
        .link = link_of(object, child), .position = from_bullet(position), .normal = from_bullet(normal), .force = force};
    if (other.getUserIndex() == terrain_mark)
      result.terrain = other.getUserIndex2();
    else
      result.other_link = link_of(other, other_child);
    return result;
  }

  const RobotDescription& description_;
  const RobotModel& model_;
  const RobotWorldOptions& options_;
  const std::vector<int>& joint_body_;
  const Terrain* terrain_ = nullptr;
  std::vector<BulletFrame> frames_;            // per body
  std::vector<std::vector<int>> shape_links_;  // per body and child shape
  std::vector<BulletShape> shapes_, ground_shapes_;
  btEmptyShape nothing_;
  btStaticPlaneShape floor_{btVector3(0, 0, 1), 0};
  btAlignedObjectArray<btQuaternion> rotations_;
  btAlignedObjectArray<btVector3> origins_;
  std::unique_ptr<Episode> episode_;
};

}  // namespace

std::unique_ptr<RobotEngine> make_bullet_engine(const EngineSetup& setup) { return std::make_unique<BulletEngine>(setup); }

}  // namespace iap
