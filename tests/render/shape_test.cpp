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

// Walks along the ray in small steps: the number of the first solid it enters, or -1.
int first_entered(const Scene& scene, Point direction) {
  const Point eye = point(scene.camera.position);
  for (double t = 0.5; t < 6; t += 0.004)
    for (std::size_t i = 0; i < scene.primitives.size(); ++i)
      if (inside(scene.primitives[i], eye + direction * t)) return static_cast<int>(i);
  return -1;
}

int shown(const Bytes& rgb, std::size_t pixel) {
  for (int channel = 0; channel < 3; ++channel)
    if (rgb[3 * pixel + channel] == 255) return channel;
  return -1;
}

}  // namespace

TEST_CASE("shapes show where a ray walks into them, and the nearest hides the others") {
  const int height = 45, width = 61;
  const std::array shapes{Shape::sphere, Shape::capsule, Shape::ellipsoid, Shape::cylinder, Shape::box};
  Random random(3);
  const auto place = [&] { return static_cast<float>(random.uniform(-0.8, 0.8)); };
  const auto size = [&] { return static_cast<float>(random.uniform(0.15, 0.7)); };
  int solid_pixels = 0;
  for (int round = 0; round < 12; ++round) {
    Scene scene;
    scene.lights = {dark()};
    scene.camera.position = {0.3f, -3.5f, 0.4f};
    scene.camera.forward = {-0.1f, 1, -0.1f};
    for (int i = 0; i < 3; ++i) {
      Rgba rgba{0, 0, 0, 1};
      rgba[i] = 1;
      Vec3 extent{size(), size(), size()};
      const Shape shape = shapes[(round + i) % shapes.size()];
      if (shape == Shape::sphere) extent = {extent[0], extent[0], extent[0]};
      if (shape == Shape::capsule || shape == Shape::cylinder) extent[1] = extent[0];
      auto& primitive = scene.primitives.emplace_back(glowing(shape, extent, {place(), place(), place()}, rgba));
      primitive.rotation = rotation(random.uniform(0, 6), {random.normal(), random.normal(), random.normal()});
    }
    const Bytes rgb = draw(scene, height, width);
    int different = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int truth = first_entered(scene, ray(scene.camera, height, width, x + 0.5, y + 0.5));
        solid_pixels += truth >= 0;
        different += shown(rgb, static_cast<std::size_t>(y) * width + x) != truth;
      }
    }
    CAPTURE(round, different);
    CHECK(different <= 0.005 * height * width);  // grazing rays that step over an edge
  }
  CHECK(solid_pixels > 5000);
}

TEST_CASE("shapes are culled from inside, before the near plane and beyond the far plane") {
  Scene scene;
  scene.lights = {dark()};
  const auto lit = [&](Vec3 position, float radius) {
    scene.primitives = {glowing(Shape::sphere, {radius, radius, radius}, position, {1, 1, 1, 1})};
    return draw(scene, 9, 9)[3 * 40] == 255;
  };
  scene.camera.near_plane = 1;
  scene.camera.far_plane = 10;
  CHECK(lit({0, 5, 0}, 1));
  CHECK_FALSE(lit({0, 0.5f, 0}, 1));
  CHECK_FALSE(lit({0, 1.5f, 0}, 1));
  CHECK(lit({0, 2.5f, 0}, 1));
  CHECK_FALSE(lit({0, 11.5f, 0}, 1));
  CHECK_FALSE(lit({0, -5, 0}, 1));
}

TEST_CASE("a plane ends at its size, and its depth orders it") {
  const int size = 80;
  Scene scene;
  scene.lights = {dark()};
  scene.camera.position = {0, -4, 1};
  scene.primitives = {glowing(Shape::plane, {1, 0.5f, 1}, {0, 0, 0}, {1, 0, 0, 1}),
                      glowing(Shape::plane, {0, 0, 1}, {0, 0, -1}, {0, 1, 0, 1})};
  const Bytes rgb = draw(scene, size, size);
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const Point d = ray(scene.camera, size, size, x + 0.5, y + 0.5);
      const double upper = -1 / d.z, lower = -2 / d.z;  // depth of both along the optical axis
      int truth = -1;
      if (d.z < 0 && lower <= 100) truth = 1;
      const double across = std::abs(upper * d.x), along = std::abs(upper * d.y - 4);
      if (d.z < 0 && across <= 1 && along <= 0.5) truth = 0;
      if (std::abs(across - 1) < 1e-3 || std::abs(along - 0.5) < 1e-3) continue;
      CAPTURE(x, y);
      REQUIRE(shown(rgb, static_cast<std::size_t>(y) * size + x) == truth);
    }
  }
}

// A long floor and a long beam that begin behind the camera and pass below and beside it.
TEST_CASE("what begins behind the camera shows as far as it lies before it") {
  const int size = 70;
  Random random(8);
  for (int round = 0; round < 8; ++round) {
    Scene scene;
    scene.lights = {dark()};
    scene.camera.position = {0, 0, 1};
    scene.camera.forward = {static_cast<float>(0.5 * random.normal()), 1, static_cast<float>(0.3 * random.normal())};
    scene.camera.up = {static_cast<float>(random.normal()), static_cast<float>(random.normal()), 1};
    scene.primitives = {glowing(Shape::plane, {0.6f, 30, 1}, {0.1f, 5, 0}, {1, 0, 0, 1}),
                        glowing(Shape::box, {0.2f, 20, 0.1f}, {0.9f, 3, 1.2f}, {0, 1, 0, 1})};
    const Bytes rgb = draw(scene, size, size);
    int judged = 0;
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const Point d = ray(scene.camera, size, size, x + 0.5, y + 0.5);
        const auto entry = [&](double tighter) {
          double enter = 0, leave = 1e9;
          const auto cut = [&](double from, double along, double low, double high) {
            const double a = (low + tighter - from) / along, b = (high - tighter - from) / along;
            enter = std::max(enter, std::min(a, b));
            leave = std::min(leave, std::max(a, b));
          };
          cut(0, d.x, 0.7, 1.1);
          cut(0, d.y, -17, 23);
          cut(1, d.z, 1.1, 1.3);
          return enter <= leave ? enter : -1;
        };
        const auto floor = [&](double tighter) {
          const double t = -1 / d.z;
          return d.z < 0 && std::abs(t * d.x - 0.1) <= 0.6 - tighter && std::abs(t * d.y - 5) <= 30 - tighter ? t : -1;
        };
        constexpr double edge = 1e-3;
        if ((entry(edge) > 0) != (entry(-edge) > 0) || (floor(edge) > 0) != (floor(-edge) > 0)) continue;
        const double box = entry(0), plane = floor(0);
        const int truth = box > 0 && (plane < 0 || box < plane) ? 1 : plane > 0 ? 0 : -1;
        CAPTURE(round, x, y);
        REQUIRE(shown(rgb, static_cast<std::size_t>(y) * size + x) == truth);
        ++judged;
      }
    }
    CHECK(judged > 4000);
  }
}

TEST_CASE("transparent solids blend twice, as MuJoCo draws them") {
  Scene scene;
  scene.lights = {dark()};
  const float a = 0.3f;
  scene.primitives = {glowing(Shape::sphere, {1, 1, 1}, {0, 5, 0}, {1, 0.5f, 0, a}),
                      glowing(Shape::box, {9, 1, 9}, {0, 9, 0}, {0, 0, 1, 1})};
  const Bytes rgb = draw(scene, 9, 9);
  const double left = (1 - a) * (1 - a);
  CHECK(std::abs(rgb[3 * 40] - 255 * (1 - left)) <= 1);
  CHECK(std::abs(rgb[3 * 40 + 1] - 255 * 0.5 * (1 - left)) <= 1);
  CHECK(std::abs(rgb[3 * 40 + 2] - 255 * left) <= 1);
}

TEST_CASE("what the caster cannot draw is an error") {
  Scene scene;
  Bytes rgb(9 * 9 * 3);
  Caster caster;
  CHECK_THROWS_AS(caster.draw(scene, {}, 9, 8, rgb), Error);
  CHECK_THROWS_AS(caster.draw(scene, {}, 0, 9, {}), Error);
  CHECK_THROWS_AS(caster.draw(scene, {.samples = 3}, 9, 9, rgb), Error);
  scene.primitives = {glowing(Shape::mesh, {1, 1, 1}, {0, 5, 0}, {1, 1, 1, 1})};
  CHECK_THROWS_AS(caster.draw(scene, {}, 9, 9, rgb), Error);
  scene.primitives[0].shape = Shape::sphere;
  scene.primitives[0].texture = 0;
  CHECK_THROWS_AS(caster.draw(scene, {}, 9, 9, rgb), Error);
  scene.primitives.clear();
  scene.camera.near_plane = 0;
  CHECK_THROWS_AS(caster.draw(scene, {}, 9, 9, rgb), Error);
}
