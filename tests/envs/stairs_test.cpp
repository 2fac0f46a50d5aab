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

double front(const TerrainBox& box) { return box.placement.position[0] + box.half[0]; }
double back(const TerrainBox& box) { return box.placement.position[0] - box.half[0]; }
double top(const TerrainBox& box) { return box.placement.position[2] + box.half[2]; }

}  // namespace

TEST_CASE("stairs are built as their options say") {
  const StairsOptions options;
  double shallowest = 9, deepest = 0, lowest = 9, highest = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const auto [terrain, marks, goal, rise] = stairs(options, random);
    const auto& boxes = terrain.boxes;
    REQUIRE(boxes.size() == 14);
    REQUIRE(marks.size() == 12);
    CHECK_FALSE(terrain.plane);
    CHECK(std::abs(top(boxes[1])) < 1e-12);
    CHECK((front(boxes[1]) >= .3 && front(boxes[1]) <= .55));
    for (std::size_t i = 2; i < boxes.size(); ++i) {
      CHECK(std::abs(back(boxes[i]) - front(boxes[i - 1])) < 1e-9);
      CHECK(std::abs(back(boxes[i]) - marks[i - 2]) < 1e-9);
      CHECK(std::abs(top(boxes[i]) - 2 * boxes[i].half[2] + .5) < 1e-9);
      lowest = std::min(lowest, top(boxes[i]) - top(boxes[i - 1]));
      highest = std::max(highest, top(boxes[i]) - top(boxes[i - 1]));
      const double depth = 2 * boxes[i].half[0];
      if (i == 7)
        CHECK((depth >= .8 && depth <= 1.2));
      else if (i < 13) {
        shallowest = std::min(shallowest, depth);
        deepest = std::max(deepest, depth);
      }
    }
    CHECK(std::abs(top(boxes[13]) - rise) < 1e-9);
    CHECK((goal > back(boxes[13]) && goal < front(boxes[13])));
  }
  CHECK((shallowest >= .25 && shallowest < .251 && deepest <= .33 && deepest > .329));
  CHECK((lowest >= .16 && lowest < .161 && highest <= .19 && highest > .189));
}

TEST_CASE("who knows the stairs climbs them, and who does not falls") {
  const auto climb = [](std::uint64_t seed, bool knows) {
    const auto made = make_env(Config::Map{{"name", "laikago-stairs"}, {"depth", false}, {"reward", "crossed"}});
    auto& env = dynamic_cast<FootholdEnv&>(made->unwrapped());
    FootholdChooser choose(.04, 0, .06);
    std::vector<float> action(22);
    double steps = 0;
    env.reset(seed);
    for (int i = 0; i < 350; ++i) {
      if (knows) choose(env, action);
      action[19] = .6f;
      const auto result = env.step(action);
      steps += result.reward;
      if (result.terminated || result.truncated) break;
    }
    return steps;
  };
  double knowing = 0, blind = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    knowing += climb(seed, true);
    blind += climb(seed, false);
  }
  INFO(knowing << " steps, blind " << blind);
  CHECK(knowing >= 6);
  CHECK(blind <= 1);
}
