#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>
import iap.core;
import iap.envs.legged;
import iap.legged;
import iap.sim;

using namespace iap;
using Catch::Matchers::WithinAbs;

namespace {

const RobotLink& link_of(const RobotDescription& robot, const std::string& joint) {
  for (const auto& link : robot.links)
    if (link.joint == joint) return link;
  throw Error("no joint " + joint);
}

double mass_of(const RobotDescription& robot, const std::string& joint) { return link_of(robot, joint).mass; }

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
