#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>
import iap.core;
import iap.envs.legged;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

constexpr std::string_view ball_and_block = R"(<robot name="ball_and_block">
  <link name="ball">
    <inertial><mass value="1"/><inertia ixx=".004" ixy="0" ixz="0" iyy=".004" iyz="0" izz=".004"/></inertial>
    <collision><geometry><sphere radius=".1"/></geometry></collision>
  </link>
  <link name="block">
    <inertial><mass value="1"/><inertia ixx=".004" ixy="0" ixz="0" iyy=".004" iyz="0" izz=".004"/></inertial>
    <collision><geometry><box size=".2 .2 .2"/></geometry></collision>
  </link>
  <joint name="beam" type="fixed"><parent link="ball"/><child link="block"/><origin xyz="1 0 0"/></joint>
</robot>)";

TerrainBox box(std::array<double, 3> position, std::array<double, 3> half, std::array<double, 9> rotation = rotation_of(0, 0, 0)) {
  return {.placement = {position, rotation}, .half = half};
}

// Two triangles at the height `z`.
TerrainMesh table(double z) { return {.vertices = {-2, -2, z, 2, -2, z, 2, 2, z, -2, 2, z}, .indices = {0, 1, 2, 0, 2, 3}}; }

RobotWorld make_world(const std::string& engine) { return RobotWorld(parse_urdf(ball_and_block, "test"), {.engine = engine}); }

}  // namespace

TEST_CASE("contacts name the link and the part of the terrain") {
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    auto world = make_world(engine);
    world.set_terrain(
        {.plane = false, .boxes = {box({5, 0, 0}, {1, 1, 1}), box({0, 0, .2}, {.3, .3, .05}), box({1, 0, .15}, {.3, .3, .1})}});
    world.reset({.position = {0, 0, .36}});
    world.step({}, 1500);
    std::set<std::pair<int, int>> pairs;
    double force = 0;
    for (const auto& contact : world.contacts()) {
      pairs.emplace(contact.link, contact.terrain);
      force += contact.force;
      CHECK(contact.normal[2] > .99);
    }
    CHECK(pairs == std::set<std::pair<int, int>>{{0, 1}, {1, 2}});
    CHECK(std::abs(force / (2 * 9.81) - 1) < .01);
    CHECK(std::abs(world.link_placement(1).position[2] - .35) < 2e-3);
  }
}

TEST_CASE("another world's terrain is no matter of this one's") {
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    const auto slid = [](RobotWorld& world) {
      world.reset({.position = {0, 0, .35}, .velocity = {1, 0, 0}});
      world.step({}, 800);
      return world.link_placement(1).position;
    };
    const Terrain rough{.plane = false, .friction = 1, .boxes = {box({0, 0, .1}, {4, 4, .15})}};
    auto first = make_world(engine), second = make_world(engine);
    first.set_terrain(rough);
    const auto alone = slid(first);
    for (const Terrain& other :
         {Terrain{.plane = false, .friction = 0, .boxes = {box({0, 0, -9}, {.1, .1, .1}, rotation_of(0, .5, 0))}},
          Terrain{.plane = true}}) {
      second.set_terrain(other);
      CHECK(slid(first) == alone);
    }
  }
}

TEST_CASE("many boxes, turned, moved and taken away again, are where they were put") {
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    auto world = make_world(engine);
    for (const int count : {40, 3, 0, 70}) {
      Terrain terrain{.plane = count == 0};
      for (int i = 0; i < count; ++i) terrain.boxes.push_back(box({.1 * i, 0, .5}, {.05, .5, .02}, rotation_of(0, 0, .01 * i)));
      world.set_terrain(terrain);
      const std::vector<double> none;
      CHECK_THROWS_MATCHES(world.step(none, 1), Error, MessageMatches(ContainsSubstring("call reset")));
      CHECK_THROWS_MATCHES(world.contacts(), Error, MessageMatches(ContainsSubstring("call reset")));
      CHECK_THROWS_MATCHES(world.link_placement(0), Error, MessageMatches(ContainsSubstring("call reset")));
      CHECK_THROWS_MATCHES(world.bodies(), Error, MessageMatches(ContainsSubstring("call reset")));
      const double x = count == 0 ? 0 : .1 * (count / 2), top = count == 0 ? 0 : .52;
      world.reset({.position = {x, 0, top + .11}});
      world.step(none, 40);  // it has not yet hit
      CHECK(world.contacts().empty());
      world.step(none, 1000);
      const bool carried = count != 3;  // three boxes do not reach as far as the block
      CAPTURE(count, world.state().position[2]);
      CHECK((std::abs(world.state().position[2] - top - .1) < 5e-3) == carried);
    }
  }
}

TEST_CASE("of two boxes the one that is taken away carries nobody") {
  for (const auto& engine : robot_engines()) {
    CAPTURE(engine);
    auto world = make_world(engine);
    const TerrainBox stays = box({0, 0, 0}, {1, 1, .1}), goes = box({5, 0, 0}, {2, 1, .1});
    world.set_terrain({.plane = false, .boxes = {stays, goes}});
    world.set_terrain({.plane = false, .boxes = {stays}});
    world.reset({.position = {5, 0, .25}});
    world.step({}, 500);
    CHECK(world.contacts().empty());
    CHECK(world.state().position[2] < -.5);
  }
}

TEST_CASE("a contact is where the two touch") {
  for (const auto& engine : robot_engines())
    for (const bool plane : {true, false}) {
      CAPTURE(engine, plane);
      auto world = make_world(engine);
      world.set_terrain(plane ? Terrain{} : Terrain{.plane = false, .boxes = {box({0, 0, -.5}, {9, 9, .5})}});
      world.reset({.position = {6, 3, .1005}});
      world.step({}, 500);
      std::set<int> touching;
      for (const auto& contact : world.contacts()) {
        touching.insert(contact.link);
        // The block, a metre ahead of the ball, touches with its corners, the ball with its lowest point.
        const double half = contact.link == 1 ? .1 : 0, x = contact.position[0] - (contact.link == 1 ? 7 : 6);
        CHECK(std::abs(std::abs(x) - half) < .01);
        CHECK(std::abs(std::abs(contact.position[1] - 3) - half) < .01);
        CHECK(std::abs(contact.position[2]) < 2e-3);
      }
      CHECK(touching == std::set{0, 1});
    }
}

TEST_CASE("a slope holds what its friction can hold") {
  // On a slope of .4 rad something slides if the coefficient is below tan .4 = .42, with g (sin - mu cos).
  for (const auto& engine : robot_engines())
    for (const double friction : {.2, .7}) {
      CAPTURE(engine, friction);
      RobotWorld world(parse_urdf(R"(<robot name="block"><link name="block">
          <inertial><mass value="1"/><inertia ixx=".004" ixy="0" ixz="0" iyy=".004" iyz="0" izz=".004"/></inertial>
          <collision><geometry><box size=".2 .2 .06"/></geometry></collision></link></robot>)",
                                  "block"),
                       {.engine = engine});
      world.set_terrain({.plane = false, .friction = friction, .boxes = {box({0, 0, 0}, {9, 9, .5}, rotation_of(0, .4, 0))}});
      // Just above the slope, with its axes.
      const double off = .5 + .0302;
      world.reset({.position = {off * std::sin(.4), 0, off * std::cos(.4)}, .quaternion = quaternion_of(rotation_of(0, .4, 0))});
      world.step({}, 200);
      const double before = std::hypot(world.state().velocity[0], world.state().velocity[2]);
      world.step({}, 500);
      const double gained = std::hypot(world.state().velocity[0], world.state().velocity[2]) - before;
      const double truth = friction > std::tan(.4) ? 0 : 9.81 * (std::sin(.4) - friction * std::cos(.4)) * .5;
      CAPTURE(gained, truth);
      CHECK(std::abs(gained - truth) < .05);
    }
}

TEST_CASE("a slab lies on four hundred boxes") {
  RobotWorld world(parse_urdf(R"(<robot name="slab"><link name="slab">
      <inertial><mass value="5"/><inertia ixx=".5" ixy="0" ixz="0" iyy=".5" iyz="0" izz="1"/></inertial>
      <collision><geometry><box size="1 1 .1"/></geometry></collision></link></robot>)",
                              "slab"));
  Terrain terrain{.plane = false};
  for (int i = 0; i < 400; ++i) terrain.boxes.push_back(box({.05 * (i / 20) - .475, .05 * (i % 20) - .475, .2}, {.02, .02, .1}));
  world.set_terrain(terrain);
  std::vector<double> heights;
  for (int episode = 0; episode < 2; ++episode) {
    world.reset({.position = {0, 0, .36}});
    world.step({}, 400);
    heights.push_back(world.state().position[2]);
    CHECK(std::abs(heights.back() - .35) < 2e-3);
    std::set<int> touched;
    for (const auto& contact : world.contacts()) touched.insert(contact.terrain);
    CHECK(touched.size() > 300);
  }
  CHECK(heights[0] == heights[1]);
}

TEST_CASE("Bullet walks on triangles, MuJoCo refuses them") {
  auto world = make_world("bullet");
  world.set_terrain({.plane = false, .meshes = {table(.7)}});
  world.reset({.position = {-.5, 0, .82}});
  world.step({}, 1000);
  CHECK(std::abs(world.state().position[2] - .8) < 5e-3);
  REQUIRE_FALSE(world.contacts().empty());
  CHECK(world.contacts()[0].terrain == 0);
  auto other = make_world("mujoco");
  CHECK_THROWS_MATCHES(other.set_terrain({.meshes = {table(0)}}), Error, MessageMatches(ContainsSubstring("engine = \"bullet\"")));
}

TEST_CASE("a terrain that cannot be is refused") {
  auto world = make_world("bullet");
  const auto refused = [&](const Terrain& terrain, const std::string& why) {
    CHECK_THROWS_MATCHES(world.set_terrain(terrain), Error, MessageMatches(ContainsSubstring(why)));
  };
  refused({.boxes = {box({0, 0, 0}, {1, 0, 1})}}, "box 0 of the terrain has the half side 0");
  refused({.boxes = {box({0, std::numeric_limits<double>::quiet_NaN(), 0}, {1, 1, 1})}}, "not finite");
  refused({.friction = -1}, "friction -1");
  auto mesh = table(0);
  mesh.indices[4] = 4;
  refused({.meshes = {mesh}}, "no vertex 4; there are 4");
  mesh = table(0);
  mesh.indices.pop_back();
  refused({.meshes = {mesh}}, "5 indices");
  mesh = table(std::numeric_limits<double>::infinity());
  refused({.meshes = {mesh}}, "not finite");
}
