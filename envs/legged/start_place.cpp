module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.render;
import iap.sim;
#include "building.hpp"

namespace iap {
namespace {

// What A1 covers in its neutral pose, m from its base's origin: hips ahead, knees behind, toes aside; and how high it is.
constexpr double front = .23, rear = .35, side = .16, robot_height = .4;
constexpr double uneven = .05;  // m that legs make up for where they are put down

struct Ground {
  double highest = 0, lowest = 1e30;
  bool blocked = false;

  bool even() const { return highest - lowest <= uneven; }
};

// Whatever the scan has below the storey's plane, the plane is what a robot stands on.
Ground ground_under(const Building& building, const StartPlace& place) {
  constexpr double spacing = .03;
  constexpr float headroom = .5f;  // what is higher, a table's top, has the robot below it
  const double c = std::cos(place.heading), s = std::sin(place.heading);
  const auto world = [&](double x, double y, double z) {
    return std::array{static_cast<float>(place.x + c * x - s * y), static_cast<float>(place.y + s * x + c * y),
                      static_cast<float>(z)};
  };
  constexpr int rows = static_cast<int>((front + rear) / spacing) + 1, columns = static_cast<int>(2 * side / spacing) + 1;
  const auto x_of = [](int row) { return -rear + (front + rear) * row / rows; };
  const auto y_of = [](int column) { return side * (2. * column / columns - 1); };
  Ground ground;
  for (int row = 0; row <= rows; ++row)
    for (int column = 0; column <= columns; ++column) {
      check_interrupt();  // a mesh can be made so that every ray meets the boxes of all its triangles
      const auto below = building.mesh->hit(world(x_of(row), y_of(column), headroom), {0, 0, -1}, 0, headroom);
      const double height = below ? headroom - below->t : 0;
      ground.highest = std::max(ground.highest, height);
      ground.lowest = std::min(ground.lowest, height);
    }
  const auto crossed = [&](double x, double y, double to_x, double to_y) {
    check_interrupt();
    return std::ranges::any_of(std::array{.25, .5, .75, 1.}, [&](double part) {
      const double z = ground.highest + part * robot_height;
      const auto from = world(x, y, z), to = world(to_x, to_y, z);
      return building.mesh->blocks(from, {to[0] - from[0], to[1] - from[1], 0}, 0, 1);
    });
  };
  for (int row = 0; row <= rows && !ground.blocked; ++row) ground.blocked = crossed(x_of(row), -side, x_of(row), side);
  for (int column = 0; column <= columns && !ground.blocked; ++column)
    ground.blocked = crossed(-rear, y_of(column), front, y_of(column));
  return ground;
}

}  // namespace

StartPlace stand_at(const Building& building, StartPlace place) {
  const Ground ground = ground_under(building, place);
  const std::string where = text("at {", place.x, ", ", place.y, ", ", place.heading, "} of '", building.folder, "/mesh_z_up.obj'");
  if (ground.blocked) throw Error(text(where, " something stands where the robot would"));
  if (!ground.even())
    throw Error(text(where, " the floor under the robot is ", fixed_text(ground.lowest, 2), " to ", fixed_text(ground.highest, 2),
                     " m above the storey; the robot is put down where that differs by at most ", uneven, " m"));
  place.floor = ground.highest;
  return place;
}

StartPlace find_start(const Building& building, double clearance, std::uint64_t seed) {
  constexpr int tries = 5000, directions = 16;
  constexpr float bump = .15f;
  const auto& [low, high] = building.mesh->bounds();
  Random random({.seed = seed, .member = 1, .purpose = Purpose::environment});
  for (int i = 0; i < tries; ++i) {
    check_interrupt();
    const auto x = static_cast<float>(random.uniform(low[0], high[0])), y = static_cast<float>(random.uniform(low[1], high[1]));
    const double turn = random.uniform(0, 2 * std::numbers::pi);
    if (!building.mesh->blocks({x, y, 1}, {0, 0, -1}, 1 - bump, 1 + bump)) continue;  // scanned floor, and nothing on it
    if (building.mesh->blocks({x, y, 1}, {0, 0, -1}, 0, 1 - bump)) continue;
    const auto free = [&](double heading, double distance) {
      const std::array<float, 3> ahead{static_cast<float>(std::cos(heading)), static_cast<float>(std::sin(heading)), 0};
      return std::ranges::none_of(std::array{.2f, .35f, .5f}, [&](float z) {
        return building.mesh->blocks({x, y, z}, ahead, 0, static_cast<float>(distance));
      });
    };
    bool room = free(turn, 3 * clearance);
    for (int k = 1; room && k < directions; ++k) room = free(turn + 2 * std::numbers::pi * k / directions, clearance);
    if (!room) continue;
    StartPlace place{x, y, std::remainder(turn, 2 * std::numbers::pi)};
    const Ground ground = ground_under(building, place);
    if (ground.blocked || !ground.even()) continue;
    place.floor = ground.highest;
    return place;
  }
  throw Error(text("'", building.folder, "' has no place with ", clearance, " m around it and ", 3 * clearance,
                   " m ahead on this storey; give start = {x, y, heading}, or a smaller clearance"));
}

}  // namespace iap
