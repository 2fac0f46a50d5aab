#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
import iap.contract;
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.distraction;
import iap.envs.dm_control;
import iap.render;
import iap.sim;
#include "episodes.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

std::vector<std::string> tasks() {
  std::vector<std::string> names;
  for (const auto& entry : env_catalog())
    if (dynamic_cast<ControlTask*>(&make_env(Config::Map{{"name", entry.name}})->unwrapped())) names.push_back(entry.name);
  return names;
}

/// The hardest of every row of the catalog: what no difficulty sets is named.
Config every_row() {
  Config all = parse(R"({"difficulty": "hard", "dynamic": true})");
  for (const auto& entry : disturbance_catalog())
    if (!entry.graded) all[entry.name] = Config::Map{{"dynamic", true}};
  return all;
}

double mean_difference(const Bytes& a, const Bytes& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

}  // namespace

TEST_CASE("distractions change the picture and not one bit of the physics") {
  for (const auto& name : tasks()) {
    const auto clean = episode(config(name, {}), 5, 40);
    for (const Config& distraction : {Config("easy"), every_row()}) {
      const auto distracted = episode(config(name, distraction), 5, 40);
      CAPTURE(name, to_json(distraction));
      for (std::size_t i = 0; i < clean.size(); ++i) {
        REQUIRE(distracted[i].state == clean[i].state);
        REQUIRE(distracted[i].reward == clean[i].reward);
        REQUIRE(mean_difference(distracted[i].pixels, clean[i].pixels) > 1);
      }
    }
  }
}

TEST_CASE("an episode's pictures follow from its seed alone") {
  const Config with = config("cheetah-run", every_row());
  const auto used = make_env(with);
  episode(*used, 1, 20);
  const auto second = episode(*used, 2, 20), fresh = episode(with, 2, 20);
  for (int i = 0; i < 20; ++i) REQUIRE(second[i].pixels == fresh[i].pixels);
  CHECK(mean_difference(episode(with, 3, 1)[0].pixels, fresh[0].pixels) > 3);
  // Looking away changes nothing of what is seen later.
  const auto blind = make_env(with);
  Random random(2);
  blind->reset(2);
  std::vector<float> action(blind->spec().action_size);
  for (int i = 0; i < 19; ++i) {
    for (float& a : action) a = static_cast<float>(random.uniform(-1, 1));
    blind->step(action);
  }
  const auto image = blind->observe().images[0];
  CHECK(std::ranges::equal(std::span(image.bytes(), image.shape.count()), fresh[19].pixels));
}

TEST_CASE("each distraction works alone, static or dynamic") {
  // A cart that stands still, so that only a distraction can change the picture.
  const auto pictures = [](const char* distraction) {
    auto env = make_env(config("cartpole-swingup", parse(distraction)));
    env->reset(4);
    auto& world = dynamic_cast<ControlTask&>(env->unwrapped()).world();
    std::vector<Bytes> seen;
    for (int i = 0; i < 6; ++i) {
      std::ranges::fill(world.qvel(), 0.0);
      world.qpos()[0] = 0;
      world.qpos()[1] = 3.14159265358979;
      world.forward();
      env->step(std::vector{0.0f});
      const auto image = env->observe().images[0];
      seen.emplace_back(image.bytes(), image.bytes() + image.shape.count());
    }
    return seen;
  };
  const auto clean = pictures("false");
  for (const auto& entry : disturbance_catalog()) {
    const std::string& part = entry.name;
    const auto still = pictures(
        (R"({"background": false, "camera": false, "colour": false, "difficulty": "medium", ")" + part + R"(": true})").c_str());
    const auto alone = pictures((R"({")" + part + R"(": {"dynamic": true}})").c_str());
    CAPTURE(part);
    CHECK(mean_difference(still[0], clean[0]) > 0.5);
    CHECK(mean_difference(still[0], still[5]) < 0.3);
    CHECK(mean_difference(alone[0], clean[0]) > 0.3);
    CHECK(mean_difference(alone[0], alone[5]) > 0.02);
  }
}

TEST_CASE("geoms with a colour of their own change it, and the materials' colours stay those of models without such geoms") {
  constexpr const char* common =
      R"(<mujoco><asset><material name="grid" rgba=".2 .3 .4 .5"/><material name="self" rgba=".6 .7 .8 1"/></asset>
    <worldbody><camera name="eye" pos="0 -3 0" xyaxes="1 0 0 0 0 1"/>
    <geom name="painted" type="sphere" size=".1" material="self"/>)";
  const std::string plain = text(common, "</worldbody></mujoco>");
  const std::string mixed = text(common, R"(<geom name="own" type="sphere" size=".1" rgba=".1 .5 .9 .25"/>
    <geom name="over" type="sphere" size=".1" material="self" rgba=".9 .5 .1 1"/><geom name="grey" type="sphere" size=".1"/>
    </worldbody></mujoco>)");
  const auto colours = [](const std::string& mjcf, std::uint64_t seed, int steps) {
    const std::vector<MujocoFile> files{{"model.xml", mjcf}};
    MujocoWorld world(files);
    MujocoCamera view;
    Distraction distraction(parse(R"({"colour": {"max_delta": 0.3, "step_std": 0.05}})"), "test", "model", world, 0, 8, 8);
    distraction.reset(world, seed);
    for (int i = 0; i < steps; ++i) distraction.step();
    distraction.apply(world, view);
    return std::pair{world.array("mat_rgba"), world.array("geom_rgba")};
  };
  for (const int steps : {0, 7}) {
    const auto [materials, geoms] = colours(mixed, 5, steps);
    CHECK(materials == colours(plain, 5, steps).first);
    CHECK(geoms != colours(mixed, 6, steps).second);
    CHECK(geoms == colours(mixed, 5, steps).second);
    constexpr double default_grey[]{.5, .5, .5, 1}, own[]{.1, .5, .9, .25}, over[]{.9, .5, .1, 1};
    for (int i = 0; i < 4; ++i) CHECK(geoms[i] == default_grey[i]);  // the material shows
    int further = 0;
    for (int geom = 1; geom < 4; ++geom) {
      const double* before = geom == 1 ? own : geom == 2 ? over : default_grey;
      CHECK(geoms[4 * geom + 3] == before[3]);
      for (int i = 0; i < 3; ++i) {
        const double now = geoms[4 * geom + i];
        CHECK((now != before[i] && now >= 0 && now <= 1 && std::abs(now - before[i]) <= .3 + 1e-6));
        further += std::abs(now - before[i]) > .05;
      }
    }
    CHECK(further >= 3);
  }
  // All that is to be seen of DM Control's models has a material's colour: the Distracting Control Suite knows no other.
  for (const auto& name : tasks()) {
    CAPTURE(name);
    const auto env = make_env(config(name, {}));
    auto& world = dynamic_cast<ControlTask&>(env->unwrapped()).world();
    for (const double material : world.array("geom_matid")) CHECK(material >= 0);
    const auto rgba = world.array("geom_rgba");
    for (std::size_t i = 0; i < rgba.size(); ++i) CHECK(rgba[i] == (i % 4 == 3 ? 1 : .5));
  }
}

TEST_CASE("own numbers replace those of the difficulty") {
  const auto spec = [](const char* distraction) {
    return *make_env(config("walker-walk", parse(distraction)))->spec().config.find("distraction");
  };
  const Config hard = spec(R"("hard")");
  CHECK(*hard.find("camera")->find("zoom_out")->number() == 1.5 * 0.3);
  CHECK(*hard.find("colour")->find("max_delta")->number() == 0.3);
  CHECK(*hard.find("colour")->find("step_std")->number() == 0);
  CHECK(*hard.find("background")->find("ground_alpha")->number() == 1);
  CHECK(*hard.find("background")->find("count")->number() == 0);
  // The table of docs/pictures.md.
  struct Row {
    const char* difficulty;
    double s, count;
  };
  for (const auto& [difficulty, s, count] : {Row{"easy", 0.1, 4}, {"medium", 0.2, 8}, {"hard", 0.3, 0}})
    for (const bool dynamic : {false, true}) {
      CAPTURE(difficulty, dynamic);
      const Config all =
          spec(text(R"({"difficulty": ")", difficulty, R"(", "dynamic": )", dynamic ? "true" : "false", "}").c_str());
      const auto number = [&](const char* part, const char* option) { return *all.find(part)->find(option)->number(); };
      CHECK(number("background", "count") == count);
      CHECK(number("background", "video_alpha") == 1);
      for (const char* delta : {"horizontal_delta", "vertical_delta", "roll_delta"})
        CHECK(std::abs(number("camera", delta) - 1.5707963267948966 * s) < 1e-12);
      CHECK(std::abs(number("camera", "zoom_in") - 0.5 * s) < 1e-12);
      CHECK(std::abs(number("camera", "zoom_out") - 1.5 * s) < 1e-12);
      CHECK(std::abs(number("camera", "max_vel") - (dynamic ? 0.4 * s : 0)) < 1e-12);
      CHECK(std::abs(number("camera", "vel_std") - (dynamic ? 0.1 * s : 0)) < 1e-12);
      CHECK(std::abs(number("camera", "max_roll_vel") - (dynamic ? 0.06283185307179587 * s : 0)) < 1e-12);
      CHECK(std::abs(number("camera", "roll_std") - (dynamic ? 0.010471975511965978 * s : 0)) < 1e-12);
      CHECK(number("colour", "max_delta") == s);
      CHECK(std::abs(number("colour", "step_std") - (dynamic ? 0.03 * s : 0)) < 1e-12);
    }
  const Config own = spec(R"({"difficulty": "easy", "dynamic": true, "camera": {"roll_delta": 0.7}, "colour": false,
                              "background": {"count": 2, "ground_alpha": 0.5}})");
  CHECK(*own.find("camera")->find("roll_delta")->number() == 0.7);
  CHECK(*own.find("camera")->find("max_vel")->number() == 0.4 * 0.1);
  CHECK(*own.find("background")->find("count")->number() == 2);
  CHECK(own.find("colour")->boolean());
  CHECK(*spec(R"({"camera": {"zoom_in": 0.2}})").find("background")->boolean() == false);
  const auto alpha = [](const char* name) {
    return *make_env(config(name, "easy"))->spec().config.find("distraction")->find("background")->find("ground_alpha")->number();
  };
  for (const std::string name :
       {"ball-in-cup-catch", "cartpole-swingup", "cheetah-run", "walker-walk", "reacher-easy", "reacher-hard"}) {
    const auto easy = make_env(config(name, "easy"))->spec().config;
    CAPTURE(name);
    CHECK(*easy.find("distraction")->find("camera")->find("upper_quadrant")->boolean() == !name.starts_with("reacher"));
  }
  CHECK(alpha("cartpole-swingup") == 0.3);
  CHECK(alpha("reacher-easy") == 0);
  CHECK(alpha("ball-in-cup-catch") == 0.3);
}

TEST_CASE("threads draw the same distracted episodes") {
  const Config with = config("ball-in-cup-catch", every_row());
  std::vector<std::vector<Moment>> parallel(6);
  parallel_for(parallel.size(), 3, [&](std::size_t i, int) { parallel[i] = episode(with, i, 12); });
  for (std::size_t i = 0; i < parallel.size(); ++i) CHECK(parallel[i].back().pixels == episode(with, i, 12).back().pixels);
}

TEST_CASE("distracted environments keep the contract") {
  for (const auto& name : tasks()) {
    CAPTURE(name);
    const Config hard = config(name, every_row(), 24, 32);
    const auto report = check_contract([&] { return make_env(hard); }, {.seed = 11, .episodes = 1, .steps = 15, .most_steps = 30});
    CHECK(breaches(report) == "");
  }
}

TEST_CASE("distracted pictures agree with OpenGL's") {
#if __has_feature(thread_sanitizer)
  SKIP("under this sanitizer the threads of the OpenGL driver in software miss each other's signals and wait for ever");
#endif
  if (describe_gl().starts_with("none")) SKIP("no OpenGL here: " + describe_gl());
  for (const auto& name : tasks()) {
    if (name == "walker-stand" || name == "walker-run" || name.starts_with("cartpole-balance") || name == "reacher-hard") continue;
    Config with = config(name, parse(R"({"difficulty": "hard", "dynamic": true})"), 100, 100);
    const auto cpu = episode(with, 3, 4);
    with["render"] = Config::Map{{"path", "gl"}};
    const auto gl = episode(with, 3, 4);
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      CAPTURE(name, i);
      CHECK(mean_difference(cpu[i].pixels, gl[i].pixels) <= 1);
    }
  }
}

// `IAP_PICTURES=folder test_distraction "[show]"` writes what distracted tasks look like.
TEST_CASE("distracted pictures are written for a look at them", "[.][show]") {
  const char* folder = std::getenv("IAP_PICTURES");
  REQUIRE(folder);
  for (const auto& name : tasks()) {
    std::vector<Image> images;
    for (const std::string path : {"cpu", "gl"})
      for (const std::uint64_t seed : {1, 2}) {
        Config with = config(name, parse(R"({"difficulty": "hard", "dynamic": true})"), 240, 320);
        with["render"] = Config::Map{{"path", path}};
        const auto moments = episode(with, seed, 2);
        Image& image = images.emplace_back(ImageShape{240, 320, 3, PixelType::uint8});
        std::ranges::copy(moments[1].pixels, image.bytes().begin());
      }
    write_png(std::string(folder) + "/distracted_" + name + ".png", side_by_side(images, 4).view());
  }
}
