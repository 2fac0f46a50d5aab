#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <map>
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

// A ball that falls on a floor, with sensors of what it does.
MujocoWorld sensed_ball(const std::string& integrator) {
  std::string xml(R"(<mujoco><option timestep=".002" integrator="INTEGRATOR"/><worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .2"><freejoint/><geom size=".1" mass="1"/><site name="inside" pos="0 0 .05"/></body></worldbody>
    <sensor><accelerometer site="inside"/><velocimeter site="inside"/><rangefinder site="inside"/><touch site="inside"/></sensor>
  </mujoco>)");
  xml.replace(xml.find("INTEGRATOR"), 10, integrator);
  const std::vector<MujocoFile> files{{"ball.xml", xml}};
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

TEST_CASE("sensors say after several steps at once what they say after as many single ones") {
  for (const char* integrator : {"Euler", "RK4"})
    for (const int steps : {1, 7}) {
      CAPTURE(integrator, steps);
      auto together = sensed_ball(integrator), single = sensed_ball(integrator);
      bool same = true;
      for (int i = 0; i < 700; ++i) {
        together.step(steps);
        for (int k = 0; k < steps; ++k) single.step(1);
        for (int sensor = 0; sensor < 4; ++sensor)
          same = same && std::ranges::equal(together.sensor(sensor), single.sensor(sensor));
      }
      CHECK(same);
      CHECK(single.sensor(0)[2] > 9.7);
    }
}

TEST_CASE("an interrupt is heard after any step but the last, and leaves the world as after it") {
  for (const char* integrator : {"Euler", "RK4"}) {
    CAPTURE(integrator);
    auto world = sensed_ball(integrator), other = sensed_ball(integrator);
    double pressed = 0;
    request_interrupt();
    for (int i = 0; i < 200; ++i) {
      CHECK_THROWS_AS(world.step(1000), Interrupted);
      CHECK_NOTHROW(other.step(1));
      CHECK(world.time() == other.time());
      CHECK(world.body_position(1)[2] == other.body_position(1)[2]);
      CHECK(std::ranges::equal(world.qpos(), other.qpos()));
      CHECK(std::ranges::equal(world.sensordata(), other.sensordata()));
      REQUIRE(world.contacts() == other.contacts());
      for (int k = 0; k < world.contacts(); ++k) {
        CHECK(world.contact(k).force == other.contact(k).force);
        pressed += other.contact(k).force;
      }
    }
    clear_interrupt();
    CHECK(pressed > 0);
  }
}

TEST_CASE("velocities are those of a body's frame and of a geom's and a site's centre, along the world's axes") {
  constexpr std::string_view xml = R"(<mujoco><worldbody><body name="turning" pos="1 2 3">
    <joint type="slide" axis="1 0 0"/><joint type="hinge" axis="0 0 1"/>
    <geom name="ahead" pos=".5 0 0" size=".1"/><site name="left" pos="0 .2 0"/></body></worldbody></mujoco>)";
  const std::vector<MujocoFile> files{{"turning.xml", xml}};
  MujocoWorld world(files);
  world.qpos()[1] = std::numbers::pi / 2;
  std::ranges::copy(std::array{3., 2.}, world.qvel().begin());
  world.forward();
  const auto differs = [&world](const char* kind, const char* name, const std::array<double, 6>& truth) {
    const auto velocity = world.velocity(kind, world.id(kind, name));
    double most = 0;
    for (std::size_t i = 0; i < 6; ++i) most = std::max(most, std::abs(velocity[i] - truth[i]));
    return most;
  };
  // Turning, then moving: what is ahead of the body points along y by now, what is to its left against x.
  CHECK(differs("body", "turning", {0, 0, 2, 3, 0, 0}) < 1e-12);
  CHECK(differs("geom", "ahead", {0, 0, 2, 3 - .5 * 2, 0, 0}) < 1e-12);
  CHECK(differs("site", "left", {0, 0, 2, 3, -.2 * 2, 0}) < 1e-12);
}

TEST_CASE("contacts have the forces that the last step was solved with, whatever touched since") {
  // A light ball falls beside a heavy one that lies; its contact comes before the other's.
  constexpr std::string_view balls = R"(<mujoco><option timestep=".002" integrator="INTEGRATOR" cone="CONE"/><worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body pos="1 0 .6"><joint type="slide" axis="0 0 1"/><geom name="light" size=".1" mass=".1"/></body>
    <body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><geom name="heavy" size=".1" mass="10"/></body>
  </worldbody></mujoco>)";
  for (const char* integrator : {"Euler", "RK4"})
    for (const char* cone : {"pyramidal", "elliptic"})
      for (const int steps : {1, 5}) {
        CAPTURE(integrator, cone, steps);
        std::string xml(balls);
        xml.replace(xml.find("INTEGRATOR"), 10, integrator);
        xml.replace(xml.find("CONE"), 4, cone);
        const std::vector<MujocoFile> files{{"balls.xml", xml}};
        MujocoWorld world(files);
        const int light = world.id("geom", "light"), heavy = world.id("geom", "heavy");
        int touches = 0;
        for (int i = 0; i * steps < 1000; ++i) {
          world.step(steps);
          for (int k = 0; k < world.contacts(); ++k) {
            const auto contact = world.contact(k);
            const bool is = contact.geom1 == light || contact.geom2 == light;
            touches += is;
            if (is && touches == 1 && steps == 1 && *integrator == 'E') CHECK(contact.force == 0);
            if (is && world.time() > 1.6) CHECK(std::abs(contact.force - .981) < .05);
            if (contact.geom2 == heavy && world.time() > .2) CHECK(std::abs(contact.force - 98.1) < 1);
          }
        }
        CHECK(touches > 10);
        // Asked again, and after a forward pass, which solves the contacts that there are.
        const double again = world.contact(0).force;
        CHECK(world.contact(0).force == again);
        world.forward();
        for (int k = 0; k < world.contacts(); ++k)
          if (world.contact(k).geom2 == heavy) CHECK(std::abs(world.contact(k).force - 98.1) < 1);
      }
}

TEST_CASE("contacts of two geoms keep their forces by where they are") {
  // A crate with its mass at one side rests on four corners; what falls beside it comes before them.
  constexpr std::string_view crate = R"(<mujoco><option timestep=".002"/><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
    <body pos="0 1 8"><joint type="slide" axis="0 0 1"/><geom size=".1" mass=".1"/></body>
    <body pos="1 0 16"><joint type="slide" axis="0 0 1"/><geom size=".1" mass=".1"/></body>
    <body pos="0 0 .1"><freejoint/><geom name="crate" type="box" size=".2 .2 .1" mass="1"/>
      <geom type="box" size=".02 .2 .02" pos=".15 0 .12" mass="4"/></body>
  </worldbody></mujoco>)";
  const std::vector<MujocoFile> files{{"crate.xml", crate}};
  MujocoWorld world(files);
  const int crate_geom = world.id("geom", "crate");
  std::map<int, int> counts;
  for (int i = 0; i < 1500; ++i) {
    world.step(1);
    ++counts[world.contacts()];
    if (i < 500) continue;
    double total = 0, heavy_side = 0;
    for (int k = 0; k < world.contacts(); ++k) {
      const auto contact = world.contact(k);
      if (contact.geom1 != crate_geom && contact.geom2 != crate_geom) continue;
      total += contact.force;
      if (contact.position[0] > 0) heavy_side += contact.force;
    }
    CAPTURE(i);
    CHECK(std::abs(total - 5 * 9.81) < 0.5);
    CHECK(std::abs(heavy_side / total - .8) < .05);
  }
  CHECK(counts.size() > 1);
}

TEST_CASE("a contact that the last step found new has no force, and its neighbours keep theirs") {
  // A crate that lands on one edge: when the other comes down, too, two of its four contacts are new.
  for (const double tilt : {-.02, .02}) {
    const std::string xml =
        "<mujoco><option timestep='.002'/><compiler angle='radian'/><worldbody>"
        "<geom name='floor' type='plane' size='5 5 .1'/><body pos='0 0 .106' euler='0 " +
        std::to_string(tilt) +
        " 0'><freejoint/><geom name='crate' type='box' size='.2 .2 .1' mass='1'/></body></worldbody></mujoco>";
    const std::vector<MujocoFile> files{{"crate.xml", xml}};
    MujocoWorld world(files);
    int before = 0, grown = 0;
    for (int i = 0; i < 400 && grown == 0; ++i) {
      world.step(1);
      if (before == 2 && world.contacts() == 4) {
        ++grown;
        for (int k = 0; k < 4; ++k) {
          const auto contact = world.contact(k);
          CAPTURE(tilt, i, k);
          CHECK((contact.force > 0) == (contact.position[0] * tilt > 0));
        }
      }
      before = world.contacts();
    }
    CHECK(grown == 1);
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
