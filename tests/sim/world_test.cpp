#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>
import iap.core;
import iap.envs;
import iap.envs.dm_control;
import iap.sim;

using namespace iap;

namespace {

constexpr std::string_view falling = R"(
<mujoco>
  <option timestep=".01" integrator="INTEGRATOR"/>
  <worldbody>
    <body name="ball"><joint name="z" type="slide" axis="0 0 1" range="-9 9" limited="true"/><geom name="ball" size=".1" mass="2"/>
      <site name="top" pos="0 0 .1"/></body>
  </worldbody>
  <sensor><subtreelinvel name="speed" body="ball"/></sensor>
  <actuator><motor name="push" joint="z" gear="4" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>)";

MujocoWorld ball(const std::string& integrator) {
  std::string xml(falling);
  xml.replace(xml.find("INTEGRATOR"), 10, integrator);
  const std::vector<MujocoFile> files{{"falling.xml", xml}};
  return MujocoWorld(files);
}

}  // namespace

TEST_CASE("stepping follows the integrator and leaves positions and sensors up to date") {
  // Semi-implicit Euler: v += a h, then z += v h. Runge-Kutta is exact for a constant acceleration.
  const double h = 0.01, a = -9.81 + 4 * 0.5 / 2;
  for (const std::string integrator : {"Euler", "RK4"}) {
    for (const int steps : {1, 4}) {
      CAPTURE(integrator, steps);
      auto world = ball(integrator);
      world.reset();
      world.forward_without_actuation();
      double z = 0, v = 0;
      for (int k = 1; k <= 5; ++k) {
        world.ctrl()[0] = 0.5;
        world.step(steps);
        for (int i = 0; i < steps; ++i) {
          if (integrator == "RK4") z += v * h + a * h * h / 2;
          v += a * h;
          if (integrator == "Euler") z += v * h;
        }
        CHECK(std::abs(world.time() - k * steps * h) < 1e-12);
        CHECK(std::abs(world.qpos()[0] - z) < 1e-12);
        CHECK(std::abs(world.qvel()[0] - v) < 1e-12);
        CHECK(std::abs(world.body_position(world.id("body", "ball"))[2] - z) < 1e-12);
        CHECK(std::abs(world.geom_position(world.id("geom", "ball"))[2] - z) < 1e-12);
        CHECK(std::abs(world.site_position(world.id("site", "top"))[2] - z - 0.1) < 1e-12);
        CHECK(std::abs(world.sensor(world.id("sensor", "speed"))[2] - v) < 1e-12);
      }
    }
  }
}

TEST_CASE("actuators can be left out of a forward pass") {
  auto world = ball("Euler");
  world.reset();
  world.ctrl()[0] = 1;
  world.forward_without_actuation();
  CHECK(std::abs(world.array("qacc")[0] + 9.81) < 1e-9);
  world.forward();
  CHECK(std::abs(world.array("qacc")[0] + 9.81 - 2) < 1e-9);
  CHECK(world.array("disableflags") == std::vector<double>{0});
}

TEST_CASE("joints tell where their coordinates are and how far they go") {
  MujocoWorld world(dm_control_files("cheetah"));
  CHECK(world.qpos().size() == 9);
  CHECK(world.ctrl().size() == 6);
  CHECK(world.qpos_address(world.id("joint", "ffoot")) == 8);
  CHECK(world.qvel_address(world.id("joint", "rooty")) == 2);
  CHECK_FALSE(world.joint_limited(world.id("joint", "rootx")));
  CHECK(world.joint_limited(world.id("joint", "ffoot")));
  const auto range = world.joint_range(world.id("joint", "ffoot"));
  CHECK(std::abs(range[0] + 28 * std::numbers::pi / 180) < 1e-12);
  CHECK(std::abs(range[1] - 28 * std::numbers::pi / 180) < 1e-12);
}

TEST_CASE("a reset world runs as a fresh one, and worlds do not share their models") {
  MujocoWorld used(dm_control_files("cheetah")), fresh(dm_control_files("cheetah"));
  used.material_rgba(used.id("material", "self"))[0] = 0.125f;
  CHECK(fresh.material_rgba(fresh.id("material", "self"))[0] == 0.7f);
  used.forward();
  for (int i = 0; i < 50; ++i) {
    std::ranges::fill(used.ctrl(), i % 7 < 3 ? 1.0 : -1.0);
    used.step(1);
  }
  CHECK(used.contacts() > 0);
  for (MujocoWorld* world : {&used, &fresh}) {
    world->reset();
    world->qpos()[5] = -0.5;
    world->forward_without_actuation();
    std::ranges::fill(world->ctrl(), 0.75);
    world->step(100);
  }
  CHECK(std::ranges::equal(used.qpos(), fresh.qpos()));
  CHECK(std::ranges::equal(used.qvel(), fresh.qvel()));
  CHECK(used.time() == fresh.time());
}

TEST_CASE("worlds made and run by several threads at once give what one thread gives") {
  const auto run = [](double push) {
    MujocoWorld world(dm_control_files("cheetah"));
    for (int i = 0; i < 200; ++i) {
      std::ranges::fill(world.ctrl(), i % 11 < 5 ? push : -push);
      world.step(1);
    }
    return std::vector<double>(world.qpos().begin(), world.qpos().end());
  };
  std::vector<std::vector<double>> alone(8), together(8);
  for (int i = 0; i < 8; ++i) alone[i] = run(0.1 * i);
  parallel_for(8, 2, [&](std::size_t i, int) { together[i] = run(0.1 * static_cast<double>(i)); });
  CHECK(together == alone);
  CHECK(alone[0] != alone[7]);
}
