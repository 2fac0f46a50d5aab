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
#include <map>
#include <memory>
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
  Random random({.seed = 5, .purpose = Purpose::environment});
  const auto tile = 1000.0 / static_cast<double>(car_racing::draw_track(random).size());
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
  const auto green = [](std::uint8_t value) { return value == 204 || value == 230; };
  for (const std::string name : {"colour", "bars", "blob", "noise"}) {
    const auto changed = drive_and_look(name, 4, 80);
    int differing = 0, unexpected = 0;
    for (std::size_t at = 0; at < plain.size(); at += 3) {
      if (std::equal(&plain[at], &plain[at] + 3, &changed[at])) continue;
      ++differing;
      const std::size_t column = at / 3 % 96, row = at / 3 / 96;
      const bool grass = green(plain[at + 1]), road = plain[at] == plain[at + 1] && plain[at] == plain[at + 2];
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
        if (const auto green = plain[i / 3 * 3 + 1]; green == 204 || green == 230) {
          sum += now[i];
          ++count;
        }
    before = now;
    env->step(idle);
  }
  CHECK(count > 3000);
  CHECK_THAT(sum / count, WithinAbs(127.5, 5 * 73.9 / std::sqrt(count)));
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
