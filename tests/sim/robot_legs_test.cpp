// Robots whose legs cannot be those of a robot on four legs.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <string>
import iap.core;
import iap.envs.legged;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("a robot in millimetres, and one that is too small, is told that URDFs are in metres") {
  const auto scaled = [](double factor) {
    RobotDescription robot = legged_robot("a1").description;
    for (auto& link : robot.links)
      for (double& part : link.origin.position) part *= factor;
    return robot;
  };
  CHECK_NOTHROW(legged_robot(scaled(1)));
  CHECK_NOTHROW(legged_robot(scaled(10)));
  CHECK_THROWS_MATCHES(
      legged_robot(scaled(1000)), Error,
      MessageMatches(ContainsSubstring("the leg FR of the robot 'a1' is 400 m long") && ContainsSubstring("in metres")));
  CHECK_THROWS_MATCHES(legged_robot(scaled(.005)), Error,
                       MessageMatches(ContainsSubstring("is 0.002 m long") && ContainsSubstring("in metres")));
  RobotDescription hung = scaled(1);
  for (auto& link : hung.links)
    if (link.parent == 0) link.origin.position[2] = -200;
  CHECK_THROWS_MATCHES(legged_robot(hung), Error, MessageMatches(ContainsSubstring("the robot 'a1' stands 200")));

  const auto trunk = [&](const RobotShape& shape) {
    RobotDescription robot = scaled(1);
    robot.links[0].collisions.push_back(shape);
    return robot;
  };
  const RobotShape hull{.kind = RobotShape::Kind::hull, .points = {0, 0, 0, 1, 0, 0, 0, 400, 0, 0, 0, 1}};
  CHECK_THROWS_MATCHES(legged_robot(trunk(hull)), Error,
                       MessageMatches(ContainsSubstring("link 'trunk' of the robot 'a1' has a shape of 400 m, 1000 times") &&
                                      ContainsSubstring("scale=\"0.001 0.001 0.001\"")));
  CHECK_THROWS_MATCHES(legged_robot(trunk({.size = {50, .1, .1}})), Error, MessageMatches(ContainsSubstring("a shape of 100 m")));
  CHECK_NOTHROW(legged_robot(trunk({.size = {2, .1, .1}})));
}

TEST_CASE("a leg on which nothing touches is refused by the name of its toe") {
  RobotDescription robot = legged_robot("a1").description;
  const auto without = [&](const std::string& name) { robot.links[static_cast<std::size_t>(robot.link(name))].collisions.clear(); };
  without("FR_toe");
  CHECK_NOTHROW(legged_robot(robot));  // the shank reaches as far
  without("FR_shank");
  CHECK_THROWS_MATCHES(legged_robot(robot), Error,
                       MessageMatches(ContainsSubstring("link 'FR_toe' of the robot 'a1' has no <collision>") &&
                                      ContainsSubstring("the shank 'FR_shank'")));
}
