#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>
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
  options["name"] = "a1-obstacle-course";
  return make_env(options);
}

// A course of one wall across the platform's middle, .2 x .4 x .6 at x = 1; the robot stands exactly in its pose.
Config::Map one_wall(const char* view) {
  return {{"view", view},       {"jitter", 0.},      {"platform_length", 3.2},
          {"wall_spacing", 1.}, {"wall_jitter", 0.}, {"wall_side", 0.},
          {"wall_width", .4},   {"camera_far", 50.}, {"pixels", Config::List{48, 64}}};
}

using Point = std::array<double, 3>;

// How far along a ray a box begins; nothing where it passes by.
double enters(const Point& from, const Point& direction, const Point& middle, const Point& sides) {
  double first = 0, last = 1e9;
  for (int axis = 0; axis < 3; ++axis) {
    const double a = (middle[axis] - sides[axis] / 2 - from[axis]) / direction[axis];
    const double b = (middle[axis] + sides[axis] / 2 - from[axis]) / direction[axis];
    first = std::max(first, std::min(a, b));
    last = std::min(last, std::max(a, b));
  }
  return first < last ? first : 1e9;
}

struct Seen {
  double metres;
  enum { nothing, wall, platform, floor } what;
};

// What the ray at pixel coordinates (row, column) of a 48 x 64 picture of `one_wall` meets.
Seen seen(double row, double column) {
  const double reach = std::tan(std::numbers::pi / 6);
  const Point camera{.27, 0, .5 + (.4 * std::sqrt(.5) + .02) + .02 + .03};
  const Point ray{1, (1 - 2 * column / 64) * reach * 64 / 48, (1 - 2 * row / 48) * reach};
  const double wall = enters(camera, ray, {1, 0, .8}, {.2, .4, .6}), platform = enters(camera, ray, {.6, 0, .25}, {3.2, 3, .5});
  const double floor = ray[2] < 0 ? camera[2] / -ray[2] : 1e9;
  if (std::min({wall, platform, floor}) > 50) return {50, Seen::nothing};
  if (wall < platform) return {wall, Seen::wall};
  return platform < floor ? Seen{platform, Seen::platform} : Seen{floor, Seen::floor};
}

// Whether all rays of a pixel and a little around it meet the same thing.
bool inside(int row, int column) {
  const auto what = seen(row + .5, column + .5).what;
  for (const double dy : {-.1, 1.1})
    for (const double dx : {-.1, 1.1})
      if (seen(row + dy, column + dx).what != what) return false;
  return true;
}

}  // namespace

TEST_CASE("the generator alone trots ahead, on both engines") {
  for (const char* engine : {"bullet", "mujoco"}) {
    CAPTURE(engine);
    const auto env = make({{"view", "none"}, {"engine", engine}, {"wall_spacing", 50.}, {"cap", 1.}});
    const auto outcome = walk(*env, 1000);
    CHECK_FALSE(outcome.over);
    CHECK(outcome.total > .2 * 4);
    CHECK(outcome.total < 1.2 * 4);
    // What a step pays is capped; walking a while, the robot is faster than that.
    const auto capped = walk(*make({{"view", "none"}, {"engine", engine}, {"wall_spacing", 50.}, {"cap", .0005}}), 1000);
    CHECK(capped.total <= .0005 * 1000);
    CHECK(capped.total > .0005 * 500);
  }
}

TEST_CASE("a wall stops who walks into it, and who comes past walls is paid for each") {
  Config::Map across{{"view", "none"},  {"wall_spacing", 1.}, {"wall_jitter", 0.},
                     {"wall_side", 0.}, {"wall_width", 3.},   {"cap", 1.}};
  const auto stopped = walk(*make(across), 1500);
  CHECK(stopped.furthest > .4);
  CHECK(stopped.furthest < .9);
  // Low walls beside the way, at 1, 2 and so on.
  Config::Map beside = across;
  beside["wall_width"] = .1;
  beside["wall_side"] = 1.4;
  beside["wall_spacing"] = .4;
  const auto way = make(beside);
  beside["reward"] = "walls";
  const auto walls = make(beside);
  way->reset(3);
  walls->reset(3);
  double x = 0, furthest = 0, passed = 0;
  for (int step = 0; step < 1000; ++step) {
    x += way->step(trot).reward;
    furthest = std::max(furthest, x);
    passed += walls->step(trot).reward;
    if (std::abs(std::remainder(furthest - .1, .4)) < 1e-6) continue;
    REQUIRE(passed == std::max(0., std::floor((furthest - .1) / .4)));
  }
  CHECK(passed >= 2);
  // Another episode pays them anew.
  CHECK(walk(*walls, 1000).total == passed);
}

TEST_CASE("walls that stand in any order are paid one by one, and all of them before the course's end") {
  const Config::Map close{{"view", "none"},  {"reward", "walls"},     {"platform_length", 2.9}, {"start", .7},
                          {"finish", .5},    {"wall_thickness", .15}, {"wall_spacing", .1},     {"wall_jitter", .3},
                          {"wall_side", 5.}, {"wall_width", .1}};
  const auto env = make(close);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    double total = 0, most = 0;
    bool over = false;
    env->reset(seed);
    for (int step = 0; step < 3000 && !over; ++step) {
      const auto result = env->step(trot);
      total += result.reward;
      most = std::max(most, result.reward);
      over = result.terminated;
    }
    CAPTURE(seed);
    CHECK(total == 13);  // the last one that may stand is at 1.7 - .3 - .075
    CHECK(most <= 2);
  }
}

TEST_CASE("an episode begins as high above a platform of any height") {
  const auto state = [](double height) {
    const auto env = make({{"view", "none"}, {"jitter", 0.}, {"platform_height", height}});
    env->reset(1);
    for (int step = 0; step < 100; ++step) env->step(trot);
    const auto seen = env->observe().vector;
    return std::vector<float>(seen.begin(), seen.end());
  };
  const auto usual = state(.5);
  for (const double height : {.2, 1.}) {
    const auto other = state(height);
    for (std::size_t i = 0; i < 16; ++i) CHECK_THAT(other[i], WithinAbs(usual[i], 1e-3));
  }
}

TEST_CASE("an episode ends at the course's end and beside the platform") {
  const auto done = walk(*make({{"view", "none"}, {"platform_length", 2.2}, {"start", .7}, {"finish", .5}, {"cap", 1.}}), 3000);
  CHECK(done.over);
  CHECK_THAT(done.total, WithinAbs(1, .02));
  // Feet are .132 m from the middle.
  const auto narrow = make({{"view", "none"}, {"platform_width", .2}});
  const auto off = walk(*narrow, 400);
  CHECK(off.over);
  CHECK_THROWS_MATCHES(narrow->step(trot), Error, MessageMatches(ContainsSubstring("call reset")));
}

TEST_CASE("the depth camera measures what rays from the robot meet") {
  const auto env = make(one_wall("depth"));
  env->reset(1);
  const auto& image = env->observe().images[0];
  REQUIRE((image.shape == ImageShape{48, 64, 1, PixelType::float32}));
  std::array<int, 4> met{};
  for (int row = 0; row < 48; ++row)
    for (int column = 0; column < 64; ++column) {
      if (!inside(row, column)) continue;
      CAPTURE(row, column);
      const Seen truth = seen(row + .5, column + .5);
      ++met[truth.what];
      REQUIRE_THAT(image.floats()[row * 64 + column], WithinAbs(truth.metres, 1e-3 * truth.metres));
    }
  for (const int count : met) CHECK(count > 20);
}

TEST_CASE("the camera shows a wall where it stands") {
  const auto env = make(one_wall("camera"));
  env->reset(1);
  const auto& image = env->observe().images[0];
  int walls = 0, others = 0;
  for (int row = 0; row < 48; ++row)
    for (int column = 0; column < 64; ++column) {
      if (!inside(row, column)) continue;
      const auto* rgb = image.bytes() + 3 * (row * 64 + column);
      const bool wall = seen(row + .5, column + .5).what == Seen::wall;
      ++(wall ? walls : others);
      CAPTURE(row, column);
      REQUIRE((rgb[0] > 3 * rgb[2] / 2) == wall);
    }
  CHECK(walls > 300);
  CHECK(others > 1000);
}

TEST_CASE("courses follow from the seed, or from a number among those that are named") {
  const auto frame = [](Config::Map options, std::uint64_t seed) {
    options["jitter"] = 0.;
    options["pixels"] = Config::List{24, 32};
    const auto env = make(options);
    env->reset(seed);
    const auto& image = env->observe().images[0];
    return std::vector<std::uint8_t>(image.bytes(), image.bytes() + image.shape.count());
  };
  const auto only = [](int number) { return Config::Map{{"courses", Config::List{number, number}}}; };
  CHECK(frame({}, 1) != frame({}, 2));
  CHECK(frame(only(7), 1) == frame(only(7), 2));
  CHECK(frame(only(7), 1) == frame({}, 7));
  CHECK(frame(only(7), 1) != frame(only(8), 1));
  std::vector<int> times(3);
  for (int seed = 0; seed < 30; ++seed)
    for (int number = 0; number < 3; ++number)
      times[number] += frame({{"courses", Config::List{20, 22}}}, seed) == frame(only(20 + number), 0);
  CHECK(times[0] + times[1] + times[2] == 30);
  CHECK(*std::ranges::min_element(times) > 3);
}

TEST_CASE("actions set the generator's rhythm, and the state tells its phase") {
  for (const bool legs : {false, true}) {
    const auto env = make({{"view", "none"}, {"leg_phases", legs}});
    const auto& names = env->spec().state_names;
    REQUIRE(names.size() == (legs ? 24 : 18));
    CHECK(names[0] == "roll");
    CHECK(names[4] == "angle of FR abduction");
    CHECK(names.back() == (legs ? "phase of RL sine" : "generator sine"));
    std::vector<float> action(16);
    action[3] = -2.f / 3;  // as long in the air as on the ground
    env->reset(1);
    for (const auto& [frequency, hertz] : {std::pair{-1.f, 0.}, {1.f, 3.}}) {
      action[0] = frequency;
      for (int step = 0; step < 20; ++step) env->step(action);
      const auto state = env->observe().vector;
      const double phase = 2 * std::numbers::pi * hertz * .004 * 20;
      // Of a trot's legs, front left and rear right have the generator's phase, the others are half a cycle later.
      const std::array<double, 4> sign{-1, 1, 1, -1};
      for (int leg = 0; leg < (legs ? 4 : 1); ++leg) {
        const double s = legs ? sign[leg] : 1;
        CHECK_THAT(state[16 + 2 * leg], WithinAbs((s * std::cos(phase) + 1) / 2, 1e-5));
        CHECK_THAT(state[17 + 2 * leg], WithinAbs((s * std::sin(phase) + 1) / 2, 1e-5));
      }
    }
  }
}

TEST_CASE("ranges of the gait say what actions mean: the middle of narrow ones walks") {
  Config::Map narrow{{"view", "none"},
                     {"timestep", .002},
                     {"physics_steps", 10},
                     {"cap", .02},
                     {"wall_spacing", 50.},
                     {"frequency", Config::List{2., 3.}},
                     {"intensity", Config::List{.3, 1.}},
                     {"height", Config::List{-.3, .3}},
                     {"ratio", Config::List{1., 3.}}};
  const auto middle = make(narrow);
  // 2.5 cycles a second, of which 2/3 are stance (a phase below pi): after half a cycle, 10 steps of .02 s, the phase is 3 pi / 4.
  middle->reset(1);
  const std::vector<float> zero(16);
  for (int step = 0; step < 10; ++step) middle->step(zero);
  CHECK_THAT(middle->observe().vector[16], WithinAbs((std::cos(.75 * std::numbers::pi) + 1) / 2, 1e-5));
  double way = 0;
  bool over = false;
  for (int step = 0; step < 250 && !over; ++step) {
    const auto result = middle->step(zero);
    way += result.reward;
    over = result.terminated;
  }
  CHECK_FALSE(over);
  CHECK(way > .2 * 5);
  narrow["ratio"] = Config::List{4., 3.};
  CHECK_THROWS_MATCHES(make(narrow), Error,
                       MessageMatches(ContainsSubstring("'ratio' must be {low, high} with 0.2 <= low <= high <= 5")));
}

TEST_CASE("options of the obstacle course that make no sense are errors") {
  CHECK_THROWS_MATCHES(make({{"courses", Config::List{3, 1}}}), Error, MessageMatches(ContainsSubstring("first <= last")));
  CHECK_THROWS_MATCHES(make({{"platform_length", 1.2}}), Error, MessageMatches(ContainsSubstring("ends before the course does")));
  CHECK_THROWS_MATCHES(make({{"view", "none"}, {"state", false}}), Error, MessageMatches(ContainsSubstring("show nothing")));
  CHECK_THROWS_MATCHES(make({{"view", "cammera"}}), Error, MessageMatches(ContainsSubstring("did you mean 'camera'")));
  CHECK_THROWS_MATCHES(make({{"robot", "laikago"}}), Error, MessageMatches(ContainsSubstring("unknown option 'robot'")));
}
