#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.legged;
import iap.sim;
#include "foothold_chooser.hpp"

using namespace iap;

namespace {

std::unique_ptr<Env> make(Config::Map options = {}) {
  options["name"] = "laikago-stepstones";
  return make_env(options);
}

double front(const TerrainBox& box) { return box.placement.position[0] + box.half[0]; }
double back(const TerrainBox& box) { return box.placement.position[0] - box.half[0]; }

bool on_stone(const Terrain& terrain, double x, double margin) {
  return std::ranges::any_of(terrain.boxes.begin() + 1, terrain.boxes.end(),
                             [&](const TerrainBox& box) { return x >= back(box) + margin && x <= front(box) - margin; });
}

struct Crossing {
  double distance = 0;
  int gaps = 0;
};

Crossing cross_stones(std::uint64_t seed, bool sees, const char* engine = "bullet") {
  constexpr int decisions = 300;
  const auto made = make({{"depth", false}, {"engine", engine}});
  auto& env = dynamic_cast<FootholdEnv&>(made->unwrapped());
  FootholdChooser choose(.06, -1);
  std::vector<float> action(22);
  env.reset(seed);
  for (int i = 0; i < decisions; ++i) {
    if (sees) choose(env, action);
    const auto result = env.step(action);
    if (result.terminated || result.truncated) break;
  }
  Crossing done{.distance = env.world().state().position[0]};
  const auto& boxes = env.world().terrain().boxes;
  // Behind the robot's rear toes.
  for (std::size_t i = 2; i < boxes.size(); ++i) done.gaps += done.distance - .26 > back(boxes[i]);
  return done;
}

}  // namespace

TEST_CASE("step-stones lie as their options say") {
  const StepstonesOptions options;
  double least = 9, most = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const auto [terrain, marks, goal, rise] = stepstones(options, random);
    REQUIRE(terrain.boxes.size() == 13);
    CHECK(rise == 0);
    REQUIRE(marks.size() == 11);
    CHECK_FALSE(terrain.plane);
    for (std::size_t i = 1; i < terrain.boxes.size(); ++i) {
      const auto& box = terrain.boxes[i];
      CHECK(std::abs(box.placement.position[2] + box.half[2]) < 1e-12);
      CHECK(box.half[1] == .25);
      if (i == 1) continue;
      CHECK(std::abs(marks[i - 2] - back(box)) < 1e-12);
      const double gap = back(box) - front(terrain.boxes[i - 1]);
      least = std::min(least, gap);
      most = std::max(most, gap);
      if (i < 12) CHECK((2 * box.half[0] >= .5 && 2 * box.half[0] <= .8));
    }
    CHECK((front(terrain.boxes[1]) >= .3 && front(terrain.boxes[1]) <= .55));
    CHECK((goal > back(terrain.boxes[12]) && goal < front(terrain.boxes[12])));
  }
  CHECK((least >= .1 - 1e-12 && least < .105));
  CHECK((most <= .2 + 1e-12 && most > .195));
}

TEST_CASE("who sees the stones crosses at least three gaps, and comes further than who does not") {
  constexpr int seeds = 5;
  double seen = 0, blind = 0;
  std::string gaps;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto with = cross_stones(seed, true), without = cross_stones(seed, false);
    CAPTURE(seed, with.gaps);
    CHECK(with.gaps >= 3);
    seen += with.distance / seeds;
    blind += without.distance / seeds;
    gaps += text(with.gaps, '/', without.gaps, ' ');
  }
  INFO("mean distance " << seen << " m, blind " << blind << " m; gaps (sees/blind) " << gaps);
  CHECK(seen > 4 * blind);
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    CAPTURE(seed);
    CHECK(cross_stones(seed, true, "mujoco").gaps >= 3);
  }
}

TEST_CASE("depth cameras look straight down: stone under them, the floor in gaps") {
  const auto env = make({{"angle_noise", 0.}, {"jitter", 0.}});
  env->reset(1);
  const auto observation = env->observe();
  REQUIRE(observation.images.size() == 2);
  CHECK(observation.images[0].shape == ImageShape{24, 32, 1, PixelType::float32});
  const auto& world = dynamic_cast<FootholdEnv&>(env->unwrapped()).world();
  // The belly's middle sees the start's top.
  const double camera = world.state().position[2] - .105;
  CHECK(std::abs(observation.images[1].floats()[12 * 32 + 16] - camera) < 1e-3);
  // Rows ahead of the front camera, by a pinhole's geometry.
  const double height = world.state().position[2] - .115, across = std::tan(37.5 * 3.14159265358979 / 180);
  int stones = 0, holes = 0;
  for (int row = 0; row < 12; ++row) {
    const double ray = across * (11.5 - row) / 12;
    const double x = .197 + height * ray;
    if (!on_stone(world.terrain(), x, .02) && on_stone(world.terrain(), x, -.02)) continue;
    const float depth = observation.images[0].floats()[row * 32 + 16];
    CAPTURE(row, x, depth);
    if (on_stone(world.terrain(), x, 0)) {
      CHECK(std::abs(depth - height) < 1e-3);
      ++stones;
    } else {
      CHECK(depth > height + .02);
      ++holes;
    }
  }
  CHECK(stones > 2);
  CHECK(env->spec().observation.vector == 68);
  CHECK(env->spec().state_names.size() == 68);
  INFO(holes);
}

TEST_CASE("no episode on stones begins with a joint beyond its limits") {
  const auto env = make({{"jitter", 1.}});
  const auto& world = dynamic_cast<FootholdEnv&>(env->unwrapped()).world();
  int limits = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    env->reset(seed);
    const auto& angles = world.state().angles;
    for (std::size_t i = 0; i < angles.size(); i += 3) {  // abductions reach from -.873 to 1.047
      CHECK(angles[i] > -.873001);
      limits += std::abs(angles[i] + .873) < 1e-6;
    }
  }
  CHECK(limits > 0);
}
