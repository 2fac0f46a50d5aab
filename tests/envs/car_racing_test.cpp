#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.car_racing;
import iap.render;
#include "core/files_read.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;

namespace {

std::unique_ptr<Env> make(Config::Map options = {}) {
  options["name"] = "car-racing";
  return make_env(options);
}

std::vector<std::uint8_t> look(Env& env) {
  const auto image = env.observe().images[0];
  return {image.bytes(), image.bytes() + image.shape.count()};
}

// The picture after `steps` steps of gentle gas.
std::vector<std::uint8_t> drive_and_look(const std::string& modification, std::uint64_t seed, int steps) {
  auto env = make({{"modification", modification}});
  env->reset(seed);
  for (int i = 0; i < steps; ++i) env->step(std::array{0.0F, -0.6F, -1.0F});
  return look(*env);
}

constexpr std::array idle{0.0F, -1.0F, -1.0F};

car_racing::Track track_of(std::uint64_t seed) {
  Random random({.seed = seed, .purpose = Purpose::environment});
  return car_racing::draw_track(random);
}

// The world that the environment begins the episode with.
car_racing::World begun(const car_racing::Track& track) {
  car_racing::World world(track);
  world.step({});
  return world;
}

car_racing::Controls controls_of(const std::array<float, 3>& action) {
  return {.steer = -action[0], .gas = (action[1] + 1) / 2, .brake = (action[2] + 1) / 2};
}

// Steers at a point and comes near a speed, in units a second.
std::array<float, 3> towards(const car_racing::Car& car, const car_racing::Point& point, double wanted) {
  const double direction = std::atan2(car.hull.x - point[0], point[1] - car.hull.y);
  const double left = std::remainder(direction - car.hull.angle, 2 * std::numbers::pi), speed = std::hypot(car.vx, car.vy);
  return {static_cast<float>(std::clamp(-2 * left, -1.0, 1.0)), speed < wanted ? 0.2F : -1.0F,
          speed > 1.1 * wanted ? -0.4F : -1.0F};
}

bool is_grass(std::uint8_t green) { return green == 204 || green == 230; }

}  // namespace

TEST_CASE("car-racing shows 96 x 96 pixels and takes steering, gas and brake") {
  auto env = make();
  CHECK(env->spec().action_size == 3);
  CHECK(env->spec().max_steps == 1000);
  CHECK(env->spec().control_dt == 0.02);
  CHECK(env->spec().observation == ObservationSpec{{{"pixels", {96, 96, 3, PixelType::uint8}}}, 0, 0.02});
  CHECK(make({{"pixels", Config::List{48, 32}}})->spec().observation.images[0].shape == ImageShape{48, 32, 3, PixelType::uint8});
}

TEST_CASE("tiles pay 1000 in all, steps cost 0.1, and the tiles under the wheels at the start are paid with the first step") {
  auto env = make();
  env->reset(5);
  const auto tile = 1000.0 / static_cast<double>(track_of(5).size());
  const double first = env->step(idle).reward;
  const double tiles = (first + 0.1) / tile;
  CHECK(tiles > 0.5);
  CHECK_THAT(tiles, WithinAbs(std::round(tiles), 1e-9));
  for (int i = 0; i < 5; ++i) CHECK_THAT(env->step(idle).reward, WithinAbs(-0.1, 1e-9));
  double collected = 0;
  for (int i = 0; i < 60; ++i) collected += env->step(std::array{0.0F, -0.4F, -1.0F}).reward + 0.1;
  CHECK(collected > 5 * tile);
  CHECK_THAT(collected / tile, WithinAbs(std::round(collected / tile), 1e-6));
}

TEST_CASE("leaving the field ends the episode with -100") {
  auto env = make();
  env->reset(2);
  StepResult result;
  int steps = 0;
  for (; !result.terminated && !result.truncated; ++steps) result = env->step(std::array{0.0F, 1.0F, -1.0F});
  CHECK(result.terminated);
  CHECK_FALSE(result.unstable);
  CHECK(result.reward == -100);
  CHECK(steps < 1000);
  CHECK_THROWS_AS(env->step(idle), Error);
}

TEST_CASE("an episode that visits all tiles ends there and returns 1000 less 0.1 for each step") {
  auto env = make();
  env->reset(22);
  const auto track = track_of(22);
  const auto point = [&](std::size_t i) { return track.points[i % track.size()]; };
  auto world = begun(track);
  const auto away = [&](std::size_t i) { return std::hypot(point(i).x - world.car().hull.x, point(i).y - world.car().hull.y); };
  std::size_t nearest = 0;
  double total = 0;
  int steps = 0;
  for (StepResult result; !result.terminated; ++steps) {
    REQUIRE_FALSE(result.truncated);
    REQUIRE(world.visited() < static_cast<int>(track.size()));
    while (away(nearest + 1) < away(nearest)) ++nearest;
    double turn = 0.0001;
    for (std::size_t i = nearest; i < nearest + 12; ++i)
      turn = std::max(turn, std::abs(std::remainder(point(i + 4).heading - point(i).heading, 2 * std::numbers::pi)));
    const auto ahead = point(nearest + 4);
    const auto action = towards(world.car(), {ahead.x, ahead.y}, std::min(90.0, 37 / std::sqrt(turn)));
    result = env->step(action);
    world.step(controls_of(action));
    total += result.reward;
  }
  CHECK(world.visited() == static_cast<int>(track.size()));
  CHECK_THAT(total, WithinAbs(1000 - 0.1 * steps, 1e-6));
}

TEST_CASE("the picture shows the zoom and the score of its step, before the step's cost") {
  for (const std::uint64_t seed : {1, 7}) {
    auto env = make();
    env->reset(seed);
    const auto track = track_of(seed);
    const double tile = 1000.0 / static_cast<double>(track.size());
    car_racing::World world(track);
    car_racing::Painter painter;
    painter.begin(track, {});
    double score = tile * world.step({});
    std::vector<std::uint8_t> expected(std::size_t{96} * 96 * 3);
    for (int step = 0; step <= 60; ++step) {
      painter.draw(world, 0.02 * (step + 1), score, expected);
      CAPTURE(seed, step);
      REQUIRE((look(*env) == expected));
      env->step(std::array{0.0F, step < 20 ? -0.6F : -1.0F, -1.0F});
      score += tile * world.step(car_racing::Controls{.gas = step < 20 ? (1 - 0.6F) / 2.0 : 0}) - (step > 0 ? 0.1 : 0);
    }
  }
}

TEST_CASE("an idle episode lasts 1000 steps, or as many as early_stop allows without a reward") {
  for (const int early_stop : {0, 1, 21}) {
    auto env = make({{"early_stop", early_stop}});
    env->reset(1);
    CHECK(env->step(idle).reward > 0);
    StepResult result;
    int steps = 0;
    while (!result.terminated && !result.truncated) {
      result = env->step(idle);
      ++steps;
    }
    CHECK(result.truncated);
    CHECK_FALSE(result.terminated);
    CHECK(steps == (early_stop ? early_stop : 999));
  }
}

TEST_CASE("positive steering turns right, gas speeds up, brake stops") {
  auto env = make({{"state", true}});
  env->reset(3);
  for (int i = 0; i < 40; ++i) env->step(std::array{0.0F, 0.0F, -1.0F});
  const float fast = env->observe().vector[0];
  CHECK(fast > 10);
  for (int i = 0; i < 10; ++i) env->step(std::array{0.5F, -1.0F, -1.0F});
  CHECK(env->observe().vector[5] < -0.1);
  CHECK(env->observe().vector[6] < -0.2);
  for (int i = 0; i < 100; ++i) env->step(std::array{0.0F, -1.0F, 1.0F});
  CHECK(env->observe().vector[0] < 0.1);
}

TEST_CASE("modifications change what they are to change and nothing else") {
  const auto plain = drive_and_look("none", 4, 80);
  for (const std::string name : {"colour", "bars", "blob", "noise"}) {
    const auto changed = drive_and_look(name, 4, 80);
    int differing = 0, unexpected = 0;
    for (std::size_t at = 0; at < plain.size(); at += 3) {
      if (std::equal(&plain[at], &plain[at] + 3, &changed[at])) continue;
      ++differing;
      const std::size_t column = at / 3 % 96, row = at / 3 / 96;
      const bool grass = is_grass(plain[at + 1]), road = plain[at] == plain[at + 1] && plain[at] == plain[at + 2];
      if (name == "colour") unexpected += !((grass && plain[at + 1] == 204) || (road && plain[at] > 0 && plain[at] < 255));
      if (name == "bars")
        unexpected += row >= 84 || (column >= 7 && column < 89) || changed[at] || changed[at + 1] || changed[at + 2];
      if (name == "blob") unexpected += changed[at] != 204 || changed[at + 1] != 0 || column < 70;
      if (name == "noise") unexpected += !grass;
    }
    CAPTURE(name);
    CHECK(unexpected == 0);
    CHECK(differing > 60);
  }
}

TEST_CASE("colour shades road and grass by up to a fifth, each on its own") {
  auto plain = make(), coloured = make({{"modification", "colour"}});
  const int seeds = 200;
  double road_sum = 0, grass_sum = 0, road_squares = 0, grass_squares = 0, products = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    plain->reset(seed);
    coloured->reset(seed);
    const auto before = look(*plain), after = look(*coloured);
    const auto green_where = [&](std::array<std::uint8_t, 3> colour) {
      const std::size_t view = std::size_t{84} * 96 * 3;  // above the indicators
      for (std::size_t at = 0; at < view; at += 3)
        if (std::equal(colour.begin(), colour.end(), &before[at])) return after[at + 1] / 255.0;
      return double{NAN};
    };
    const double road = green_where({102, 102, 102}) - 0.4, grass = green_where({102, 204, 102}) - 0.8;
    REQUIRE((std::abs(road) < 0.203 && std::abs(grass) < 0.203));
    road_sum += road;
    grass_sum += grass;
    road_squares += road * road;
    grass_squares += grass * grass;
    products += road * grass;
  }
  // Moments of the uniform distribution over [-0.2, 0.2], within four of their standard errors.
  const double square = 0.04 / 3, error = std::sqrt((0.0016 / 5 - square * square) / seeds);
  for (const double sum : {road_sum, grass_sum}) CHECK_THAT(sum / seeds, WithinAbs(0, 4 * std::sqrt(square / seeds)));
  for (const double squares : {road_squares, grass_squares}) CHECK_THAT(squares / seeds, WithinAbs(square, 4 * error));
  CHECK_THAT(products / seeds, WithinAbs(0, 4 * square / std::sqrt(seeds)));
}

TEST_CASE("noise is new in every frame, the same at a second look, and uniform") {
  auto env = make({{"modification", "noise"}});
  env->reset(4);
  std::vector<std::uint8_t> before;
  double sum = 0;
  int count = 0;
  const auto plain = drive_and_look("none", 4, 0);
  for (int step = 0; step < 40; ++step) {
    const auto now = look(*env);
    CHECK(now == look(*env));
    CHECK(now != before);
    if (step == 0)
      for (std::size_t i = 0; i < now.size(); ++i)
        if (is_grass(plain[i / 3 * 3 + 1])) {
          sum += now[i];
          ++count;
        }
    before = now;
    env->step(idle);
  }
  CHECK(count > 3000);
  CHECK_THAT(sum / count, WithinAbs(127.5, 5 * 73.9 / std::sqrt(count)));
  const auto first_grass = [&](std::uint64_t seed) {
    const auto without = drive_and_look("none", seed, 0), noisy = drive_and_look("noise", seed, 0);
    std::vector<std::uint8_t> shown;
    for (std::size_t i = 0; shown.size() < 300; ++i)
      if (is_grass(without[i / 3 * 3 + 1])) shown.push_back(noisy[i]);
    return shown;
  };
  CHECK((first_grass(1) != first_grass(2)));
}

TEST_CASE("video shows the frames of a folder on the grass, in the order of their numbers, again and again") {
  const TemporaryFolder folder;
  for (int i = 0; i < 3; ++i) {
    Image frame({192, 96, 3, PixelType::uint8});
    std::ranges::fill(frame.bytes(), static_cast<std::uint8_t>(10 + i));
    write_png(folder.path() / ("frame" + std::to_string(9 + i) + (i == 1 ? ".PNG" : ".png")), frame.view());
  }
  const FilesLog log;
  auto env = make({{"modification", "video"}, {"frames", folder.path().string()}});
  CHECK(log.files.at(folder.path().string()).starts_with("3 files, "));
  auto plain = make();
  env->reset(6);
  plain->reset(6);
  for (int step = 0; step < 7; ++step) {
    const auto shown = look(*env), without = look(*plain);
    int wrong = 0;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const auto green = without[i / 3 * 3 + 1];
      wrong += shown[i] != (green == 204 || green == 230 ? 10 + step % 3 : without[i]);
    }
    CHECK(wrong == 0);
    env->step(idle);
    plain->step(idle);
  }
}

TEST_CASE("a video's frame lies on the grass as it is stored, shrunk by averaging") {
  const TemporaryFolder folder;
  constexpr std::uint8_t quadrants[4][3]{{10, 60, 110}, {20, 80, 140}, {30, 100, 170}, {40, 120, 200}};
  Image frame({192, 96, 3, PixelType::uint8});
  for (std::size_t i = 0; i < frame.bytes().size(); ++i) {
    const std::size_t row = i / 3 / 96, column = i / 3 % 96;
    frame.bytes()[i] = static_cast<std::uint8_t>(quadrants[row / 96 * 2 + column / 48][i % 3] + 4 * (row % 2));
  }
  write_png(folder.path() / "0.png", frame.view());
  auto env = make({{"modification", "video"}, {"frames", folder.path().string()}});
  env->reset(6);
  const auto shown = look(*env), without = drive_and_look("none", 6, 0);
  int seen[4]{}, wrong = 0;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (!is_grass(without[i / 3 * 3 + 1])) continue;
    const std::size_t quadrant = i / 3 / 96 / 48 * 2 + i / 3 % 96 / 48;
    ++seen[quadrant];
    wrong += shown[i] != quadrants[quadrant][i % 3] + 2;
  }
  CHECK(wrong == 0);
  for (const int count : seen) CHECK(count > 300);
}

TEST_CASE("an episode shows as many frames of a long video as it has pictures") {
  const TemporaryFolder folder;
  constexpr int frames = 1003, steps = 1000;
  for (int i = 0; i < frames; ++i) {
    Image frame({1, 1, 3, PixelType::uint8});
    frame.bytes()[0] = static_cast<std::uint8_t>(i);
    frame.bytes()[1] = static_cast<std::uint8_t>(i >> 8);
    write_png(folder.path() / (std::to_string(i) + ".png"), frame.view());
  }
  std::ofstream(folder.path() / "1001.png") << "never shown";
  const FilesLog log;
  auto env = make({{"modification", "video"}, {"frames", folder.path().string()}});
  CHECK(log.files.at(folder.path().string()).starts_with("1003 files, "));
  env->reset(6);
  for (int step = 0; step < steps; ++step) env->step(idle);
  const auto shown = look(*env);
  auto plain = make();
  plain->reset(6);
  for (int step = 0; step < steps; ++step) plain->step(idle);
  const auto without = look(*plain);
  const std::array<std::uint8_t, 3> last{steps & 255, steps >> 8, 0};
  int wrong = 0, grass = 0;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (!is_grass(without[i / 3 * 3 + 1])) continue;
    ++grass;
    wrong += shown[i] != last[i % 3];
  }
  CHECK(grass > 3000);
  CHECK(wrong == 0);
}

TEST_CASE("a folder of frames is read once for all who show it, and weighed before") {
  const TemporaryFolder folder;
  const auto write = [&](int number, std::uint8_t value) {
    Image frame({4, 4, 3, PixelType::uint8});
    std::ranges::fill(frame.bytes(), value);
    write_png(folder.path() / (std::to_string(number) + ".png"), frame.view());
  };
  for (int i = 0; i < 3; ++i) write(i, static_cast<std::uint8_t>(10 + i));
  const Frames one(folder.path(), 2, 2, 5), same(folder.path(), 2, 2, 5), larger(folder.path(), 4, 4, 5),
      fewer(folder.path(), 2, 2, 2);
  CHECK(one.at(4).data() == same.at(1).data());
  CHECK(larger.at(0).size() == 48);
  CHECK(fewer.at(1).front() == 11);
  write(1, 50);
  const Frames others(folder.path(), 2, 2, 5);
  CHECK(others.at(1).front() == 50);
  CHECK(one.at(1).front() == 11);
  limit_usable_memory(1e5);
  CHECK_THROWS_MATCHES(
      Frames(folder.path(), 96, 96, 5), Error,
      MessageMatches(ContainsSubstring("option 'frames': '" + folder.path().string() + "': what is kept of 3 frames") &&
                     ContainsSubstring(" needs 81 KiB of memory, more than half of the 97.7 KiB ")));
  limit_usable_memory(std::numeric_limits<double>::infinity());
}

TEST_CASE("wrong options of car-racing are errors that name them") {
  const TemporaryFolder folder;
  CHECK_THROWS_MATCHES(make({{"modification", "color"}}), Error, MessageMatches(ContainsSubstring("did you mean 'colour'")));
  CHECK_THROWS_MATCHES(make({{"modification", "video"}}), Error, MessageMatches(ContainsSubstring("'frames' is missing")));
  CHECK_THROWS_MATCHES(make({{"modification", "video"}, {"frames", folder.path().string()}}), Error,
                       MessageMatches(ContainsSubstring("option 'frames'") && ContainsSubstring("no .png files")));
  CHECK_THROWS_MATCHES(make({{"modification", "video"}, {"frames", std::string("a\0b", 3)}}), Error,
                       MessageMatches(ContainsSubstring("cannot read 'a\\0b': names of files hold no NUL")));
  CHECK_THROWS_MATCHES(make({{"modification", "video"}, {"frames", "missing-folder"}}), Error,
                       MessageMatches(ContainsSubstring("option 'frames': 'missing-folder' cannot be read")));
  CHECK_THROWS_MATCHES(make({{"frames", "x"}}), Error, MessageMatches(ContainsSubstring("belongs to modification")));
  CHECK_THROWS_MATCHES(make({{"early_stop", -1}}), Error, MessageMatches(ContainsSubstring("early_stop")));
  CHECK_THROWS_MATCHES(make({{"pixels", Config::List{96}}}), Error, MessageMatches(ContainsSubstring("{height, width}")));
  CHECK_THROWS_AS(make()->observe(), Error);
  CHECK_THROWS_AS(make()->step(idle), Error);
}
