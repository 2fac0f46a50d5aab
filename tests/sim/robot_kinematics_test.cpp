// Both engines against the kinematics of a leg written out, with the published measures of the two robots.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>
import iap.core;
import iap.envs.legged;
import iap.sim;

using namespace iap;

namespace {

using Vector = std::array<double, 3>;

struct Measures {
  std::string name;
  double front, rear, side, below;  // where the abduction axes are
  double offset, thigh, shank;
  bool mirrored;  // the right abduction axes point backwards
};

const std::vector<Measures> robots{{"a1", .183, -.183, .047, 0, .08505, .2, .2, false},
                                   {"laikago", .1991, -.2382, .0817, -.03, .034, .2522, .2510, true}};

struct Points {
  Vector shoulder, hip, knee, toe;
};

// About x by the abduction, then down the leg, which the hip and the knee swing in its own plane.
Points leg(const Measures& robot, int number, double abduction, double hip, double knee) {
  const double x = number < 2 ? robot.front : robot.rear, side = number % 2 == 0 ? -1 : 1;
  if (robot.mirrored) abduction *= side;
  const auto swung = [&](double ahead, double left, double up) {
    return Vector{x + ahead, side * robot.side + std::cos(abduction) * left - std::sin(abduction) * up,
                  robot.below + std::sin(abduction) * left + std::cos(abduction) * up};
  };
  const double out = side * robot.offset, kx = -robot.thigh * std::sin(hip), kz = -robot.thigh * std::cos(hip);
  return {swung(0, 0, 0), swung(0, out, 0), swung(kx, out, kz),
          swung(kx - robot.shank * std::sin(hip + knee), out, kz - robot.shank * std::cos(hip + knee))};
}

// Yaw about z after pitch about y after roll about x.
Vector turned(const Vector& rpy, Vector p) {
  const auto turn = [&p](int a, int b, double angle) {
    const double first = p[a], second = p[b];
    p[a] = std::cos(angle) * first - std::sin(angle) * second;
    p[b] = std::sin(angle) * first + std::cos(angle) * second;
  };
  turn(1, 2, rpy[0]);
  turn(2, 0, rpy[1]);
  turn(0, 1, rpy[2]);
  return p;
}

double off(const Vector& a, const Vector& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

}  // namespace

TEST_CASE("links stand where the measures of the legs put them") {
  for (const auto& measures : robots)
    for (const auto& engine : robot_engines()) {
      const LeggedRobot robot = legged_robot(measures.name);
      RobotWorld world(robot.description, {.engine = engine, .joints = robot.joints});
      Random random(7);
      double worst = 0;
      for (int trial = 0; trial < 50; ++trial) {
        RobotState state{.position = {random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(1, 3)}};
        const Vector rpy{random.uniform(-1.5, 1.5), random.uniform(-1.5, 1.5), random.uniform(-3, 3)};
        state.quaternion = quaternion_of(rotation_of(rpy[0], rpy[1], rpy[2]));
        for (int i = 0; i < 12; ++i) state.angles.push_back(random.uniform(-2, 2));
        world.reset(state);
        CHECK(off(roll_pitch_yaw(world.base_rotation()), rpy) < 1e-9);
        const auto at = [&](const std::string& link, const Vector& in_base) {
          const Vector p = turned(rpy, in_base);
          const Vector truth{p[0] + state.position[0], p[1] + state.position[1], p[2] + state.position[2]};
          worst = std::max(worst, off(world.link_placement(world.robot().link(link)).position, truth));
        };
        constexpr std::array<const char*, 4> names{"FR", "FL", "RR", "RL"};
        for (int i = 0; i < 4; ++i) {
          const Points points = leg(measures, i, state.angles[3 * i], state.angles[3 * i + 1], state.angles[3 * i + 2]);
          at(text(names[i], "_shoulder"), points.shoulder);
          at(text(names[i], "_thigh"), points.hip);
          at(text(names[i], "_shank"), points.knee);
          at(text(names[i], "_toe"), points.toe);
        }
      }
      CAPTURE(measures.name, engine, worst);
      CHECK(worst < 1e-9);
    }
}

TEST_CASE("legs are found with their measures, whatever the order of their names") {
  for (const auto& measures : robots) {
    const LeggedRobot robot = legged_robot(measures.name);
    constexpr std::array<const char*, 4> names{"FR", "FL", "RR", "RL"};
    for (int i = 0; i < 4; ++i) {
      const Leg& found = robot.legs[i];
      CHECK(found.name == names[i]);
      CHECK(found.joints[2] == text(names[i], "_knee"));
      CHECK(robot.description.links[found.toe].name == text(names[i], "_toe"));
      const Points truth = leg(measures, i, 0, 0, 0);
      CHECK(off(found.geometry.origin, truth.shoulder) < 1e-12);
      CHECK(std::abs(found.geometry.lateral - (truth.hip[1] - truth.shoulder[1])) < 1e-12);
      CHECK(std::abs(found.geometry.thigh - measures.thigh) < 1e-12);
      CHECK(std::abs(found.geometry.shank - measures.shank) < 1e-12);
    }
  }
}
