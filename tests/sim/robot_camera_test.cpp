#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <numbers>
#include <string_view>
#include <vector>
import iap.core;
import iap.render;
import iap.sim;

using namespace iap;
using Catch::Matchers::WithinAbs;

namespace {

constexpr std::string_view mast = R"(<robot name="mast">
  <link name="foot">
    <inertial><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial>
    <collision><geometry><box size=".4 .4 .4"/></geometry></collision>
  </link>
  <link name="head">
    <inertial><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial>
    <collision><geometry><box size=".1 .1 .1"/></geometry></collision>
  </link>
  <joint name="neck" type="revolute"><parent link="foot"/><child link="head"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="0" velocity="0"/></joint>
</robot>)";

constexpr double quarter = std::numbers::pi / 2;

void check_close(const Vec3& actual, const std::array<double, 3>& expected) {
  for (int i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK_THAT(actual[i], WithinAbs(expected[i], 1e-6));
  }
}

}  // namespace

TEST_CASE("a camera moves and turns with the link that carries it") {
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    RobotWorld world(parse_urdf(mast, "test"), {.engine = engine});
    // Turned to the left about z; the head nods by a quarter, so that it looks down.
    world.reset({.position = {1, 2, 3}, .quaternion = quaternion_of(rotation_of(0, 0, quarter)), .angles = {quarter}});
    const RobotCamera on_foot{.position = {.5, .1, 0}, .vertical_fov_degrees = 75, .near_plane = .2, .far_plane = 9};
    const Camera low = camera_on(world, on_foot);
    check_close(low.position, {.9, 2.5, 3});
    check_close(low.forward, {0, 1, 0});
    check_close(low.up, {0, 0, 1});
    CHECK(low.vertical_fov_degrees == 75);
    CHECK(low.near_plane == .2f);
    CHECK(low.far_plane == 9);
    const Camera high = camera_on(world, {.link = world.robot().link("head"), .position = {.5, 0, 0}});
    check_close(high.position, {1, 2, 3.5});
    check_close(high.forward, {0, 0, -1});
    check_close(high.up, {0, 1, 0});
  }
}

TEST_CASE("without the robot, a camera inside it sees what lies before it") {
  RobotWorld world(parse_urdf(mast, "test"));
  world.set_terrain({.boxes = {{.placement = {.position = {2, 0, 0}}, .half = {.5, 5, 5}}}});
  world.reset({.position = {0, 0, 1}, .angles = {0}});
  Scene with = robot_scene(world), without = terrain_scene(world);
  with.camera = without.camera = camera_on(world, {});
  Caster caster;
  std::vector<float> metres(9);
  caster.draw_depth(without, 3, 3, metres);
  CHECK_THAT(metres[4], WithinAbs(1.5, 1e-5));
  // Looking down from there: the robot's own box ends .2 below, the floor is 1 below.
  for (Scene* scene : {&with, &without})
    scene->camera = camera_on(world, {.position = {0, 0, .5}, .forward = {0, 0, -1}, .up = {1, 0, 0}});
  caster.draw_depth(with, 3, 3, metres);
  CHECK_THAT(metres[4], WithinAbs(.3, 1e-5));
  caster.draw_depth(without, 3, 3, metres);
  CHECK_THAT(metres[4], WithinAbs(1.5, 1e-5));
}
