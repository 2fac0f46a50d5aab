// Joints of each kind, their limits, and links that touch each other.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>
import iap.core;
import iap.envs.legged;
import iap.sim;

using namespace iap;

namespace {

std::string link(const std::string& name, double mass, const std::string& shape = "") {
  const std::string inertial = text("<inertial><mass value=\"", mass,
                                    "\"/><inertia ixx=\".01\" ixy=\"0\" ixz=\"0\" iyy=\".01\" iyz=\"0\" izz=\".01\"/></inertial>");
  return text("<link name=\"", name, "\">", inertial,
              shape.empty() ? "" : text("<collision><geometry>", shape, "</geometry></collision>"), "</link>");
}

std::string joint(const std::string& name, const std::string& parent, const std::string& child, const std::string& type,
                  const std::string& origin, const std::string& axis, const std::string& limit) {
  return text("<joint name=\"", name, "\" type=\"", type, "\"><parent link=\"", parent, "\"/><child link=\"", child,
              "\"/><origin xyz=\"", origin, "\"/><axis xyz=\"", axis, "\"/>", limit, "</joint>");
}

constexpr const char* limit = R"(<limit lower="-.5" upper=".5" effort="0" velocity="0"/>)";

}  // namespace

TEST_CASE("a sled slides along its axis and stops at its limit") {
  const std::string urdf = text("<robot name=\"sled\">", link("base", 3), link("sled", 1),
                                joint("slide", "base", "sled", "prismatic", "0 0 0", "0 1 0", limit), "</robot>");
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    RobotWorld world(parse_urdf(urdf, "sled"), {.engine = engine, .gravity = 0});
    world.reset({.position = {0, 0, 5}, .angles = {0}});
    const std::vector<double> force{.6};
    world.step(force, 1000);
    // Two masses that push each other apart: the reduced mass is 3/4 kg.
    CHECK(std::abs(world.state().velocities[0] - .8) < .01);
    CHECK(std::abs(world.state().angles[0] - .4) < .01);
    const auto sled = world.link_placement(1).position, base = world.link_placement(0).position;
    CHECK(std::abs(sled[1] - base[1]) > .38);
    world.step(force, 3000);
    CHECK(std::abs(world.state().angles[0] - .5) < .01);
  }
}

TEST_CASE("a hinge stops at its limit, in both engines") {
  const std::string urdf = text("<robot name=\"hinge\">", link("base", 3), link("arm", 1),
                                joint("turn", "base", "arm", "revolute", "0 0 0", "0 0 1", limit), "</robot>");
  for (const auto& engine : robot_engines())
    for (const double side : {-1., 1.}) {
      CAPTURE(engine, side);
      RobotWorld world(parse_urdf(urdf, "hinge"), {.engine = engine, .gravity = 0});
      world.reset({.position = {0, 0, 5}, .angles = {0}});
      world.step(std::vector<double>{.05 * side}, 3000);
      CHECK(std::abs(world.state().angles[0] - .5 * side) < .02);
    }
}

TEST_CASE("a joint that is beyond its limit, however far, comes back") {
  struct Start {
    double place, rate;
  };
  for (const char* kind : {"revolute", "prismatic"}) {
    const std::string urdf = text("<robot name=\"heavy\">", link("base", 1000), link("part", 1),
                                  joint("moves", "base", "part", kind, "0 0 0", "0 0 1", limit), "</robot>");
    for (const auto& engine : robot_engines())
      for (const double timestep : {.001, .002, .005})
        for (const auto& [place, rate] : {Start{0, 30}, {0, 60}, {0, -150}, {.52, 0}, {.539, 0}, {.541, 0}, {-.6, 0}, {.8, 0}}) {
          CAPTURE(kind, engine, timestep, place, rate);
          RobotWorld world(parse_urdf(urdf, "heavy"), {.engine = engine, .timestep = timestep, .gravity = 0});
          world.reset({.position = {0, 0, 5}, .angles = {place}, .velocities = {rate}});
          const std::vector<double> nothing(1);
          double stay = 0, longest = 0;
          for (double time = 0; time < .3; time += timestep) {
            world.step(nothing, 1);
            stay = std::abs(world.state().angles[0]) > .501 ? stay + timestep : 0;
            longest = std::max(longest, stay);
          }
          CHECK(longest < .1);
        }
  }
}

TEST_CASE("every joint of a leg stops at its limits, whether or not its links have shapes") {
  for (const auto& name : legged_robots())
    for (const auto& engine : robot_engines())
      for (int number = 9; number < 12; ++number)
        for (const double side : {-1., 1.}) {
          const auto robot = legged_robot(name);
          CAPTURE(engine, name, robot.joints[number], side);
          RobotWorld world(robot.description, {.engine = engine, .gravity = 0, .joints = robot.joints});
          world.reset(robot.standing_state(5));
          auto motors = robot.motors();
          auto targets = robot.standing;
          targets[number] += 9 * side;
          motors.step(world, targets, 1500);
          const auto& links = world.robot().links;
          const auto& link = *std::ranges::find(links, robot.joints[number], &RobotLink::joint);
          CHECK(std::abs(world.state().angles[number] - (side < 0 ? link.lower : link.upper)) < .05);
        }
}

TEST_CASE("links touch each other where that is asked for, never a link its parent") {
  // Three balls in a row, each overlapping its neighbour; the outer two touch as well.
  const std::string ball = "<sphere radius=\".1\"/>";
  const std::string urdf = text("<robot name=\"row\">", link("first", 1, ball), link("second", 1, ball), link("third", 1, ball),
                                joint("a", "first", "second", "continuous", ".09 0 0", "0 0 1", ""),
                                joint("b", "second", "third", "continuous", ".09 0 0", "0 0 1", ""), "</robot>");
  for (const auto& engine : robot_engines())
    for (const bool touching : {false, true}) {
      CAPTURE(engine, touching);
      RobotWorld world(parse_urdf(urdf, "row"), {.engine = engine, .gravity = 0, .self_collision = touching});
      world.reset({.position = {0, 0, 5}, .angles = {0, .8}});
      world.step(std::vector<double>(2), 1);
      const auto contacts = world.contacts();
      CHECK(contacts.empty() != touching);
      for (const auto& contact : contacts) {
        CHECK(std::min(contact.link, contact.other_link) == 0);
        CHECK(std::max(contact.link, contact.other_link) == 2);
        // Towards `link`, from the other one.
        const auto to = world.link_placement(contact.link).position, from = world.link_placement(contact.other_link).position;
        CHECK(contact.normal[0] * (to[0] - from[0]) > 0);
      }
    }
}

TEST_CASE("where links that are fixed to others touch, they are named") {
  // A beak at the third link of a chain reaches back to a horn of the first.
  const std::string ball = "<sphere radius=\".1\"/>";
  const std::string urdf =
      text("<robot name=\"r\">", link("first", 1, ball), link("horn", 1, ball), link("second", 1, ball), link("third", 1, ball),
           link("beak", 1, ball), joint("grown", "first", "horn", "fixed", "0 .5 0", "0 0 1", ""),
           joint("a", "first", "second", "continuous", ".5 0 0", "0 0 1", ""),
           joint("b", "second", "third", "continuous", "0 .35 0", "0 0 1", ""),
           joint("worn", "third", "beak", "fixed", "-.35 .1 0", "0 0 1", ""), "</robot>");
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    RobotWorld world(parse_urdf(urdf, "r"), {.engine = engine, .gravity = 0, .self_collision = true});
    world.reset({.position = {0, 0, 5}, .angles = {0, 0}});
    world.step(std::vector<double>(2), 1);
    CHECK_FALSE(world.contacts().empty());
    for (const auto& contact : world.contacts())
      CHECK(std::minmax({contact.link, contact.other_link}) ==
            std::minmax({world.robot().link("horn"), world.robot().link("beak")}));
  }
}

TEST_CASE("links and joints may have names that an engine has for itself, of any characters") {
  const std::vector<std::string> names{"world", "world_", "world__", "floor", "floor:0",      "terrain0", "plane",
                                       "a b",   " ",      "&<>\"'",  "\n\t",  "w\xC3\xB6rld", ":0",       std::string(2000, 'x')};
  RobotDescription robot{.name = "world"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    RobotLink link{.name = names[i], .parent = static_cast<int>(i) - 1};
    link.mass = 1;
    link.inertia = {.01, 0, 0, 0, .01, 0, 0, 0, .01};
    link.collisions.push_back({.kind = RobotShape::Kind::sphere, .size = {.1, 0, 0}});
    if (i > 0) {
      link.joint = names[names.size() - i];
      link.kind = JointKind::continuous;
      link.axis = {0, 1, 0};
      link.origin.position = {.3, 0, 0};
    }
    robot.links.push_back(link);
  }
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    RobotWorld world(robot, {.engine = engine});
    world.set_terrain({});
    world.reset({.position = {0, 0, .0999}, .angles = std::vector<double>(names.size() - 1)});
    world.step(std::vector<double>(names.size() - 1), 1);
    std::vector<int> touching;
    for (const auto& contact : world.contacts()) touching.push_back(contact.link);
    std::ranges::sort(touching);
    REQUIRE(touching.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      CHECK(touching[i] == static_cast<int>(i));
      CHECK(std::abs(world.link_placement(static_cast<int>(i)).position[0] - .3 * static_cast<double>(i)) < 1e-3);
    }
  }
}
