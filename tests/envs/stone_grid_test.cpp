#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.legged;
import iap.sim;
#include "foothold_chooser.hpp"

using namespace iap;

namespace {

double cross_grid(std::uint64_t seed, bool sees) {
  const auto made = make_env(Config::Map{{"name", "laikago-grid"}, {"depth", false}});
  auto& env = dynamic_cast<FootholdEnv&>(made->unwrapped());
  FootholdChooser choose(.04, 0);
  std::vector<float> action(22);
  env.reset(seed);
  for (int i = 0; i < 250; ++i) {
    if (sees) choose(env, action);
    const auto result = env.step(action);
    if (result.terminated || result.truncated) break;
  }
  return env.world().state().position[0];
}

}  // namespace

TEST_CASE("a grid of stones lies as its options say") {
  const GridOptions options;
  double least = 9, most = 0, most_turned = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const auto [terrain, marks, goal, rise] = stone_grid(options, random);
    const auto& boxes = terrain.boxes;
    REQUIRE(boxes.size() == 2 + 72 + 1);
    CHECK(marks.size() == 13);
    const auto& axes = boxes[2].placement.rotation;
    const double angle = std::atan2(axes[3], axes[0]);
    most_turned = std::max(most_turned, std::abs(angle));
    // Along and across the grid.
    const auto place = [&](const TerrainBox& box) {
      const auto& p = box.placement.position;
      return std::array{std::cos(angle) * p[0] + std::sin(angle) * p[1], std::cos(angle) * p[1] - std::sin(angle) * p[0]};
    };
    const double edge = boxes[1].placement.position[0] + boxes[1].half[0];
    for (int i = 2; i < 74; ++i) {
      const auto& box = boxes[i];
      CHECK(box.placement.rotation == axes);
      CHECK((box.half[0] == .075 && box.half[1] == .075));
      CHECK(std::abs(box.placement.position[2] + box.half[2]) < 1e-12);
      if (i >= 8) {
        const double gap = place(box)[0] - place(boxes[i - 6])[0] - .15;
        least = std::min(least, gap);
        most = std::max(most, gap);
        CHECK(std::abs(place(box)[1] - place(boxes[i - 6])[1]) < 1e-9);
      }
      if ((i - 2) % 6) {
        const double gap = place(box)[1] - place(boxes[i - 1])[1] - .15;
        least = std::min(least, gap);
        most = std::max(most, gap);
      }
      // Off the start, and before the end.
      const double reach = .075 * (std::cos(angle) + std::abs(std::sin(angle)));
      CHECK(box.placement.position[0] - reach > edge);
      CHECK(box.placement.position[0] + reach < boxes[74].placement.position[0] - boxes[74].half[0]);
    }
    CHECK(rise == 0);
    CHECK(std::abs(goal - boxes[74].placement.position[0]) < 1e-9);
  }
  CHECK((least >= .13 - 1e-9 && least < .131 && most <= .17 + 1e-9 && most > .169));
  CHECK((most_turned <= .1 && most_turned > .09));
}

TEST_CASE("the end of a grid begins behind all of its stones, however far it is turned") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const auto course = stone_grid({.stone = .3, .rotation = .5, .rows = 4, .columns = 12}, random);
    const TerrainBox& end = course.terrain.boxes.back();
    double furthest = 0;
    for (std::size_t i = 2; i + 1 < course.terrain.boxes.size(); ++i) {
      const auto& [placement, half, rgba] = course.terrain.boxes[i];
      const auto& axes = placement.rotation;
      furthest = std::max(furthest, placement.position[0] + std::abs(axes[0]) * half[0] + std::abs(axes[1]) * half[1]);
    }
    CHECK(end.placement.position[0] - end.half[0] > furthest);
  }
}

TEST_CASE("every stone of a grid stands on the floor below, however far the grid is turned") {
  for (const auto& [rows, columns] : {std::array{40, 6}, {4, 60}}) {
    GridOptions options;
    options.rotation = .5;
    options.rows = rows;
    options.columns = columns;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(rows, columns, seed);
      Random random(seed);
      const auto boxes = stone_grid(options, random).terrain.boxes;
      const TerrainBox& floor = boxes[0];
      double beyond = 0;
      for (const TerrainBox& box : boxes)
        for (int axis = 0; axis < 2; ++axis) {
          const double reach = std::abs(box.placement.rotation[3 * axis]) * box.half[0] +
                               std::abs(box.placement.rotation[3 * axis + 1]) * box.half[1];
          const double from = std::abs(box.placement.position[axis] - floor.placement.position[axis]);
          beyond = std::max(beyond, from + reach - floor.half[axis]);
        }
      CHECK(beyond < 1e-9);
    }
  }
}

TEST_CASE("who sees the grid comes further over it than who does not") {
  double seen = 0, blind = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    seen += cross_grid(seed, true);
    blind += cross_grid(seed, false);
  }
  INFO("sum of distances " << seen << " m, blind " << blind << " m");
  CHECK(seen > 2 * blind);
}
