#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>
import iap.core;
import iap.envs;
import iap.envs.dm_control;
import iap.sim;

using namespace iap;

namespace {

const std::map<std::string, std::string> kinds{{"body_name", "body"},        {"jnt_name", "joint"},  {"geom_name", "geom"},
                                               {"site_name", "site"},        {"cam_name", "camera"}, {"mat_name", "material"},
                                               {"actuator_name", "actuator"}};

// The reference was written with ten digits.
bool close(double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(std::abs(b), 1e-3); }

std::vector<double> numbers(const nlohmann::json& value) {
  return value.is_array() ? value.get<std::vector<double>>() : std::vector{value.get<double>()};
}

// What this process holds, in MiB.
double held() {
  constexpr double mib_a_page = 4096. / (1 << 20);
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return mib_a_page * pages;
}

}  // namespace

TEST_CASE("compiled models equal the reference's, array by array") {
  CHECK(dm_control_models() == std::vector<std::string>{"ball_in_cup", "cartpole", "cheetah", "reacher", "walker"});
  for (const auto& model : dm_control_models()) {
    DYNAMIC_SECTION(model) {
      std::ifstream file(std::string(IAP_TEST_DATA) + "/dm_control/" + model + ".json");
      REQUIRE(file);
      const auto reference = nlohmann::json::parse(file);
      MujocoWorld world(dm_control_files(model));
      world.reset();
      world.forward();
      REQUIRE(reference.size() > 50);
      for (const auto& [key, expected] : reference.items()) {
        CAPTURE(key);
        if (const auto kind = kinds.find(key); kind != kinds.end()) {
          CHECK(world.names(kind->second) == expected.get<std::vector<std::string>>());
          continue;
        }
        const auto values = world.array(key == "qM_at_qpos0" ? "qM" : key);
        const auto truth = numbers(expected);
        REQUIRE(values.size() == truth.size());
        for (std::size_t i = 0; i < truth.size(); ++i) {
          CAPTURE(i, values[i], truth[i]);
          CHECK(close(values[i], truth[i]));
        }
      }
    }
  }
}

TEST_CASE("models that no world uses are not kept for ever") {
  // Each has a texture of 12 MiB.
  const auto make = [](int number) {
    return MujocoWorld(MujocoBundle::read(
        "", text("<mujoco><asset><texture name='t", number, "' type='2d' builtin='flat' width='2048' height='2048'/></asset>",
                 "<worldbody><geom size='1' pos='", number, " 0 0'/></worldbody></mujoco>")));
  };
  MujocoWorld first = make(0);
  for (int i = 1; i < 40; ++i) make(i);
  const double before = held();
  for (int i = 40; i < 80; ++i) make(i);
  CHECK(held() - before < 100);
  // A world outlives its model's place among them.
  first.geom_offset(0)[0] = 5;
  first.restore_geom_offsets();
  CHECK(first.geom_offset(0)[0] == 0);
  CHECK(make(0).texture_pixels(0).size() == std::size_t{3} * 2048 * 2048);
}

TEST_CASE("what a picture keeps of a height field is less than that is weighed by") {
  MujocoWorld world(MujocoBundle::read(
      "",
      "<mujoco><asset><hfield name='h' size='1 1 1 1' nrow='1024' ncol='1024'/></asset><worldbody><geom type='hfield' hfield='h'/>"
      "<camera pos='0 0 3'/></worldbody></mujoco>"));
  MujocoCamera view;
  std::vector<std::uint8_t> rgb(std::size_t{3} * 8 * 8);
  const double before = held();
  view.draw(world, 0, {}, 8, 8, rgb);
  CHECK(held() - before < 280);
}

TEST_CASE("the string runs from the ball to the cup") {
  MujocoWorld world(dm_control_files("ball_in_cup"));
  CHECK(world.names("tendon") == std::vector<std::string>{"string"});
  CHECK(world.array("tendon_limited") == std::vector<double>{1});
  CHECK(world.array("tendon_width") == std::vector<double>{0.003});
  CHECK(world.array("wrap_objid") ==
        std::vector<double>{static_cast<double>(world.id("site", "ball")), static_cast<double>(world.id("site", "cup"))});
}

TEST_CASE("all models share the suite's look") {
  for (const auto& model : dm_control_models()) {
    MujocoWorld world(dm_control_files(model));
    CHECK(world.names("texture") == std::vector<std::string>{"skybox", "grid"});
    CHECK(world.array("tex_width") == std::vector<double>{800, 300});
    CHECK(world.array("tex_height") == std::vector<double>{4800, 300});
    CHECK(world.array("mat_texrepeat")[0] == 1);
    CHECK(world.array("mat_texuniform")[0] == 1);
    CHECK(world.array("mat_texid")[0] == 1);
  }
}
