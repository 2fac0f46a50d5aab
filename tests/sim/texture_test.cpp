// Textures of models, which worlds share.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
import iap.core;
import iap.sim;

using namespace iap;

namespace {

// A floor of squares in this colour, from above; `note` tells the text of one model from another that looks like it.
MujocoWorld floor_of(const std::string& colour, const std::string& note = "") {
  const std::string xml =
      "<mujoco model='" + note + "'><asset><texture name='t' type='2d' builtin='checker' rgb1='" + colour +
      "' rgb2='0 0 0' width='32' height='32'/><material name='m' texture='t'/></asset><worldbody>"
      "<light pos='0 0 3'/><camera pos='0 0 2'/><geom type='plane' size='1 1 1' material='m'/></worldbody></mujoco>";
  const std::vector<MujocoFile> files{{"floor.xml", xml}};
  return MujocoWorld(files);
}

std::vector<std::uint8_t> picture(MujocoCamera& camera, MujocoWorld& world) {
  constexpr int side = 24;
  std::vector<std::uint8_t> rgb(std::size_t{3} * side * side);
  camera.draw(world, 0, {}, side, side, rgb);
  return rgb;
}

std::vector<std::uint8_t> picture(MujocoWorld& world) {
  MujocoCamera camera;
  return picture(camera, world);
}

}  // namespace

TEST_CASE("a world shows its own model's textures, whoever showed what before") {
  for (int round = 0; round < 2; ++round) {
    std::optional red(floor_of("1 0 0")), blue(floor_of("0 0 1"));
    auto red_again = floor_of("1 0 0"), alike = floor_of("1 0 0", "another");
    MujocoCamera camera;
    const auto in_red = picture(camera, *red), in_blue = picture(camera, *blue);
    CHECK(in_red != in_blue);
    CHECK(picture(camera, *red) == in_red);
    CHECK(picture(red_again) == in_red);
    CHECK(picture(alike) == in_red);
    // Whose model found the image first may go.
    red.reset();
    blue.reset();
    for (int i = 0; i < 3; ++i) {
      auto more = floor_of("1 0 0", text("more ", i)), other = floor_of("0 0 1", text("more ", i));
      CHECK(picture(more) == in_red);
      CHECK(picture(camera, other) == in_blue);
      CHECK(picture(camera, more) == in_red);
    }
  }
}
