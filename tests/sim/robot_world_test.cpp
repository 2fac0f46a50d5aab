#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>
import iap.core;
import iap.envs.legged;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

RobotWorld make_world(const LeggedRobot& robot, const std::string& engine) {
  return RobotWorld(robot.description, {.engine = engine, .joints = robot.joints});
}

// Every number of an episode in which the robot is dropped, stumbles and falls.
std::vector<double> episode(RobotWorld& world, const LeggedRobot& robot, double tilt, bool look = false) {
  auto motors = robot.motors();
  RobotState start = robot.standing_state(robot.start_height + .05);
  start.quaternion = quaternion_of(rotation_of(tilt, 0, 0));
  start.velocity = {.3, tilt, 0};
  world.reset(start);
  std::vector<double> numbers;
  auto targets = robot.standing;
  for (int i = 0; i < 60; ++i) {
    for (std::size_t j = 0; j < targets.size(); ++j)
      targets[j] = robot.standing[j] + .4 * std::sin(.3 * i + static_cast<double>(j));
    motors.step(world, targets, 10);
    if (look) (void)world.link_placement(0);
    const RobotState& state = world.state();
    numbers.insert(numbers.end(), state.position.begin(), state.position.end());
    numbers.insert(numbers.end(), state.quaternion.begin(), state.quaternion.end());
    numbers.insert(numbers.end(), state.angular_velocity.begin(), state.angular_velocity.end());
    numbers.insert(numbers.end(), state.velocities.begin(), state.velocities.end());
    for (const auto& contact : world.contacts()) numbers.push_back(contact.force);
  }
  return numbers;
}

}  // namespace

TEST_CASE("what falls freely follows the closed form of semi-implicit steps") {
  const auto robot = legged_robot("a1");
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    auto world = make_world(robot, engine);
    RobotState start = robot.standing_state(50);
    start.velocity = {1, -.5, 2};
    world.reset(start);
    const std::vector<double> still(12);
    world.step(still, 500);
    const double h = .001, n = 500;
    const auto& state = world.state();
    CHECK(std::abs(state.position[0] - 1 * n * h) < 1e-9);
    CHECK(std::abs(state.position[1] + .5 * n * h) < 1e-9);
    CHECK(std::abs(state.position[2] - (50 + 2 * n * h - 9.81 * h * h * n * (n + 1) / 2)) < 1e-9);
    CHECK(std::abs(state.velocity[2] - (2 - 9.81 * h * n)) < 1e-9);
    CHECK(std::abs(world.time() - .5) < 1e-12);
    for (int j = 0; j < 12; ++j) CHECK(std::abs(state.angles[j] - robot.standing[j]) < 1e-9);
  }
}

TEST_CASE("velocities are those of the base's origin, and turn with it") {
  const auto robot = legged_robot("a1");
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    auto world = make_world(robot, engine);
    RobotState start = robot.standing_state(1);
    start.quaternion = quaternion_of(rotation_of(0, 0, 1.5707963267948966));
    start.velocity = {2, 0, 0};
    start.angular_velocity = {.5, 0, 3};
    for (int j = 0; j < 12; ++j) start.velocities.push_back(.1 * j);
    world.reset(start);
    CHECK(std::abs(world.state().velocity[0] - 2) < 1e-12);
    CHECK(std::abs(world.state().velocities[11] - 1.1) < 1e-12);
    CHECK(std::abs(world.velocity_in_base()[1] + 2) < 1e-12);
    CHECK(std::abs(world.angular_velocity_in_base()[1] + .5) < 1e-12);
    CHECK(std::abs(world.angular_velocity_in_base()[2] - 3) < 1e-12);
    world.step(std::vector<double>(12), 1);
    CHECK(std::abs(world.state().position[0] - .002) < 1e-5);
  }
}

TEST_CASE("a torque turns a joint as its inertia says") {
  // Two wheels on one axis: the moments are 1 and 1/2 kg m^2 and no other torque acts, so they turn against each other.
  constexpr std::string_view wheels = R"(<robot name="wheels">
    <link name="left"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <link name="right"><inertial><mass value="1"/><inertia ixx=".5" ixy="0" ixz="0" iyy=".5" iyz="0" izz=".5"/></inertial></link>
    <joint name="axle" type="continuous"><parent link="left"/><child link="right"/><axis xyz="0 0 2"/></joint>
  </robot>)";
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    RobotWorld world(parse_urdf(wheels, "wheels"), {.engine = engine, .gravity = 0});
    world.reset({.position = {0, 0, 5}, .angles = {0}});
    const std::vector<double> torque{.3};
    world.step(torque, 1000);
    CHECK(std::abs(world.state().velocities[0] - .3 * (1 / .5 + 1)) < 1e-6);
    CHECK(std::abs(world.state().angular_velocity[2] + .3) < 1e-6);
  }
}

TEST_CASE("an episode leaves nothing to the next, and threads change no bit") {
  const auto robot = legged_robot("a1");
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    std::vector<std::vector<double>> alone(4), together(4);
    auto used = make_world(robot, engine);
    for (int i = 0; i < 4; ++i) alone[i] = episode(used, robot, .1 * i);
    CHECK(alone[0].size() > 60 * 22);
    CHECK(alone[0] != alone[1]);
    for (int i = 0; i < 4; ++i) {
      auto fresh = make_world(robot, engine);
      CHECK(episode(fresh, robot, .1 * i) == alone[i]);
    }
    parallel_for(4, 4, [&](std::size_t i, int) {
      auto world = make_world(robot, engine);
      together[i] = episode(world, robot, .1 * static_cast<double>(i));
    });
    CHECK(together == alone);
  }
}

TEST_CASE("who asks where links are changes no bit of what follows") {
  const auto robot = legged_robot("a1");
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    for (int i = 0; i < 4; ++i) {
      auto seen = make_world(robot, engine), unseen = make_world(robot, engine);
      CHECK(episode(seen, robot, .1 * i, true) == episode(unseen, robot, .1 * i));
    }
  }
}

TEST_CASE("a bad number makes a world unstable until its reset") {
  const auto robot = legged_robot("a1");
  for (const auto& engine : robot_engines())
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e9}) {
      CAPTURE(engine, bad);
      auto world = make_world(robot, engine);
      const auto start = robot.standing_state(robot.start_height);
      world.reset(start);
      std::vector<double> torques(12, bad);
      for (int i = 0; i < 20; ++i) world.step(torques, 50);
      CHECK(world.unstable());
      world.step(std::vector<double>(12), 1);
      CHECK(world.unstable());
      world.reset(start);
      CHECK_FALSE(world.unstable());
      world.step(std::vector<double>(12), 10);
      CHECK_FALSE(world.unstable());
      CHECK(world.state().position[2] < robot.start_height);
    }
}

TEST_CASE("joints come in the order that was asked for") {
  const auto robot = legged_robot("laikago");
  CHECK(robot.joints == std::vector<std::string>{"FR_abduction", "FR_hip", "FR_knee", "FL_abduction", "FL_hip", "FL_knee",
                                                 "RR_abduction", "RR_hip", "RR_knee", "RL_abduction", "RL_hip", "RL_knee"});
  for (const auto& engine : robot_engines()) {
    auto world = make_world(robot, engine);
    CHECK(world.joints() == robot.joints);
    CHECK(world.joint("RR_knee") == 8);
    CHECK_THROWS_MATCHES(world.joint("RR_nee"), Error, MessageMatches(ContainsSubstring("did you mean 'RR_knee'")));
    CHECK_THROWS_MATCHES(world.robot().link("FL_too"), Error, MessageMatches(ContainsSubstring("did you mean 'FL_toe'")));
    const RobotWorld unordered(robot.description, {.engine = engine});
    CHECK(unordered.joints() == robot.description.joints());
    auto order = robot.joints;
    order[3] = order[4];
    CHECK_THROWS_MATCHES(RobotWorld(robot.description, {.engine = engine, .joints = order}), Error,
                         MessageMatches(ContainsSubstring("names 'FL_hip' twice")));
    order.erase(order.begin() + 3);
    CHECK_THROWS_MATCHES(RobotWorld(robot.description, {.engine = engine, .joints = order}), Error,
                         MessageMatches(ContainsSubstring("leaves out 'FL_abduction'")));
  }
}

TEST_CASE("what no world can do is refused") {
  const auto robot = legged_robot("a1");
  CHECK_THROWS_MATCHES(RobotWorld(robot.description, {.engine = "bulet"}), Error,
                       MessageMatches(ContainsSubstring("did you mean 'bullet'")));
  CHECK_THROWS_MATCHES(RobotWorld(robot.description, {.timestep = 0}), Error,
                       MessageMatches(ContainsSubstring("physics step of 0 s")));
  auto world = make_world(robot, "bullet");
  CHECK_THROWS_MATCHES(world.step(std::vector<double>(11), 1), Error, MessageMatches(ContainsSubstring("12 joints, not 11")));
  CHECK_THROWS_MATCHES(world.step(std::vector<double>(12), 0), Error, MessageMatches(ContainsSubstring("by 0 steps")));
  CHECK_THROWS_MATCHES(world.reset({.angles = {1}}), Error, MessageMatches(ContainsSubstring("12 joints")));
  auto start = robot.standing_state(1);
  start.quaternion = {0, 0, 0, 0};
  CHECK_THROWS_MATCHES(world.reset(start), Error, MessageMatches(ContainsSubstring("quaternion of length 0")));
}

TEST_CASE("motors keep to their limits") {
  PdMotors motors({10, 10, 10}, {1, 1, 1}, {3, 3, 0}, {2, 2, 0});
  const std::vector<double> targets{1, .1, 5}, angles{0, 0, 0};
  const auto at = [&](double velocity) {
    const auto torques = motors.torques(targets, angles, std::vector<double>(3, velocity));
    return std::vector<double>(torques.begin(), torques.end());
  };
  CHECK(at(0) == std::vector<double>{3, 1, 50});
  CHECK(at(1.5) == std::vector<double>{3, -.5, 48.5});
  CHECK(at(2.5) == std::vector<double>{0, -1.5, 47.5});  // faster than the limit: no torque ahead, any against
  CHECK(at(-2.5) == std::vector<double>{3, 3, 52.5});
  CHECK_THROWS_MATCHES(PdMotors({1}, {1, 2}, {1}, {1}), Error, MessageMatches(ContainsSubstring("one value a joint")));
  CHECK_THROWS_MATCHES(PdMotors({-1}, {1}, {1}, {1}), Error, MessageMatches(ContainsSubstring("-1")));
}
