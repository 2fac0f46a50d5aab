#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>
import iap.core;
import iap.envs.legged;
import iap.sim;

using namespace iap;

namespace {

constexpr double gravity = 9.81;

double pressing(const RobotWorld& world) {
  double sum = 0;
  for (const auto& contact : world.contacts()) sum += contact.force * contact.normal[2];
  return sum;
}

double distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

constexpr std::string_view crate = R"(<robot name="crate">
  <link name="crate">
    <inertial><mass value="3"/><inertia ixx=".02" ixy="0" ixz="0" iyy=".02" iyz="0" izz=".02"/></inertial>
    <collision><geometry><box size=".2 .2 .2"/></geometry></collision>
  </link>
</robot>)";

}  // namespace

TEST_CASE("a crate that was dropped presses with its weight") {
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    RobotWorld world(parse_urdf(crate, "crate"), {.engine = engine});
    world.reset({.position = {0, 0, .15}});
    CHECK(world.contacts().empty());
    world.step({}, 50);
    CHECK(world.contacts().empty());
    world.step({}, 1500);
    CHECK(std::abs(pressing(world) / (3 * gravity) - 1) < .01);
    CHECK(std::abs(world.state().position[2] - .1) < 1e-3);
    for (const auto& contact : world.contacts()) {
      CHECK(contact.link == 0);
      CHECK(contact.terrain == -1);
      CHECK(contact.other_link == -1);
      CHECK(std::abs(contact.position[2]) < 1e-3);
    }
  }
}

TEST_CASE("robots stand on their toes for five seconds without drifting by a millimetre") {
  for (const auto& name : legged_robots())
    for (const auto& engine : robot_engines()) {
      const auto robot = legged_robot(name);
      RobotWorld world(robot.description, {.engine = engine, .joints = robot.joints});
      auto motors = robot.motors();
      world.reset(robot.standing_state(robot.touching_height(robot.standing)));
      motors.step(world, robot.standing, 1000);  // the springs of the motors give way
      const auto toe = [&](int leg) { return world.link_placement(robot.legs[leg].toe).position; };
      const std::array feet{toe(0), toe(1), toe(2), toe(3)};
      motors.step(world, robot.standing, 7000);  // and the sway that they began with dies off
      const auto from = world.state().position;
      double drift = 0, slip = 0;
      for (int i = 0; i < 50; ++i) {
        motors.step(world, robot.standing, 100);
        drift = std::max(drift, distance(world.state().position, from));
        for (int leg = 0; leg < 4; ++leg) slip = std::max(slip, distance(toe(leg), feet[leg]));
      }
      CAPTURE(name, engine, drift, slip, from[2]);
      CHECK(slip < 1e-3);
      CHECK(drift < 1e-3);
      CHECK(std::abs(pressing(world) / (robot.description.mass() * gravity) - 1) < .01);
      std::map<int, double> forces;
      for (const auto& contact : world.contacts()) forces[contact.link] += contact.force;
      CHECK(forces.size() == 4);
      for (const auto& leg : robot.legs) {
        CHECK(forces[leg.toe] > .1 * robot.description.mass() * gravity);
        CHECK(std::abs(world.link_placement(leg.toe).position[2] - leg.toe_radius) < 3e-3);
      }
    }
}

TEST_CASE("robots stand with physics steps of two milliseconds as well") {
  for (const auto& name : legged_robots())
    for (const auto& engine : robot_engines()) {
      CAPTURE(name, engine);
      const auto robot = legged_robot(name);
      RobotWorld world(robot.description, {.engine = engine, .timestep = .002, .joints = robot.joints});
      auto motors = robot.motors();
      world.reset(robot.standing_state(robot.start_height));  // dropped from there
      motors.step(world, robot.standing, 2500);
      const double height = robot.touching_height(robot.standing);
      CHECK(std::abs(world.state().position[2] - height) < .1 * height);
      CHECK(std::abs(pressing(world) / (robot.description.mass() * gravity) - 1) < .02);
    }
}

TEST_CASE("a robot that lost its torques lies on its trunk") {
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    const auto robot = legged_robot("laikago");  // only its trunk and toes touch
    RobotWorld world(robot.description, {.engine = engine, .joints = robot.joints});
    world.reset(robot.standing_state(robot.start_height));
    world.step(std::vector<double>(12), 3000);
    const int trunk = world.robot().link("trunk");
    CHECK(std::ranges::any_of(world.contacts(), [&](const RobotContact& c) { return c.link == trunk && c.force > 0; }));
    for (const auto& contact : world.contacts()) {
      CAPTURE(contact.link);
      const bool toe = std::ranges::any_of(robot.legs, [&](const Leg& leg) { return leg.toe == contact.link; });
      CHECK((toe || contact.link == trunk));
    }
  }
}
