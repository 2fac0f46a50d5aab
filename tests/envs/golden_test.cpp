// Seeded episodes as they were when the files in tests/data/golden were written. `test_envs "[write]"` writes those that are
// missing: a new environment's, and one that was deleted to be written anew, which is right only after a deliberate change of the
// physics, the reward, the drawing or the random streams.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

constexpr int steps = 120;
constexpr ImageShape pictured{48, 64, 3, PixelType::uint8};

std::string path(const std::string& name) { return std::string(IAP_TEST_DATA) + "/golden/" + name + ".json"; }

// A weighted sum notices exchanged entries too.
double checksum(std::span<const float> state) {
  double sum = 0;
  for (std::size_t i = 0; i < state.size(); ++i) sum += (static_cast<double>(i) + 1) * state[i];
  return sum;
}

// Mean colours of 8 x 8 pixels: what a picture shows, without the last bit that another processor's arithmetic may change.
Config::List thumbnail(const ImageView& image) {
  constexpr int block = 8;
  Config::List means;
  for (int top = 0; top < image.shape.height; top += block)
    for (int left = 0; left < image.shape.width; left += block)
      for (int channel = 0; channel < image.shape.channels; ++channel) {
        int sum = 0;
        for (int row = top; row < top + block; ++row)
          for (int column = left; column < left + block; ++column)
            sum += image.bytes()[(row * image.shape.width + column) * image.shape.channels + channel];
        means.push_back(sum / static_cast<double>(block * block));
      }
  return means;
}

/// The row's example. @throws Error unless it shows what a trace holds.
std::unique_ptr<Env> example(const EnvEntry& entry) {
  Config config = parse_json(entry.example, entry.name);
  config["name"] = entry.name;
  auto env = make_env(config);
  const ObservationSpec& shown = env->spec().observation;
  const auto& images = shown.images;
  if (images.empty() || !(images[0].shape == pictured) || shown.vector == 0)
    throw Error(text("environment '", entry.name, "': golden traces hold a picture and a state; let the row's example show ",
                     describe(pictured), " and a state, it shows ", images.empty() ? "no picture" : describe(images[0].shape),
                     " and a vector of ", shown.vector, " values"));
  return env;
}

Config trace(const EnvEntry& entry) {
  const auto env = example(entry);
  Random random({.seed = 21, .purpose = Purpose::user});
  std::vector<float> action(env->spec().action_size);
  Config::List rewards, states;
  env->reset(21);
  for (int i = 0; i < steps; ++i) {
    for (float& value : action) value = static_cast<float>(random.uniform(env->spec().action_low, env->spec().action_high));
    const auto result = env->step(action);
    rewards.push_back(result.reward);
    states.push_back(checksum(env->observe().vector));
    if (result.terminated || result.truncated) env->reset(21);
  }
  return Config::Map{{"rewards", rewards}, {"states", states}, {"picture", thumbnail(env->observe().images[0])}};
}

}  // namespace

TEST_CASE("environments repeat their golden traces") {
  for (const auto& entry : env_catalog()) {
    INFO("test_envs \"[write]\" writes traces that are missing");
    const auto golden = parse_json(read_file(path(entry.name)), entry.name), now = trace(entry);
    for (const char* part : {"rewards", "states", "picture"}) {
      CAPTURE(entry.name, part);
      REQUIRE(golden.find(part));
    }
    for (const char* part : {"rewards", "states"}) {
      const auto &expected = *golden.find(part)->list(), &actual = *now.find(part)->list();
      REQUIRE(expected.size() == steps);
      for (int i = 0; i < steps; ++i) {
        CAPTURE(entry.name, part, i);
        const double truth = *expected[i].number();
        CHECK(std::abs(*actual[i].number() - truth) <= 1e-9 * std::max(1.0, std::abs(truth)));
      }
    }
    const auto &expected = *golden.find("picture")->list(), &actual = *now.find("picture")->list();
    REQUIRE(expected.size() == pictured.count() / 64);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(entry.name, i);
      CHECK(std::abs(*actual[i].number() - *expected[i].number()) <= 0.5);
    }
  }
}

TEST_CASE("an example that shows no picture, another one, or no state has no golden trace, and says so") {
  const auto refused = [](const char* options, const char* what) {
    const auto rows = env_catalog();
    EnvEntry entry = *std::ranges::find(rows, "cartpole-balance", &EnvEntry::name);
    entry.example = options;
    CHECK_THROWS_MATCHES(trace(entry), Error, MessageMatches(ContainsSubstring(entry.name) && ContainsSubstring(what)));
  };
  refused("{}", "it shows no picture");
  refused(R"({"pixels": [50, 64], "state": true})", "it shows 50 x 64");
  refused(R"({"pixels": [48, 64], "state": false})", "a vector of 0 values");
}

TEST_CASE("golden traces that are missing are written", "[.][write]") {
  for (const auto& entry : env_catalog()) {
    if (std::filesystem::exists(path(entry.name))) continue;
    make_folder(std::string(IAP_TEST_DATA) + "/golden");
    write_file_atomic(path(entry.name), to_json(trace(entry)) + "\n");
    CHECK(read_file(path(entry.name)).size() > steps);
  }
}
