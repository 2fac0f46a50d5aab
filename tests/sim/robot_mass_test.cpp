#include <algorithm>
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

RigidBody body(const RobotWorld& world, const std::string& name) {
  const auto bodies = world.bodies();
  const auto found = std::ranges::find(bodies, name, &RigidBody::name);
  REQUIRE(found != bodies.end());
  return *found;
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

constexpr std::string_view tilted = R"(<robot name="tilted">
  <link name="base">
    <inertial><origin xyz=".1 .2 .3" rpy="0 0 1.5707963267948966"/><mass value="2"/>
      <inertia ixx=".03" ixy=".004" ixz="0" iyy=".05" iyz="0" izz=".06"/></inertial>
  </link>
</robot>)";

}  // namespace

TEST_CASE("robots weigh what they are said to weigh, in both engines") {
  for (const auto& [name, mass] : {std::pair{"a1", 12.458}, std::pair{"laikago", 25.567}})
    for (const auto& engine : robot_engines()) {
      const RobotWorld world(legged_robot(name).description, {.engine = engine});
      CAPTURE(name, engine);
      CHECK(close(world.robot().mass(), mass));
      double sum = 0;
      for (const auto& body : world.bodies()) sum += body.mass;
      CHECK(close(sum, mass));
      CHECK(world.bodies().size() == 13);
    }
}

TEST_CASE("a shank and the toe that is fixed to it are one body") {
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    const RobotWorld world(legged_robot("a1").description, {.engine = engine});
    const RigidBody shank = body(world, "FL_shank");
    const double m = .166, n = .06, z = (-.1074 * m - .2 * n) / (m + n), x = .0064 * m / (m + n);
    CHECK(close(shank.mass, m + n));
    CHECK(close(shank.centre[0], x));
    CHECK(std::abs(shank.centre[1]) < 1e-12);
    CHECK(close(shank.centre[2], z));
    const double toe = .4 * n * .02 * .02;  // a solid sphere
    const double mx = .0064 - x, mz = -.1074 - z, nx = -x, nz = -.2 - z;
    CHECK(close(shank.inertia[0], .003 + m * mz * mz + toe + n * nz * nz));
    CHECK(close(shank.inertia[4], .003 + m * (mx * mx + mz * mz) + toe + n * (nx * nx + nz * nz)));
    CHECK(close(shank.inertia[8], 3e-5 + m * mx * mx + toe + n * nx * nx));
    CHECK(close(shank.inertia[2], -m * mx * mz - n * nx * nz));
  }
}

TEST_CASE("the inertia of a link that is fixed to another turns with its joint") {
  const auto robot = parse_urdf(R"(<robot name="turned"><link name="frame"/><link name="block">
      <inertial><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".02" iyz="0" izz=".025"/></inertial></link>
    <joint name="mount" type="fixed"><parent link="frame"/><child link="block"/><origin rpy="0 0 .5"/></joint></robot>)",
                                "turned.urdf");
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    const auto inertia = RobotWorld(robot, {.engine = engine}).bodies()[0].inertia;
    CHECK(close(inertia[0], .01 * std::cos(.5) * std::cos(.5) + .02 * std::sin(.5) * std::sin(.5)));
    CHECK(close(inertia[1], (.01 - .02) * std::cos(.5) * std::sin(.5)));
    CHECK(close(inertia[8], .025));
  }
}

TEST_CASE("an inertia that is neither diagonal nor straight arrives whole") {
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    const RobotWorld world(parse_urdf(tilted, "tilted.urdf"), {.engine = engine});
    const RigidBody base = world.bodies()[0];
    // A quarter turn about z exchanges x and y and turns the sign of what is between them.
    const std::array<double, 9> truth{.05, -.004, 0, -.004, .03, 0, 0, 0, .06};
    for (int i = 0; i < 9; ++i) CHECK(std::abs(base.inertia[i] - truth[i]) < 1e-9);
    CHECK(close(base.centre[2], .3));
  }
}
