#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <utility>
#include <vector>
import iap.core;
import iap.render;
#include "scenes.hpp"

using namespace test;

namespace {

std::shared_ptr<const Texture> noise_sky(int width, std::uint64_t seed) {
  Random random(seed);
  Bytes rgb(static_cast<std::size_t>(6) * width * width * 3);
  for (auto& byte : rgb) byte = static_cast<std::uint8_t>(256 * random.uniform());
  return std::make_shared<const Texture>(Texture::Kind::sky, width, 6 * width, rgb);
}

Vec3 vec3(const Point& p) { return {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)}; }

Camera turned_camera(Random& random) {
  Camera camera;
  camera.forward = vec3({random.normal(), random.normal(), random.normal()});
  camera.up = vec3({random.normal(), random.normal(), random.normal()});
  return camera;
}

// Where a direction of the world meets the cube around the camera, as OpenGL numbers its faces and turns them.
struct OnCube {
  int face;
  double s, t;       // in [-1, 1]
  double clearance;  // from the next face
};

OnCube meet(const Point& world) {
  const std::array<double, 3> d{world.x, world.z, -world.y}, a{std::abs(d[0]), std::abs(d[1]), std::abs(d[2])};
  const int axis = static_cast<int>(std::ranges::max_element(a) - a.begin());
  const double m = a[axis], sign = d[axis] < 0 ? -1 : 1;
  const std::array<double, 3> s{-sign * d[2], d[0], sign * d[0]}, t{-d[1], sign * d[2], -d[1]};
  return {2 * axis + (sign < 0), s[axis] / m, t[axis] / m, m - std::max(a[(axis + 1) % 3], a[(axis + 2) % 3])};
}

double bilinear(const Texture& texture, int level, const OnCube& at, int channel) {
  const Texture::Level& l = texture.levels()[level];
  const double x = std::clamp((at.s + 1) / 2 * l.width - 0.5, 0.0, l.width - 1.0);
  const double y = std::clamp((at.t + 1) / 2 * l.height - 0.5, 0.0, l.height - 1.0);
  const int i = static_cast<int>(x), j = static_cast<int>(y);
  const auto texel = [&](int column, int row) {
    const int place = std::min(row, l.height - 1) * l.width + std::min(column, l.width - 1);
    return static_cast<double>(texture.texels()[l.offset + at.face * l.face_size + place] >> (8 * channel) & 255);
  };
  return (1 - y + j) * ((1 - x + i) * texel(i, j) + (x - i) * texel(i + 1, j)) +
         (y - j) * ((1 - x + i) * texel(i, j + 1) + (x - i) * texel(i + 1, j + 1));
}

}  // namespace

TEST_CASE("the sky is looked up between texels and levels of detail, however the camera is turned") {
  Random random(4);
  for (const int width : {7, 48, 300}) {
    const auto texture = noise_sky(width, 21);
    for (int round = 0; round < 6; ++round) {
      Scene scene;
      scene.textures = {texture};
      scene.sky = 0;
      scene.camera = turned_camera(random);
      const int height = 40, columns = 53;
      const Bytes rgb = draw(scene, height, columns);
      int judged = 0;
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < columns; ++x) {
          // A pixel's width by the change of (s, t) at its middle, from a step of a thousandth.
          constexpr double step = 1e-3;
          const auto look = [&](double dx, double dy) {
            return meet(ray(scene.camera, height, columns, x + 0.5 + dx, y + 0.5 + dy));
          };
          const OnCube at = look(0, 0), right = look(step, 0), below = look(0, step);
          if (at.clearance < 0.01) continue;
          const double scale = 0.5 * width / step;
          const double wide =
              std::max(std::hypot(right.s - at.s, right.t - at.t), std::hypot(below.s - at.s, below.t - at.t)) * scale;
          const int last = static_cast<int>(texture->levels().size()) - 1;
          const double lod = std::clamp(std::log2(wide), 0.0, static_cast<double>(last));
          const int level = static_cast<int>(lod);
          for (int channel = 0; channel < 3; ++channel) {
            const double fine = bilinear(*texture, level, at, channel),
                         coarse = bilinear(*texture, std::min(level + 1, last), at, channel);
            CAPTURE(width, round, x, y);
            REQUIRE(std::abs(rgb[3 * (static_cast<std::size_t>(y) * columns + x) + channel] -
                             (fine + (coarse - fine) * (lod - level))) <= 1);
          }
          ++judged;
        }
      }
      CHECK(judged > 1500);
    }
  }
}

TEST_CASE("a picture of any width is full of the sky, and nothing beyond it is written") {
  const std::array<std::uint8_t, 3> colour{10, 120, 250};
  Scene scene;
  scene.textures = {std::make_shared<const Texture>(Texture::Kind::sky, 1, 1, colour)};
  scene.sky = 0;
  constexpr std::uint8_t untouched = 77;
  for (int width = 1; width <= 40; ++width) {
    constexpr int height = 2;
    const std::size_t size = static_cast<std::size_t>(3) * height * width;
    Bytes rgb(size + 64, untouched);
    Caster().draw(scene, {}, height, width, std::span(rgb).first(size));
    CAPTURE(width);
    for (std::size_t i = 0; i < rgb.size(); ++i) REQUIRE(rgb[i] == (i < size ? colour[i % 3] : untouched));
  }
}

// One caster whose sky keeps changing and whose camera keeps turning, at first over an edge between faces, against casters that
// draw their first picture.
TEST_CASE("a moving background is what a new caster sees, on one face and across edges") {
  Random random(12);
  Scene scene;
  scene.sky = 0;
  Caster used;
  constexpr int height = 30, width = 50;
  int edges = 0, single = 0;
  for (int frame = 0; frame < 40; ++frame) {
    scene.textures = {noise_sky(frame % 3 == 0 ? 60 : 25, 30 + static_cast<std::uint64_t>(frame % 4))};
    if (frame % 2 == 0) scene.camera = turned_camera(random);
    const int first = meet(ray(scene.camera, height, width, 0.5, height / 2.0)).face;
    const int last = meet(ray(scene.camera, height, width, width - 0.5, height / 2.0)).face;
    ++(first == last ? single : edges);
    Bytes rgb(static_cast<std::size_t>(3) * height * width);
    used.draw(scene, {}, height, width, rgb);
    CAPTURE(frame);
    REQUIRE((rgb == draw(scene, height, width)));
  }
  CHECK(edges > 3);
  CHECK(single > 3);
}

// A caster that drew other pictures before, the last of them under the same sky, against one that draws its first.
TEST_CASE("a sky that was seen before hides nothing new") {
  Random random(9);
  const std::array skies{noise_sky(40, 1), noise_sky(40, 2)};
  Scene scene;
  scene.textures = {skies[0]};
  scene.sky = 0;
  scene.camera = turned_camera(random);
  scene.primitives = {glowing(Shape::sphere, {0.4f, 0.4f, 0.4f}, {0, 0, 0}, {1, 0, 0, 1}),
                      glowing(Shape::box, {0.5f, 0.3f, 0.4f}, {0, 0, 0}, {0, 1, 0, 0.4f}),
                      glowing(Shape::plane, {0, 0, 1}, {0, 0, -1}, {0, 0, 1, 1})};
  Caster used;
  const auto ahead = [&](double depth, double aside) {
    const Point forward = unit(point(scene.camera.forward)), right = unit(cross(forward, point(scene.camera.up)));
    return vec3(point(scene.camera.position) + forward * depth + right * aside);
  };
  for (const int samples : {1, 4}) {
    int height = 37, width = 45;
    for (int frame = 0; frame < 24; ++frame) {
      if (frame % 6 == 5) scene.camera = turned_camera(random);
      if (frame == 9) scene.textures = {skies[1]};
      if (frame == 14) std::swap(height, width);
      if (frame == 16) scene.haze = !scene.haze;
      scene.camera.position = vec3({random.normal(), random.normal(), random.uniform(0, 2)});
      scene.primitives[0].position = ahead(4, random.uniform(-1, 1));
      scene.primitives[1].position = ahead(3, random.uniform(-1, 1));
      const DrawOptions options{.samples = samples};
      Bytes rgb(static_cast<std::size_t>(height) * width * 3);
      used.draw(scene, options, height, width, rgb);
      CAPTURE(samples, frame);
      REQUIRE((rgb == draw(scene, height, width, options)));
    }
  }
}
