// What a1-indoor tells of where the robot is, and where its rooms and floors are.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.env;
import iap.envs;
#include "trot.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;

namespace {

std::unique_ptr<Env> make(Config::Map options) {
  options["name"] = "a1-indoor";
  options.try_emplace("jitter", 0.);
  return make_env(options);
}

// A value of the state by its name.
double told(Env& env, const char* name) {
  const auto& names = env.spec().state_names;
  const auto found = std::ranges::find(names, name);
  REQUIRE(found != names.end());
  return env.observe().vector[found - names.begin()];
}

// Trots a bend to one side.
void turn(Env& env, int steps) {
  auto action = trot;
  for (int leg = 0; leg < 4; ++leg) action[4 + 3 * leg] = leg % 2 ? 1.f : -1.f;
  for (int step = 0; step < steps; ++step) env.step(action);
}

struct Square {
  double half, height;
};

// A building of level squares around (0, 0).
void write_squares(const std::filesystem::path& folder, const std::vector<Square>& squares) {
  std::ofstream obj(folder / "mesh_z_up.obj");
  int first = 1;
  for (const auto& [half, z] : squares) {
    for (const auto& [x, y] : {std::pair(-half, -half), {half, -half}, {half, half}, {-half, half}})
      obj << "v " << x << ' ' << y << ' ' << z << '\n';
    for (const int i : {1, 2}) obj << "f " << first << ' ' << first + i << ' ' << first + i + 1 << '\n';
    first += 4;
  }
}

// A building of one square of 18 m at each of these heights.
void write_storeys(const std::filesystem::path& folder, const std::vector<double>& heights) {
  std::vector<Square> squares;
  for (const double z : heights) squares.push_back({9, z});
  write_squares(folder, squares);
}

}  // namespace

TEST_CASE("place and heading count from where and how the robot first stands") {
  const TemporaryFolder folder;
  write_storeys(folder.path(), {0});
  const auto from = [&](double x, double y, double heading) {
    return make({{"view", "none"},
                 {"scene", folder.path().string()},
                 {"place", true},
                 {"compass", true},
                 {"start", Config::List{x, y, heading}}});
  };
  const auto plain = from(0, 0, 0), turned = from(1, 2, -.7);
  plain->reset(1);
  turned->reset(1);
  CHECK_THAT(told(*turned, "heading"), WithinAbs(0, 1e-6));
  CHECK_THAT(told(*turned, "heading cosine"), WithinAbs(1, 1e-6));
  for (auto* env : {plain.get(), turned.get()}) turn(*env, 400);
  CHECK(std::abs(told(*plain, "aside")) > .05);
  CHECK(std::abs(told(*plain, "heading")) > .05);
  for (const char* name : {"ahead", "aside", "heading"}) CHECK_THAT(told(*turned, name), WithinAbs(told(*plain, name), .02));
}

TEST_CASE("the next opening is told from where the robot is") {
  const auto env = make({{"view", "none"}, {"place", true}, {"rooms", 1}, {"gates", 0.}});
  env->reset(1);
  const double y = told(*env, "opening aside");
  turn(*env, 400);
  CHECK(std::abs(told(*env, "aside")) > .02);
  CHECK_THAT(told(*env, "opening aside"), WithinAbs(y - told(*env, "aside"), 1e-5));
}

TEST_CASE("a gate keeps clear of its room's side walls") {
  // As wide as the doorways need it: .1 m beyond them at both sides. The gate keeps as far from the walls.
  const auto opening = [](double gates, std::uint64_t seed) {
    const auto env = make({{"view", "none"},
                           {"place", true},
                           {"rooms", 1},
                           {"gates", gates},
                           {"door_shift", 1.},
                           {"least_width", 1.},
                           {"most_width", 1.},
                           {"least_door", 2.},
                           {"most_door", 2.},
                           {"least_gate", 1.5},
                           {"most_gate", 1.5}});
    env->reset(seed);
    return told(*env, "opening aside");
  };
  int clamped = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const double door = opening(0, seed), gate = opening(1, seed), most = 1 + .1 - 1.5 / 2 - .1;
    CAPTURE(seed, door, gate);
    CHECK(gate > std::min(0., door) - most - 1e-6);
    CHECK(gate < std::max(0., door) + most + 1e-6);
    clamped += gate < std::min(0., door) - most + 1e-6 || gate > std::max(0., door) + most - 1e-6;
  }
  CHECK(clamped > 2);
}

TEST_CASE("no wall of the next room stands behind a doorway") {
  int looked = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto env = make({{"pixels", Config::List{16, 64}},
                           {"place", true},
                           {"rooms", 2},
                           {"gates", 0.},
                           {"door_shift", 1.},
                           {"least_width", 1.},
                           {"most_width", 1.},
                           {"least_door", 3.},
                           {"most_door", 3.}});
    env->reset(seed);
    constexpr double eye = .27, wall = .15;
    const double door = told(*env, "opening ahead") - eye, aside = told(*env, "opening aside");
    const auto observation = env->observe();
    for (int column = 0; column < 64; ++column) {
      const double slope = (1 - 2 * (column + .5) / 64) * std::tan(std::numbers::pi / 6) * 64 / 16;
      if (std::abs(slope * door - aside) > 1.48 || std::abs(slope * (door - wall) - aside) > 1.48) continue;
      CAPTURE(seed, column);
      CHECK(observation.images[0].floats()[7 * 64 + column] > door + .05);
      ++looked;
    }
  }
  CHECK(looked > 200);
}

TEST_CASE("lift raises the floor of a building under the robot") {
  const TemporaryFolder folder;
  write_storeys(folder.path(), {0, 2});
  const auto ceiling = [&](double lift) {
    const auto env = make({{"scene", folder.path().string()}, {"lift", lift}, {"start", Config::List{0., 0., 0.}}});
    env->reset(1);
    return env->observe().images[0].floats()[8];
  };
  // The first row of 16 looks up by 15/16 of the half angle's tangent.
  const double slope = (1 - 1. / 16) * std::tan(std::numbers::pi / 6);
  CHECK_THAT((ceiling(0) - ceiling(.1)) * slope, WithinAbs(.1, 1e-3));
}

TEST_CASE("who looks from outside sees the robot, whatever option 'body' says of the robot's own camera") {
  const auto picture = [](const char* view, bool body) {
    const auto env = make({{"view", view}, {"body", body}, {"pixels", Config::List{32, 32}}});
    env->reset(1);
    const auto& image = env->observe().images[0];
    return std::vector<std::uint8_t>(image.bytes(), image.bytes() + image.shape.count());
  };
  for (const char* view : {"behind", "beside"}) CHECK(picture(view, false) == picture(view, true));
}

namespace {

// A scene in which actions move nothing.
std::unique_ptr<Env> still(const std::filesystem::path& folder, Config::Map options = {}) {
  options["scene"] = folder.string();
  options["residual"] = 0.;
  for (const char* range : {"frequency", "intensity", "height"}) options[range] = Config::List{0., 0.};
  return make(std::move(options));
}

bool keeps_standing(Env& env) {
  const std::vector<float> nothing(16);
  for (int step = 0; step < 250; ++step)
    if (env.step(nothing).terminated) return false;
  return true;
}

}  // namespace

TEST_CASE("an episode in a building begins above the floor that is there, not above the storey's plane") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "floors.txt") << "0";
  for (const double floor : {0., .06, .08, .1, .14}) {
    write_storeys(folder.path(), {floor, 4});
    const auto env = still(folder.path(), {{"camera_tilt", .5}, {"pixels", Config::List{9, 9}}});
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      CAPTURE(floor, seed);
      env->reset(seed);
      // The depth of the picture's middle tells how high the camera is: the leg, .02 m of toe, .02 of drop and .03 of mount.
      constexpr double camera = .4 * std::numbers::sqrt2 / 2 + .02 + .02 + .03;
      CHECK_THAT(env->observe().images[0].floats()[4 * 9 + 4] * std::sin(.5), WithinAbs(camera, 1e-4));
      CHECK(keeps_standing(*env));
    }
  }
}

TEST_CASE("no episode begins across a step of a building's floor") {
  const TemporaryFolder folder;
  write_squares(folder.path(), {{3, 0}, {1, .1}});
  const auto env = still(folder.path(), {{"view", "none"}});
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    env->reset(seed);
    CHECK(keeps_standing(*env));
  }
}

TEST_CASE("an interrupt ends the search for a place in a building") {
  const TemporaryFolder folder;
  write_squares(folder.path(), {{3, 0}, {3, .5}});
  const auto env = still(folder.path(), {{"view", "none"}});
  CHECK_THROWS_MATCHES(env->reset(1), Error, MessageMatches(ContainsSubstring("has no place with 0.5 m around it")));
  request_interrupt();
  CHECK_THROWS_AS(env->reset(1), Interrupted);
  clear_interrupt();
}

TEST_CASE("a start in a building is a place to stand, or one clear error") {
  const TemporaryFolder folder;
  write_squares(folder.path(), {{3, 0}, {1, .1}, {.5, .7}});
  const auto at = [&](double x, double y, double heading) {
    return still(folder.path(), {{"view", "none"}, {"start", Config::List{x, y, heading}}});
  };
  const auto refuses = [&](double x, double y, double heading, const char* why) {
    CAPTURE(x, y, heading);
    CHECK_THROWS_MATCHES(at(x, y, heading), Error, MessageMatches(ContainsSubstring(why)));
  };
  for (const double x : {0., .7, 2.}) {  // under a table, on a plateau, beside it
    const auto env = at(x, 0, 0);
    env->reset(1);
    CHECK(keeps_standing(*env));
  }
  refuses(1, 0, 0, "option 'start': at {1, 0, 0} of '");
  refuses(1.3, 0, 0, "the floor under the robot is 0.00 to 0.08 m above the storey");
  refuses(0, 1.2, std::numbers::pi / 2, "the floor under the robot is 0.00 to 0.08 m above the storey");
  at(1.3, 0, std::numbers::pi);
  at(0, 1.2, 0);
  std::ofstream(folder.path() / "mesh_z_up.obj", std::ios::app) << "v 2 -1 0\nv 2 1 0\nv 2 0 2\nf 13 14 15\n";
  refuses(2.1, 0, 0, "something stands where the robot would; give another, or {} for a place drawn in each episode");
  at(2.4, 0, 0);
}
