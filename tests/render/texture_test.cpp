#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string>
#include <vector>
import iap.core;
import iap.render;
#include "scenes.hpp"

using namespace test;

namespace {

Bytes noise(std::size_t count) {
  Random random(11);
  Bytes bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(256 * random.uniform());
  return bytes;
}

}  // namespace

TEST_CASE("each mipmap level averages the one before") {
  const int width = 12, height = 8;
  const Bytes rgb = noise(width * height * 3);
  const Texture texture(Texture::Kind::flat, width, height, rgb);
  REQUIRE(texture.levels().size() == 4);
  CHECK(texture.levels()[2].width == 3);
  CHECK(texture.levels()[3].width == 1);
  CHECK(texture.levels()[3].height == 1);
  const auto level = texture.levels()[1];
  for (int y = 0; y < level.height; ++y) {
    for (int x = 0; x < level.width; ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        double sum = 0;
        for (int k = 0; k < 4; ++k) sum += rgb[((2 * y + k / 2) * width + 2 * x + k % 2) * 3 + channel];
        const auto texel = texture.texels()[level.offset + y * level.width + x] >> (8 * channel) & 255;
        REQUIRE(std::abs(texel - sum / 4) <= 0.5);
      }
    }
  }
  CHECK(texture.same_image(Texture::Kind::flat, width, height, rgb));
  CHECK_FALSE(texture.same_image(Texture::Kind::flat, height, width, rgb));
  CHECK_FALSE(texture.same_image(Texture::Kind::flat, width, height, noise(12)));
}

TEST_CASE("textures of impossible sizes are errors") {
  const Bytes rgb(6 * 4 * 4 * 3);
  CHECK_NOTHROW(Texture(Texture::Kind::cube, 4, 24, rgb));
  CHECK_THROWS_AS(Texture(Texture::Kind::cube, 24, 4, rgb), Error);
  CHECK_THROWS_AS(Texture(Texture::Kind::flat, 4, 25, rgb), Error);
  CHECK_THROWS_AS(Texture(Texture::Kind::flat, 0, 4, {}), Error);
}

TEST_CASE("a flat texture repeats over a plane with bilinear look-ups") {
  const int texels = 4, size = 50;
  const Bytes rgb = noise(texels * texels * 3);
  Scene scene;
  scene.lights = {dark()};
  scene.textures = {std::make_shared<const Texture>(Texture::Kind::flat, texels, texels, rgb)};
  scene.primitives = {glowing(Shape::plane, {0, 0, 1}, {0, 0, 0}, {1, 1, 1, 1})};
  scene.primitives[0].texture = 0;
  scene.primitives[0].texture_uniform = true;
  scene.primitives[0].texture_repeat = {0.5f, 0.75f};
  scene.camera.position = {0.3f, -0.2f, 4};
  scene.camera.forward = {0, 0, -1};
  scene.camera.up = {0, 1, 0};
  const Bytes picture = draw(scene, size, size);
  const auto at = [&](int column, int row, int channel) {
    return rgb[((row + 8 * texels) % texels * texels + (column + 8 * texels) % texels) * 3 + channel];
  };
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const Point p = point(scene.camera.position) + ray(scene.camera, size, size, x + 0.5, y + 0.5) * 4;
      // MuJoCo's mapping: half a repeat a metre, rows downwards, the image's corner at -1/2.
      const double u = (0.5 * 0.5 * p.x - 0.5) * texels - 0.5, v = (-0.5 * 0.75 * p.y - 0.5) * texels - 0.5;
      const int i = static_cast<int>(std::floor(u)), j = static_cast<int>(std::floor(v));
      const double a = u - i, b = v - j;
      for (int channel = 0; channel < 3; ++channel) {
        const double truth = (1 - b) * ((1 - a) * at(i, j, channel) + a * at(i + 1, j, channel)) +
                             b * ((1 - a) * at(i, j + 1, channel) + a * at(i + 1, j + 1, channel));
        REQUIRE(std::abs(picture[3 * (y * size + x) + channel] - truth) <= 0.52);
      }
    }
  }
}

TEST_CASE("far away a texture shows its average") {
  Bytes rgb(64 * 64 * 3, 0);
  for (int i = 0; i < 64 * 64; ++i) rgb[3 * i] = (i % 64 + i / 64) % 2 ? 255 : 0;
  Scene scene;
  scene.lights = {dark()};
  scene.textures = {std::make_shared<const Texture>(Texture::Kind::flat, 64, 64, rgb)};
  scene.primitives = {glowing(Shape::plane, {0, 0, 1}, {0, 0, 0}, {1, 1, 1, 1})};
  scene.primitives[0].texture = 0;
  scene.primitives[0].texture_uniform = true;
  scene.camera.position = {0, 0, 50};
  scene.camera.forward = {0, 0, -1};
  scene.camera.up = {0, 1, 0};
  const Bytes picture = draw(scene, 20, 20);
  for (int i = 0; i < 400; ++i) REQUIRE(std::abs(picture[3 * i] - 128) <= 1);
}

TEST_CASE("the sky's six faces lie around the camera as MuJoCo turns them") {
  Bytes rgb;
  for (int face = 0; face < 6; ++face)
    for (int i = 0; i < 4; ++i) rgb.insert(rgb.end(), {static_cast<std::uint8_t>(40 * face + 10), 0, 0});
  Scene scene;
  scene.textures = {std::make_shared<const Texture>(Texture::Kind::sky, 2, 12, rgb)};
  scene.sky = 0;
  // OpenGL's y is the world's z; its z the world's -y.
  const std::array<Vec3, 6> directions{{{1, 0, 0}, {-1, 0, 0}, {0, 0, 1}, {0, 0, -1}, {0, -1, 0}, {0, 1, 0}}};
  for (int face = 0; face < 6; ++face) {
    scene.camera.forward = directions[face];
    scene.camera.up = directions[face][2] != 0 ? Vec3{0, 1, 0} : Vec3{0, 0, 1};
    CHECK(draw(scene, 9, 9)[3 * 40] == 40 * face + 10);
    CHECK(draw(scene, 9, 9, {.sky = false})[3 * 40] == 0);
  }
}

TEST_CASE("draw options survive their table, and typos do not") {
  const DrawOptions options{.path = DrawOptions::Path::gl, .shadows = false, .reflection = true, .sky = false, .samples = 4};
  CHECK(read_draw_options(to_config(options), "camera") == options);
  CHECK(read_draw_options({}, "camera") == DrawOptions{});
  CHECK_THROWS_AS(read_draw_options(parse_json(R"({"shadow": true})", "test"), "camera"), Error);
  CHECK_THROWS_AS(read_draw_options(parse_json(R"({"path": "vulkan"})", "test"), "camera"), Error);
  CHECK_THROWS_AS(read_draw_options(parse_json(R"({"samples": 3})", "test"), "camera"), Error);
}
