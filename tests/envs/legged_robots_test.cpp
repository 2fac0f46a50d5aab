#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>
import iap.core;
import iap.envs.legged;
import iap.geometry;
import iap.legged;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;

namespace {

const RobotLink& link_of(const RobotDescription& robot, const std::string& joint) {
  for (const auto& link : robot.links)
    if (link.joint == joint) return link;
  throw Error("no joint " + joint);
}

double mass_of(const RobotDescription& robot, const std::string& joint) { return link_of(robot, joint).mass; }

// A1 with other links of the name that ends so.
RobotDescription a1_with(const std::string& ending, const std::function<void(RobotLink&)>& change) {
  RobotDescription robot = legged_robot("a1").description;
  for (RobotLink& link : robot.links) {
    // Limits count from where the angle is 0.
    if (link.kind == JointKind::revolute) link.kind = JointKind::continuous;
    if (link.name.ends_with(ending) || link.joint.ends_with(ending)) change(link);
  }
  return robot;
}

RobotDescription with_toes(const RobotShape& shape) {
  return a1_with("_toe", [&](RobotLink& toe) { toe.collisions = {shape}; });
}

struct Named {
  const char* name;
  RobotDescription robot;
};

// Robots whose legs are not A1's: other toes, other frames, other places along the axes.
std::vector<Named> other_robots() {
  const auto turned = rotation_of(0, -.9, 0), aside = rotation_of(1.2, .3, 0);
  RobotDescription everything = a1_with("_knee", [&](RobotLink& knee) { knee.origin = {{.1, .03, -.17}, turned}; });
  for (RobotLink& link : everything.links)
    if (link.joint.ends_with("_hip")) link.origin = {{.06, link.origin.position[1], 0}, rotation_of(0, 2.5, 0)};
  RobotDescription shanks = a1_with("_toe", [](RobotLink& toe) { toe.collisions.clear(); });
  for (RobotLink& link : shanks.links)
    if (link.name.ends_with("_shank"))
      link.collisions = {{.kind = RobotShape::Kind::cylinder, .placement = {{.01, 0, -.12}}, .size = {.02, .1, 0}}};
  return {{"sphere aside", with_toes({.kind = RobotShape::Kind::sphere, .placement = {{.02, .01, -.06}}, .size = {.03, 0, 0}})},
          {"box", with_toes({.placement = {{}, aside}, .size = {.03, .02, .05}})},
          {"cylinder", with_toes({.kind = RobotShape::Kind::cylinder, .placement = {{}, aside}, .size = {.05, .02, 0}})},
          {"hull", with_toes({.kind = RobotShape::Kind::hull,
                              .placement = {{-.05, 0, -.08}, aside},
                              .points = {0, 0, 0, .1, 0, 0, 0, .1, 0, 0, 0, .1, .05, .05, .05}})},
          {"toes that are frames", shanks},
          {"knees ahead", a1_with("_knee", [](RobotLink& knee) { knee.origin.position = {.15, 0, -.2}; })},
          {"knees turned", a1_with("_knee", [&](RobotLink& knee) { knee.origin.rotation = turned; })},
          {"all of it", everything}};
}

}  // namespace

TEST_CASE("a robot's text says what the controllers' table says") {
  for (const legged::Robot& table : legged::robots()) {
    const LeggedRobot robot = legged_robot(table.name);
    CAPTURE(robot.name);
    CHECK_THAT(robot.description.mass(), WithinAbs(table.mass, 1e-9));
    for (int i = 0; i < legged::leg_count; ++i) {
      const Leg& leg = robot.legs[i];
      const legged::LegGeometry &found = leg.geometry, &geometry = table.legs[i];
      const legged::LegParts& parts = table.parts[i];
      CAPTURE(leg.name);
      CHECK(leg.name == legged::leg_names[i]);
      CHECK_THAT(found.lateral, WithinAbs(geometry.lateral, 1e-12));
      CHECK_THAT(found.thigh, WithinAbs(geometry.thigh, 1e-12));
      CHECK_THAT(found.shank, WithinAbs(geometry.shank, 1e-12));
      CHECK_THAT(leg.toe_radius, WithinAbs(table.toe_radius, 1e-12));
      const std::array<const legged::Part*, 3> moved{&parts.hip, &parts.thigh, &parts.shank};
      for (int k = 0; k < 3; ++k) {
        const RobotLink& link = link_of(robot.description, leg.joints[k]);
        CAPTURE(link.joint);
        CHECK_THAT(found.origin[k], WithinAbs(geometry.origin[k], 1e-12));
        CHECK(found.axes[k] == geometry.axes[k]);
        CHECK(mass_of(robot.description, leg.joints[k]) == moved[k]->mass);
        CHECK(link.lower == table.lowest[k]);
        CHECK(link.upper == table.highest[k]);
        CHECK(link.effort == table.torque_limits[k]);
        CHECK(link.velocity == table.velocity_limits[k]);
      }
      CHECK(robot.description.links[static_cast<std::size_t>(leg.toe)].mass == parts.toe.mass);
    }
  }
}

TEST_CASE("the controllers' kinematics are those of both engines") {
  Random random(11);
  for (const legged::Robot& table : legged::robots())
    for (const char* engine : {"bullet", "mujoco"}) {
      const LeggedRobot robot = legged_robot(table.name);
      RobotWorld world(robot.description, {.engine = engine, .joints = robot.joints});
      for (int round = 0; round < 10; ++round) {
        RobotState state = robot.standing_state(1);
        for (std::size_t i = 0; i < state.angles.size(); ++i)
          state.angles[i] = random.uniform(table.lowest[i % 3], table.highest[i % 3]);
        world.reset(state);
        for (int i = 0; i < legged::leg_count; ++i) {
          const std::size_t first = 3 * static_cast<std::size_t>(i);
          const auto toe =
              legged::LegKinematics(table.legs[i]).forward({state.angles[first], state.angles[first + 1], state.angles[first + 2]});
          const auto truth = world.link_placement(robot.legs[i].toe).position;
          for (int k = 0; k < 3; ++k) CHECK_THAT(toe[k] + state.position[k], WithinAbs(truth[k], 1e-9));
        }
      }
    }
}

TEST_CASE("a robot begins with its lowest point two centimetres above the floor, whatever its toes and its joints' zeros") {
  Random random(5);
  for (const auto& [name, description] : other_robots())
    for (const auto& engine : robot_engines()) {
      CAPTURE(name, engine);
      const LeggedRobot robot = legged_robot(description);
      CHECK_THAT(robot.start_height - robot.touching_height(robot.standing), WithinAbs(.02, 1e-12));
      RobotWorld world(robot.description, {.engine = engine, .joints = robot.joints});
      const auto touches = [&](const std::vector<double>& angles, double height) {
        world.reset({.position = {0, 0, height}, .angles = angles});
        world.step(std::vector<double>(12), 1);
        double force = 0;
        for (const auto& contact : world.contacts()) force += contact.other_link < 0 ? contact.force : 0;
        return force > 0;
      };
      for (int round = 0; round < 5; ++round) {
        std::vector<double> angles = robot.standing;
        if (round > 0)
          for (double& angle : angles) angle += random.uniform(-.4, .4);
        const double height = robot.touching_height(angles);
        CAPTURE(round, height);
        CHECK_FALSE(touches(angles, height + .003));
        CHECK(touches(angles, height - .003));
      }
    }
}

TEST_CASE("the leg model knows the toes of legs that do not hang straight down at angles 0") {
  Random random(6);
  for (const auto& [name, description] : other_robots()) {
    CAPTURE(name);
    const LeggedRobot robot = legged_robot(description);
    RobotWorld world(robot.description, {.joints = robot.joints});
    for (int round = 0; round < 5; ++round) {
      RobotState state = robot.standing_state(1);
      if (round > 0)
        for (double& angle : state.angles) angle += random.uniform(-1, 1);
      world.reset(state);
      for (std::size_t i = 0; i < 4; ++i) {
        const Leg& leg = robot.legs[i];
        legged::Vector3 angles{};
        for (std::size_t k = 0; k < 3; ++k) angles[k] = state.angles[3 * i + k] + leg.zero[k];
        const auto& toe = robot.description.links[static_cast<std::size_t>(leg.toe)];
        const bool ball = toe.collisions.size() == 1 && toe.collisions[0].kind == RobotShape::Kind::sphere;
        using geometry::operator*;
        const auto centre = world.link_placement(leg.toe) * (ball ? toe.collisions[0].placement.position : legged::Vector3{});
        const auto found = legged::LegKinematics(leg.geometry).forward(angles);
        for (int k = 0; k < 3; ++k) CHECK_THAT(found[k] + state.position[k], WithinAbs(centre[k], 1e-9));
        // It stands with hips at .8 and knees at -1.6.
        if (round == 0) CHECK_THAT(angles[1], WithinAbs(.8, 1e-12));
        if (round == 0) CHECK_THAT(angles[2], WithinAbs(-1.6, 1e-12));
      }
    }
  }
}

TEST_CASE("legs are at the front or at the rear by their hips, wherever along their axes the abductions are") {
  const LeggedRobot usual = legged_robot(legged_robot("a1").description);
  for (const double ahead : {.3, 0., -.05}) {
    CAPTURE(ahead);
    RobotDescription moved = usual.description;
    for (RobotLink& link : moved.links)
      if (link.joint.ends_with("_abduction")) {
        double& x = link.origin.position[0];
        const double by = (x > 0 ? ahead : -ahead) - x;
        x += by;
        for (RobotLink& hip : moved.links)
          if (hip.joint == link.joint.substr(0, 3) + "hip") hip.origin.position[0] -= by;
      }
    const LeggedRobot robot = legged_robot(moved);
    CHECK(robot.joints == usual.joints);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(robot.legs[i].joints == usual.legs[i].joints);
      CHECK_THAT(robot.legs[i].geometry.origin[0], WithinAbs(usual.legs[i].geometry.origin[0], 1e-12));
    }
  }
}

TEST_CASE("a joint that reaches its angle a turn further stands there, and one that cannot at its limit") {
  const auto hip = [](double lower, double upper) {
    return legged_robot(a1_with("_hip",
                                [&](RobotLink& link) {
                                  link.origin.rotation = rotation_of(0, -3, 0);  // .8 from straight down is 3.8
                                  link.kind = JointKind::revolute;
                                  link.lower = lower;
                                  link.upper = upper;
                                }))
        .standing[1];
  };
  CHECK_THAT(hip(3, 5), WithinAbs(3.8, 1e-12));
  CHECK_THAT(hip(-4, 1), WithinAbs(3.8 - 2 * 3.14159265358979, 1e-12));
  CHECK(hip(0, 3) == 3);
  CHECK(hip(-2, 3) == -2);
}

TEST_CASE("legs whose knees bend forwards stand with hips and knees the other way about") {
  const auto stands = [](double lower, double upper) {
    const LeggedRobot robot = legged_robot(a1_with("_knee", [&](RobotLink& knee) {
      knee.kind = JointKind::revolute;
      knee.lower = lower;
      knee.upper = upper;
    }));
    return std::array{robot.standing[1], robot.standing[2]};
  };
  constexpr std::array backwards{.8, -1.6}, forwards{-.8, 1.6};
  CHECK(stands(.5, 2.6) == forwards);
  CHECK(stands(-.2, 2.6) == forwards);
  CHECK(stands(.2, 1.1) == std::array{-.8, 1.1});
  CHECK(stands(-2.6, -.5) == backwards);
  CHECK(stands(-2.6, 2.6) == backwards);
  CHECK(stands(-1, 2.6) == std::array{.8, -1.});
}

TEST_CASE("legs that the leg model cannot describe are refused with what was found") {
  const auto refused = [](const RobotDescription& robot, const std::string& what) {
    CHECK_THROWS_MATCHES(legged_robot(robot), Error,
                         MessageMatches(ContainsSubstring("four legs of three joints (abduction about x, hip and knee about y)") &&
                                        ContainsSubstring(what)));
  };
  refused(a1_with("FL_hip", [](RobotLink& hip) { hip.origin.position[2] = -.08; }),
          "in the leg FL joint 'FL_hip' is 0.08 m below joint 'FL_abduction' at angles 0; a hip must be at the height");
  refused(a1_with("FL_knee", [](RobotLink& knee) { knee.axis = {0, .8, .6}; }),
          "joint 'FL_knee' does not turn about y; at angles 0 its axis is (0, 0.8, 0.6)");
  refused(a1_with("FL_knee", [](RobotLink& knee) { knee.kind = JointKind::prismatic; }), "joint 'FL_knee' slides");
  refused(a1_with("FL_toe", [](RobotLink& toe) { toe.origin.position = {0, .1, 0}; }), "'FL_toe' is at the joint 'FL_knee' itself");
  // A frame on the ground in place of the trunk.
  RobotDescription grounded = legged_robot("a1").description;
  grounded.links[0].collisions.clear();
  for (RobotLink& link : grounded.links)
    if (link.parent == 0) link.origin.position[2] += .4;
  CHECK_THROWS_MATCHES(legged_robot(grounded), Error,
                       MessageMatches(ContainsSubstring("has its origin") && ContainsSubstring("below the floor")));
}
