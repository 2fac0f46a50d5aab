// The car's physics against closed forms, in the numbers of CarRacing-v0: SIZE = 0.02, engine power 1e8 SIZE^2, wheel inertia
// 4000 SIZE^2, friction limit 1e6 SIZE^2 on the road and 0.6 of it on grass, slip stiffness 205000 SIZE^2, wheel radius 27 SIZE.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>
import iap.core;
import iap.envs;
import iap.envs.car_racing;

using namespace iap;
using namespace iap::car_racing;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr double dt = 0.02, radius = 0.54, inertia = 1.6, grip = 400;

// Straight along y, from a little behind the car in the origin. The last tile closes the loop, back over all the others.
Track straight_road(std::size_t tiles) {
  Track track;
  for (std::size_t i = 0; i + 1 < tiles; ++i) track.points.push_back({0, 0, 0, 3.5 * static_cast<double>(i)});
  track.points.push_back({0, 0, 0, -7});
  track.border.resize(tiles);
  return track;
}

double area(const std::vector<std::array<double, 2>>& corners) {
  double twice = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto &a = corners[i], &b = corners[(i + 1) % corners.size()];
    twice += a[0] * b[1] - a[1] * b[0];
  }
  return std::abs(twice) / 2;
}

// Hull of density 1, four wheels of density 0.1.
double mass() {
  const double hull = area({{-60, 130}, {60, 130}, {60, 110}, {-60, 110}}) + area({{-15, 120}, {15, 120}, {20, 20}, {-20, 20}}) +
                      area({{25, 20}, {50, -10}, {50, -40}, {20, -90}, {-20, -90}, {-50, -40}, {-50, -10}, {-25, 20}}) +
                      area({{-50, -120}, {50, -120}, {50, -90}, {-50, -90}});
  return (hull + 0.1 * 4 * 28 * 54) * 0.02 * 0.02;
}

void run(World& world, const Controls& controls, int steps) {
  for (int i = 0; i < steps; ++i) world.step(controls);
}

}  // namespace

TEST_CASE("a car without controls stays where it is") {
  World world(straight_road(20));
  for (int i = 0; i < 200; ++i) world.step({});
  CHECK_THAT(world.car().hull.x, WithinAbs(0, 1e-3));
  CHECK_THAT(world.car().hull.y, WithinAbs(0, 1e-3));
  CHECK_THAT(std::hypot(world.car().vx, world.car().vy), WithinAbs(0, 1e-3));
}

TEST_CASE("the first step of full gas spins the rear wheels as the engine's power says") {
  World world(straight_road(20));
  world.step({});
  world.step(Controls{.gas = 1});
  // Gas rises to 0.1 in a step: power 40000 * 0.1 over inertia and (omega + 5); the ground's force is at its limit.
  const double spin = dt * 40000 * 0.1 / inertia / 5;
  REQUIRE(82 * spin * radius > grip);
  for (int rear : {2, 3}) CHECK_THAT(world.car().wheels[rear].omega, WithinRel(spin - dt * grip * radius / inertia, 1e-3));
  for (int rear : {2, 3}) CHECK_THAT(world.car().wheels[rear].phase, WithinRel(dt * spin, 1e-6));
  for (int front : {0, 1}) CHECK_THAT(world.car().wheels[front].omega, WithinAbs(0, 1e-3));
  CHECK_THAT(world.car().vy, WithinRel(dt * 2 * grip / mass(), 1e-3));
}

TEST_CASE("locked wheels brake with the friction limit, on grass with 0.6 of it") {
  World world(straight_road(40));
  world.step({});
  run(world, {.gas = 1}, 30);
  for (const bool grass : {false, true}) {
    while (grass && world.car().hull.y < 150) world.step(Controls{.gas = 1});
    run(world, {.brake = 0.9}, 1);
    const double before = world.car().vy, limit = grass ? 0.6 * grip : grip;
    REQUIRE(before > 20);
    run(world, {.brake = 0.9}, 5);
    CHECK_THAT(before - world.car().vy, WithinRel(5 * dt * 4 * limit / mass(), 2e-3));
    for (const auto& wheel : world.car().wheels) CHECK_THAT(wheel.omega, WithinRel(dt * limit * radius / inertia, 1e-3));
  }
}

TEST_CASE("a light brake takes 15 rad/s a step times its strength") {
  World world(straight_road(60));
  world.step({});
  run(world, {.gas = 1}, 10);
  run(world, {}, 1);
  const Wheel before = world.car().wheels[2];
  const double speed = world.car().vy, braked = before.omega - 15 * 0.2;
  world.step(Controls{.brake = 0.2});
  const double force = std::clamp(82 * (braked * radius - speed), -grip, grip);
  CHECK_THAT(world.car().wheels[2].omega, WithinRel(braked - dt * force * radius / inertia, 1e-3));
}

TEST_CASE("front wheels turn at 3 rad/s at most and stop at 0.4 rad; a car that moves then turns") {
  World world(straight_road(40));
  world.step({});
  run(world, {.gas = 0.3}, 20);
  double before = world.car().wheels[0].steering;
  for (int i = 0; i < 10; ++i) {
    world.step(Controls{.steer = 1});
    CHECK(world.car().wheels[0].steering - before < 3 * dt + 1e-3);
    before = world.car().wheels[0].steering;
  }
  CHECK_THAT(world.car().wheels[0].steering, WithinAbs(0.4, 0.02));
  CHECK_THAT(world.car().wheels[1].steering, WithinAbs(0.4, 0.02));
  CHECK_THAT(world.car().wheels[2].steering, WithinAbs(0, 0.02));
  CHECK(world.car().yaw_rate > 0.5);
}

TEST_CASE("wheels collect tiles once; every part of the car marks them as touched") {
  World world(straight_road(40));
  int collected = world.step({});
  CHECK(collected > 0);
  CHECK(collected == world.visited());
  for (int i = 0; i < 60; ++i) collected += world.step(Controls{.gas = 0.5});
  CHECK(collected == world.visited());
  const auto touched = world.touched();
  const double nose = world.car().hull.y + 130 * 0.02, front = world.car().hull.y + 80 * 0.02;
  REQUIRE(nose < 38 * 3.5);
  const auto marked = static_cast<int>(std::ranges::count(touched, 1));
  CHECK(marked >= world.visited());
  // All tiles from the start to the one below the front axle, and none that the nose has not reached.
  for (std::size_t i = 1; i < 39; ++i) {
    const double begin = 3.5 * (static_cast<double>(i) - 1);
    if (begin < front) CHECK(touched[i]);
    if (begin > nose + 1) CHECK_FALSE(touched[i]);
  }
  const int before = world.visited();
  run(world, {.brake = 1}, 30);
  CHECK(world.visited() >= before);
}
