// Shapes of a URDF: whole sizes there, half ones here.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.sim;

using namespace iap;

namespace {

// A robot of one link that has a shape alone.
RobotDescription shaped(const std::string& shape, const std::filesystem::path& folder = {}) {
  return parse_urdf(text(R"(<robot name="r"><link name="r"><inertial><mass value="1"/>)",
                         R"(<inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial><collision><geometry>)",
                         shape, "</geometry></collision><visual><geometry>", shape, "</geometry></visual></link></robot>"),
                    "robot.urdf", folder);
}

}  // namespace

TEST_CASE("boxes and cylinders are as long as a URDF says") {
  for (const auto& engine : robot_engines())
    for (const char* shape : {R"(<cylinder radius=".1" length=".6"/>)", R"(<box size=".2 .4 .6"/>)"}) {
      CAPTURE(engine, shape);
      RobotWorld world(shaped(shape), {.engine = engine});
      world.set_terrain({});
      world.reset({.position = {0, 0, .3005}});
      world.step({}, 300);
      CHECK(std::abs(world.state().position[2] - .3) < 2e-3);
    }
  CHECK(shaped(R"(<cylinder radius=".1" length=".6"/>)").links[0].visuals[0].size == std::array{.1, .3, 0.});
  CHECK(shaped(R"(<box size=".2 .4 .6"/>)").links[0].visuals[0].size == std::array{.1, .2, .3});
}

TEST_CASE("a mesh has a scale for each axis") {
  const TemporaryFolder folder;
  write_file_atomic(folder.path() / "corner.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n");
  const auto robot = shaped(R"(<mesh filename="corner.obj" scale=".1 .2 -.3"/>)", folder.path());
  CHECK(robot.links[0].collisions[0].points == std::vector{0., 0., 0., .1, 0., 0., 0., .2, 0., 0., 0., -.3});
}
