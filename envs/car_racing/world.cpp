module;
#include <box2d/box2d.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "car_shape.hpp"
#include "core/fork_mutex.hpp"
module iap.envs.car_racing;
import iap.core;
#include "sign.hpp"

namespace iap::car_racing {
namespace {

constexpr double square = car_size * car_size;
constexpr double engine_power = 1e8 * square;
constexpr double wheel_inertia = 4000 * square;
constexpr double road_grip = 1e6 * square, grass_grip = 0.6 * road_grip;
constexpr double slip_stiffness = 205000 * square;
constexpr double steering_limit = 0.4, steering_gain = 50, steering_speed = 3, steering_torque = 180 * 900 * square;
constexpr double gas_rise = 0.1, brake_lock = 0.9, brake_rate = 15;
constexpr int velocity_iterations = 180, position_iterations = 60;

b2Vec2 vec(double x, double y) { return {static_cast<float>(x), static_cast<float>(y)}; }

struct Drive {
  b2Body* body = nullptr;
  b2RevoluteJoint* joint = nullptr;
  double gas = 0, brake = 0, steer = 0, omega = 0, phase = 0;
  int tiles = 0;  // that it stands on
};

// What a body's user data points to: exactly one of the two is set.
struct Tag {
  std::size_t* tile = nullptr;
  Drive* wheel = nullptr;
};

// Box2D fills a table of the process at its first contact, without a lock.
void prepare_process() {
  const Unforked whole;  // others wait for the first call
  static std::once_flag prepared;
  std::call_once(prepared, [] {
    const auto world = std::make_unique<b2World>(vec(0, 0));  // more than a small thread's stack has
    b2CircleShape shape;
    shape.m_radius = 1;
    for (const b2BodyType type : {b2_staticBody, b2_dynamicBody}) {
      b2BodyDef body;
      body.type = type;
      world->CreateBody(&body)->CreateFixture(&shape, 1);
    }
    world->Step(.01F, 1, 1);
  });
}

}  // namespace

struct World::Impl : b2ContactListener {
  explicit Impl(const Track& track)
      : world(vec(0, 0)), numbers(track.size()), tags(track.size()), touched(track.size()), collected(track.size()) {
    world.SetContactListener(this);
    for (std::size_t i = 0; i < track.size(); ++i) add_tile(track, i);
    const TrackPoint& start = track.points.front();
    add_hull(start);
    for (std::size_t i = 0; i < drives.size(); ++i) add_wheel(start, i);
    read_car();
  }

  void add_tile(const Track& track, std::size_t i) {
    std::array<b2Vec2, 4> corners;
    std::ranges::transform(track.tile(i), corners.begin(), [](const Point& point) { return vec(point[0], point[1]); });
    b2PolygonShape shape;
    shape.Set(corners.data(), static_cast<int>(corners.size()));
    numbers[i] = i;
    tags[i].tile = &numbers[i];
    b2BodyDef body;
    body.userData.pointer = reinterpret_cast<std::uintptr_t>(&tags[i]);
    b2FixtureDef fixture;
    fixture.shape = &shape;
    fixture.isSensor = true;
    world.CreateBody(&body)->CreateFixture(&fixture);
  }

  b2Body* add_body(double x, double y, double angle) {
    b2BodyDef definition;
    definition.type = b2_dynamicBody;
    definition.position = vec(x, y);
    definition.angle = static_cast<float>(angle);
    return world.CreateBody(&definition);
  }

  void add_hull(const TrackPoint& start) {
    hull = add_body(start.x, start.y, start.heading);
    for (const auto& part : hull_parts) {
      std::array<b2Vec2, b2_maxPolygonVertices> corners;
      for (std::size_t i = 0; i < part.count; ++i) corners[i] = vec(part.corners[i][0] * car_size, part.corners[i][1] * car_size);
      b2PolygonShape shape;
      shape.Set(corners.data(), static_cast<int>(part.count));
      hull->CreateFixture(&shape, 1);
    }
  }

  // The wheel's offset is not turned with the hull: the joints pull it into place in the first step.
  void add_wheel(const TrackPoint& start, std::size_t i) {
    const double x = wheel_centres[i][0] * car_size, y = wheel_centres[i][1] * car_size;
    Drive& drive = drives[i];
    drive.body = add_body(start.x + x, start.y + y, start.heading);
    wheel_tags[i].wheel = &drive;
    drive.body->GetUserData().pointer = reinterpret_cast<std::uintptr_t>(&wheel_tags[i]);
    b2PolygonShape shape;
    shape.SetAsBox(static_cast<float>(wheel_half_width * car_size), static_cast<float>(wheel_radius * car_size));
    b2FixtureDef fixture;
    fixture.shape = &shape;
    fixture.density = 0.1F;
    fixture.restitution = 0;
    fixture.filter.categoryBits = 0x20;
    fixture.filter.maskBits = 0x1;
    drive.body->CreateFixture(&fixture);
    b2RevoluteJointDef joint;
    joint.bodyA = hull;
    joint.bodyB = drive.body;
    joint.localAnchorA = vec(x, y);
    joint.enableMotor = true;
    joint.maxMotorTorque = static_cast<float>(steering_torque);
    joint.enableLimit = true;
    joint.lowerAngle = static_cast<float>(-steering_limit);
    joint.upperAngle = static_cast<float>(steering_limit);
    drive.joint = static_cast<b2RevoluteJoint*>(world.CreateJoint(&joint));
  }

  void BeginContact(b2Contact* contact) override { note_contact(contact, true); }
  void EndContact(b2Contact* contact) override { note_contact(contact, false); }

  void note_contact(b2Contact* contact, bool begins) {
    const auto tag_of = [](b2Fixture* fixture) {
      const auto* tag = reinterpret_cast<const Tag*>(fixture->GetBody()->GetUserData().pointer);
      return tag ? *tag : Tag{};
    };
    const Tag a = tag_of(contact->GetFixtureA()), b = tag_of(contact->GetFixtureB());
    const std::size_t* tile = a.tile ? a.tile : b.tile;
    Drive* wheel = a.wheel ? a.wheel : b.wheel;
    if (!tile) return;
    touched[*tile] = 1;
    if (!wheel) return;
    wheel->tiles += begins ? 1 : -1;
    if (begins && !collected[*tile]) {
      collected[*tile] = true;
      ++visited;
    }
  }

  void control(const Controls& controls) {
    drives[0].steer = drives[1].steer = controls.steer;
    for (Drive* rear : {&drives[2], &drives[3]}) rear->gas = std::min(rear->gas + gas_rise, std::clamp(controls.gas, 0.0, 1.0));
    for (Drive& drive : drives) drive.brake = controls.brake;
  }

  static void turn_wheel(Drive& drive) {
    const double error = drive.steer - drive.joint->GetJointAngle();
    drive.joint->SetMotorSpeed(static_cast<float>(sign(error) * std::min(steering_gain * std::abs(error), steering_speed)));
  }

  static void spin_wheel(Drive& drive) {
    drive.omega += time_step * engine_power * drive.gas / wheel_inertia / (std::abs(drive.omega) + 5);
    if (drive.brake >= brake_lock)
      drive.omega = 0;
    else if (drive.brake > 0)
      drive.omega -= sign(drive.omega) * std::min(brake_rate * drive.brake, std::abs(drive.omega));
    drive.phase += drive.omega * time_step;
  }

  static void push_wheel(Drive& drive) {
    const b2Vec2 ahead = drive.body->GetWorldVector(vec(0, 1)), right = drive.body->GetWorldVector(vec(1, 0));
    const b2Vec2 velocity = drive.body->GetLinearVelocity();
    const double radius = wheel_radius * car_size;
    const double speed_ahead = b2Dot(ahead, velocity), speed_right = b2Dot(right, velocity);
    double force_ahead = slip_stiffness * (drive.omega * radius - speed_ahead);
    double force_right = slip_stiffness * -speed_right;
    const double force = std::hypot(force_ahead, force_right), limit = drive.tiles > 0 ? road_grip : grass_grip;
    if (force > limit) {
      force_ahead *= limit / force;
      force_right *= limit / force;
    }
    drive.omega -= time_step * force_ahead * radius / wheel_inertia;
    drive.body->ApplyForceToCenter(
        vec(force_right * right.x + force_ahead * ahead.x, force_right * right.y + force_ahead * ahead.y), true);
  }

  void step() {
    for (Drive& drive : drives) {
      turn_wheel(drive);
      spin_wheel(drive);
      push_wheel(drive);
    }
    world.Step(static_cast<float>(time_step), velocity_iterations, position_iterations);
    read_car();
  }

  void read_car() {
    const auto pose = [](const b2Body& body) { return Pose{body.GetPosition().x, body.GetPosition().y, body.GetAngle()}; };
    const b2Vec2 velocity = hull->GetLinearVelocity();
    car = {pose(*hull), velocity.x, velocity.y, hull->GetAngularVelocity(), {}};
    for (std::size_t i = 0; i < drives.size(); ++i)
      car.wheels[i] = {pose(*drives[i].body), drives[i].joint->GetJointAngle(), drives[i].omega, drives[i].phase};
  }

  b2World world;
  b2Body* hull = nullptr;
  std::array<Drive, 4> drives;
  std::array<Tag, 4> wheel_tags;
  std::vector<std::size_t> numbers;
  std::vector<Tag> tags;
  std::vector<std::uint8_t> touched;
  std::vector<bool> collected;
  int visited = 0;
  Car car;
};

LibraryVersions versions() { return {{"Box2D", version_text(b2_version.major, b2_version.minor, b2_version.revision)}}; }

World::World(const Track& track) : impl_((prepare_process(), std::make_unique<Impl>(track))) {}
World::~World() = default;
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;

int World::step(const std::optional<Controls>& controls) {
  const int before = impl_->visited;
  if (controls) impl_->control(*controls);
  impl_->step();
  return impl_->visited - before;
}

const Car& World::car() const { return impl_->car; }
int World::visited() const { return impl_->visited; }
std::span<const std::uint8_t> World::touched() const { return impl_->touched; }

}  // namespace iap::car_racing
