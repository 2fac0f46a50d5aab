#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <vector>
import iap.core;
import iap.render;
#include "scenes.hpp"

using namespace test;

namespace {

std::vector<float> depth(const Scene& scene, int height, int width) {
  Caster caster;
  std::vector<float> metres(static_cast<std::size_t>(height) * width);
  caster.draw_depth(scene, height, width, metres);
  return metres;
}

// Where along the ray a walk in small steps first enters a solid, refined by bisection; the far plane's distance if nowhere. The
// direction's part along the optical axis is 1, so that this is a depth.
double entered(const Scene& scene, Point direction) {
  const Point eye = point(scene.camera.position);
  const auto in_any = [&](double t) {
    return std::ranges::any_of(scene.primitives, [&](const Primitive& p) { return inside(p, eye + direction * t); });
  };
  constexpr double step = 0.004;
  for (double t = 0.5; t < 8; t += step) {
    if (!in_any(t)) continue;
    double outside = t - step, within = t;
    for (int halved = 0; halved < 30; ++halved) (in_any((outside + within) / 2) ? within : outside) = (outside + within) / 2;
    return within;
  }
  return scene.camera.far_plane;
}

}  // namespace

TEST_CASE("depth is the distance along the optical axis to where a ray enters a solid") {
  const int height = 31, width = 45;
  const std::array shapes{Shape::sphere, Shape::capsule, Shape::ellipsoid, Shape::cylinder, Shape::box};
  Random random(5);
  const auto place = [&] { return static_cast<float>(random.uniform(-0.8, 0.8)); };
  const auto size = [&] { return static_cast<float>(random.uniform(0.15, 0.7)); };
  int met = 0;
  for (int round = 0; round < 10; ++round) {
    Scene scene;
    scene.camera.position = {0.3f, -3.5f, 0.4f};
    scene.camera.forward = {-0.1f, 1, -0.1f};
    scene.camera.far_plane = 20;
    for (int i = 0; i < 3; ++i) {
      Vec3 extent{size(), size(), size()};
      const Shape shape = shapes[(round + i) % shapes.size()];
      if (shape == Shape::sphere) extent = {extent[0], extent[0], extent[0]};
      if (shape == Shape::capsule || shape == Shape::cylinder) extent[1] = extent[0];
      auto& primitive = scene.primitives.emplace_back(glowing(shape, extent, {place(), place(), place()}, {1, 1, 1, 1}));
      primitive.rotation = rotation(random.uniform(0, 6), {random.normal(), random.normal(), random.normal()});
    }
    const auto metres = depth(scene, height, width);
    int different = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const double truth = entered(scene, ray(scene.camera, height, width, x + 0.5, y + 0.5));
        met += truth < scene.camera.far_plane;
        different += std::abs(metres[static_cast<std::size_t>(y) * width + x] - truth) > 1e-4;
      }
    }
    CAPTURE(round, different);
    CHECK(different <= 0.005 * height * width);  // grazing rays that step over an edge
  }
  CHECK(met > 2000);
}

TEST_CASE("depth of a floor, of nothing, of what is transparent, and of what is nearer than the near plane") {
  const int height = 24, width = 33;
  Scene scene;
  scene.camera.position = {0, 0, 2};
  scene.camera.forward = {0, 1, -0.4f};
  scene.camera.near_plane = 0.5f;
  scene.camera.far_plane = 12;
  scene.primitives = {glowing(Shape::plane, {0, 0, 1}, {0, 0, 0}, {1, 1, 1, 1}),
                      glowing(Shape::sphere, {1, 1, 1}, {0, 3, 1}, {1, 1, 1, 0.5f}),
                      glowing(Shape::box, {0.3f, 0.01f, 0.3f}, {0, 0.3f, 1.9f}, {1, 1, 1, 1})};
  const auto metres = depth(scene, height, width);
  int floor = 0, nothing = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const Point d = ray(scene.camera, height, width, x + 0.5, y + 0.5);
      const double truth = d.z < 0 && -2 / d.z < 12 ? -2 / d.z : 12;
      (truth < 12 ? floor : nothing)++;
      CAPTURE(x, y);
      REQUIRE(std::abs(metres[static_cast<std::size_t>(y) * width + x] - truth) < 1e-4 * truth);
    }
  CHECK(floor > 100);
  CHECK(nothing > 50);
}

TEST_CASE("depth needs room for every pixel, and leaves what lies behind the last one") {
  Scene scene;
  scene.primitives = {glowing(Shape::plane, {0, 0, 1}, {0, 0, -1}, {1, 1, 1, 1})};
  Caster caster;
  std::vector<float> metres(5 * 7 + 1, -1);
  CHECK_THROWS_AS(caster.draw_depth(scene, 5, 7, metres), Error);
  caster.draw_depth(scene, 5, 7, std::span(metres).first(5 * 7));
  CHECK(std::ranges::all_of(std::span(metres).first(5 * 7), [](float m) { return m > 0; }));
  CHECK(metres.back() == -1);
}
