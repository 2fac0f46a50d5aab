#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>
import iap.core;
import iap.envs.legged;
import iap.legged;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

// A robot on a flat floor, walking from the moment that its toes touch it.
class Walker {
 public:
  explicit Walker(const LeggedRobot& robot, const std::string& engine = "bullet", double gravity = 9.81)
      : robot_(robot),
        world(robot.description, {.engine = engine, .gravity = gravity, .joints = robot.joints}),
        locomotion(robot, world) {
    height = robot_.touching_height(robot_.standing);
    world.reset(robot_.standing_state(height));
    locomotion.reset(world);
  }

  // False as soon as it falls.
  bool walk(WalkCommand command, double seconds) {
    command.height = height;
    const int steps = static_cast<int>(std::lround(seconds / .004));
    for (int i = 0; i < steps; ++i) {
      if (!locomotion.step(world, command) || world.unstable()) return false;
      const auto [roll, pitch, yaw] = roll_pitch_yaw(world.base_rotation());
      lean = std::max({lean, std::abs(roll), std::abs(pitch)});
      if (lean > .5 || world.state().position[2] < .6 * height) return false;
    }
    return true;
  }

  double speed(double wanted, double seconds) {
    const double from = world.state().position[0];
    REQUIRE(walk({.velocity = {wanted, 0}}, seconds));
    return (world.state().position[0] - from) / seconds;
  }

 private:
  LeggedRobot robot_;

 public:
  RobotWorld world;
  Locomotion locomotion;
  double height = 0, lean = 0;
};

double far(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

}  // namespace

TEST_CASE("under model predictive control a robot stands still and level") {
  for (const auto& name : legged_robots())
    for (const auto& engine : robot_engines()) {
      CAPTURE(name, engine);
      Walker walker(legged_robot(name), engine);
      REQUIRE(walker.walk({.stand = true}, 1));
      const auto from = walker.world.state().position;
      REQUIRE(walker.walk({.stand = true}, 5));
      CHECK(far(walker.world.state().position, from) < .0002);
      const auto [roll, pitch, yaw] = roll_pitch_yaw(walker.world.base_rotation());
      CHECK(std::abs(roll) < .001);
      CHECK(std::abs(pitch) < .001);
      for (const bool touches : walker.locomotion.touching()) CHECK(touches);
    }
}

TEST_CASE("a robot stands as high as asked, however heavy it is") {
  for (const double times : {.1, 3., 10.}) {
    CAPTURE(times);
    RobotDescription description = parse_urdf(legged_urdf("a1"), "a1.urdf");
    for (RobotLink& link : description.links) {
      link.mass *= times;
      link.effort = 0;
      for (double& moment : link.inertia) moment *= times;
    }
    Walker walker(legged_robot(description));
    REQUIRE(walker.walk({.stand = true}, 3));
    CHECK(std::abs(walker.world.state().position[2] / walker.height - 1) < .007);
    CHECK(std::hypot(walker.world.state().position[0], walker.world.state().position[1]) < .001);
  }
}

TEST_CASE("a robot stands and trots as high as asked under any gravity") {
  for (const double gravity : {3.7, 15.}) {
    CAPTURE(gravity);
    Walker walker(legged_robot("laikago"), "bullet", gravity);
    REQUIRE(walker.walk({.stand = true}, 2));
    CHECK(std::abs(walker.world.state().position[2] / walker.height - 1) < .007);
    CHECK(std::abs(walker.speed(.2, 4) / .2 - 1) < .05);
    CHECK(std::abs(walker.world.state().position[2] / walker.height - 1) < .02);
  }
}

TEST_CASE("a blind trot is as fast as asked, level, and alike on both engines") {
  for (const auto& name : legged_robots()) {
    std::vector<double> speeds;
    for (const auto& engine : robot_engines()) {
      CAPTURE(name, engine);
      Walker walker(legged_robot(name), engine);
      speeds.push_back(walker.speed(.3, 15));
      CHECK(std::abs(speeds.back() / .3 - 1) < .015);
      CHECK(std::abs(walker.world.state().position[1]) < .03);
      CHECK(walker.lean < .05);
    }
    CHECK(std::abs(speeds[0] / speeds[1] - 1) < .01);
  }
}

TEST_CASE("a walk begins without a jump") {
  for (const auto& name : legged_robots())
    for (const auto& engine : robot_engines()) {
      CAPTURE(name, engine);
      Walker walker(legged_robot(name), engine);
      for (const bool touches : walker.locomotion.touching()) CHECK(touches);
      for (int i = 0; i < 25; ++i) {
        REQUIRE(walker.walk({.velocity = {.3, 0}}, .004));
        CHECK(std::abs(walker.world.state().velocity[2]) < .03);
      }
    }
}

TEST_CASE("a robot trots sideways and round as asked, and any robot that a text describes trots") {
  Walker aside(legged_robot("laikago"));
  REQUIRE(aside.walk({.velocity = {0, .1}}, 6));
  CHECK(std::abs(aside.world.state().position[1] / .6 - 1) < .15);
  Walker round(legged_robot("laikago"));
  REQUIRE(round.walk({.twist = .2}, 5));
  CHECK(std::abs(roll_pitch_yaw(round.world.base_rotation())[2] - 1) < .15);
  // As a user's robot it has another pose and other gains.
  Walker other(legged_robot(parse_urdf(legged_urdf("laikago"), "laikago.urdf")));
  CHECK(std::abs(other.speed(.3, 8) / .3 - 1) < .2);
}

TEST_CASE("a robot trots as fast as asked wherever its centre of mass and its base's frame are") {
  RobotDescription heavy_behind = parse_urdf(legged_urdf("a1"), "a1.urdf"), seen_from_behind = heavy_behind;
  heavy_behind.links[0].centre[0] -= .14;
  seen_from_behind.links[0].centre[0] += .1;
  for (RobotShape& shape : seen_from_behind.links[0].collisions) shape.placement.position[0] += .1;
  for (std::size_t i = 1; i < seen_from_behind.links.size(); ++i)
    if (seen_from_behind.links[i].parent == 0) seen_from_behind.links[i].origin.position[0] += .1;
  for (const auto& description : {heavy_behind, seen_from_behind})
    for (const auto& engine : robot_engines()) {
      CAPTURE(description.links[0].centre[0], engine);
      CHECK(std::abs(Walker(legged_robot(description), engine).speed(.3, 6) / .3 - 1) < .03);
      CHECK(std::abs(Walker(legged_robot(description), engine).speed(0, 6)) < .005);
    }
}

TEST_CASE("a robot with short legs trots") {
  constexpr double size = .5;
  const auto shrink = [](std::array<double, 3>& lengths) {
    for (double& length : lengths) length *= size;
  };
  RobotDescription description = parse_urdf(legged_urdf("a1"), "a1.urdf");
  for (RobotLink& link : description.links) {
    link.mass *= std::pow(size, 3);
    for (double& moment : link.inertia) moment *= std::pow(size, 5);
    link.effort = 0;
    shrink(link.centre);
    shrink(link.origin.position);
    for (RobotShape& shape : link.collisions) {
      shrink(shape.size);
      shrink(shape.placement.position);
    }
  }
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    Walker walker(legged_robot(description), engine);
    CHECK(std::abs(walker.speed(.3, 8) / .3 - 1) < .05);
    CHECK(walker.lean < .15);
  }
}

TEST_CASE("where a joint's angle is 0 changes nothing of a walk") {
  RobotDescription turned = parse_urdf(legged_urdf("laikago"), "laikago.urdf");
  for (RobotLink& link : turned.links)
    if (link.joint.ends_with("_knee")) {
      link.origin.rotation = rotation_of(0, -1, 0);
      link.lower += 1;
      link.upper += 1;
    }
  Walker straight(legged_robot(parse_urdf(legged_urdf("laikago"), "laikago.urdf"))), other(legged_robot(turned));
  REQUIRE(straight.walk({.velocity = {.2, 0}}, .4));
  REQUIRE(other.walk({.velocity = {.2, 0}}, .4));
  CHECK(far(straight.world.state().position, other.world.state().position) < 1e-5);
}

TEST_CASE("a walk repeats bit for bit, in any number of threads") {
  constexpr std::size_t walks = 4;
  const auto end = [](std::size_t which) {
    Walker walker(legged_robot("laikago"), which % 2 ? "mujoco" : "bullet");
    const double speed = .1 + .1 * static_cast<double>(which);
    for (int i = 0; i < 250; ++i)
      if (!walker.locomotion.step(walker.world, {.velocity = {speed, 0}, .twist = .1, .height = walker.height}))
        return RobotState{};
    return walker.world.state();
  };
  std::vector<RobotState> serial(walks), parallel(walks);
  for (std::size_t i = 0; i < walks; ++i) serial[i] = end(i);
  parallel_for(walks, 4, [&](std::size_t i, int) { parallel[i] = end(i); });
  for (std::size_t i = 0; i < walks; ++i) {
    CAPTURE(i);
    CHECK(serial[i].position[0] != 0);
    CHECK(serial[i].position == parallel[i].position);
    CHECK(serial[i].quaternion == parallel[i].quaternion);
    CHECK(serial[i].angles == parallel[i].angles);
    CHECK(serial[i].velocities == parallel[i].velocities);
  }
}

TEST_CASE("a toe lands where it is sent, offset included") {
  const auto robot = legged_robot("laikago");
  Walker walker(robot);
  REQUIRE(walker.walk({.velocity = {.3, 0}}, 2));
  double worst = 0;
  int landed = 0;
  legged::PerLeg<bool> swung{};
  legged::PerLeg<legged::Vector3> sent{};
  for (int i = 0; i < 1000; ++i) {
    // What a leg is told changes while it stands, so that each swing has one offset.
    WalkCommand command{.velocity = {.3, 0}, .height = walker.height};
    for (int leg = 0; leg < 4; ++leg) command.offsets[leg] = {leg % 2 ? .06 : -.04, leg < 2 ? .02 : -.02, 0};
    REQUIRE(walker.locomotion.step(walker.world, command));
    for (int leg = 0; leg < 4; ++leg) {
      const bool swings = walker.locomotion.gait().desired()[leg] == legged::LegState::swing;
      if (swings) sent[leg] = walker.locomotion.targets()[leg];
      if (swung[leg] && !swings && i > 200) {
        const auto& toe = walker.world.link_placement(robot.legs[leg].toe).position;
        worst = std::max(worst, std::hypot(toe[0] - sent[leg][0], toe[1] - sent[leg][1]));
        ++landed;
      }
      swung[leg] = swings;
    }
  }
  CHECK(landed > 20);
  CAPTURE(worst);
  CHECK(worst < .03);
}

TEST_CASE("options of locomotion that cannot be are refused by name") {
  const auto robot = legged_robot("a1");
  RobotWorld world(robot.description, {.joints = robot.joints});
  CHECK_THROWS_MATCHES(Locomotion(robot, world, {.physics_steps = 0}), Error,
                       MessageMatches(ContainsSubstring("physics_steps is 0")));
  CHECK_THROWS_MATCHES(Locomotion(robot, world, {.hold = -1}), Error, MessageMatches(ContainsSubstring("one is -1")));
  CHECK_THROWS_MATCHES(Locomotion(robot, world, {.stance_damping = -.5}), Error,
                       MessageMatches(ContainsSubstring("stance_damping")));
}
