#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>
import iap.core;
import iap.render;
#include "scenes.hpp"

using namespace test;

namespace {

// The red component that OpenGL's specification gives a point of an upright surface: one light, material with colour 1.
double lit(const Light& light, Point p, Point eye, const Primitive& surface) {
  const bool far = light.directional;
  const Point toward = far ? unit(point(light.direction)) * -1 : unit(point(light.position) - p);
  double strength = 1;
  if (!far) {
    const double d = norm(point(light.position) - p);
    strength = 1 / (light.attenuation[0] + light.attenuation[1] * d + light.attenuation[2] * d * d);
    const double along = -dot(toward, unit(point(light.direction)));
    strength *= along >= std::cos(light.cutoff_degrees * std::numbers::pi / 180) ? std::pow(along, light.exponent) : 0;
  }
  const double incidence = toward.z;
  const Point half = unit(toward + unit(eye - p));
  double sum = light.ambient[0] + std::max(incidence, 0.0) * light.diffuse[0];
  if (incidence > 0) sum += std::pow(std::max(half.z, 0.0), surface.shininess * 128) * light.specular[0] * surface.specular;
  return std::clamp(strength * sum, 0.0, 1.0);
}

Scene floor_scene() {
  Scene scene;
  Primitive floor;
  floor.shape = Shape::plane;
  floor.size = {0, 0, 1};
  floor.rgba = {1, 1, 1, 1};
  floor.specular = 0.7f;
  floor.shininess = 0.3f;
  scene.primitives = {floor};
  scene.camera.position = {0, -3, 2};
  scene.camera.forward = {0, 1, -0.7f};
  scene.shadow = {1, 50};
  return scene;
}

}  // namespace

TEST_CASE("light follows OpenGL's equation at each pixel, and shadows fall where a ball hides the light") {
  const int height = 60, width = 80;
  std::array<Light, 3> lights;
  lights[0].directional = true;
  lights[0].position = {-1.5f, 0.5f, 5};
  lights[0].direction = {0.3f, -0.1f, -1};
  lights[0].diffuse = {0.5f, 0.5f, 0.5f};
  lights[0].specular = {0.8f, 0.8f, 0.8f};
  lights[1].position = {0.5f, -0.5f, 3};
  lights[1].direction = {-0.1f, 0.1f, -1};
  lights[1].diffuse = {0.9f, 0.9f, 0.9f};
  lights[1].ambient = {0.1f, 0.1f, 0.1f};
  lights[1].attenuation = {0.5f, 0.2f, 0.05f};
  lights[1].cutoff_degrees = 35;
  lights[1].exponent = 3;
  lights[2] = lights[1];
  lights[2].specular = {1, 1, 1};
  lights[2].cutoff_degrees = 60;
  lights[2].exponent = 0;
  const Vec3 centre{0.1f, 0.2f, 0.8f};
  const float radius = 0.3f;
  for (std::size_t which = 0; which < lights.size(); ++which) {
    for (const bool shadows : {false, true}) {
      Scene scene = floor_scene();
      scene.primitives.push_back(glowing(Shape::sphere, {radius, radius, radius}, centre, {0, 0, 1, 1}));
      scene.lights = {lights[which]};
      scene.lights[0].casts_shadow = true;
      const Bytes rgb = draw(scene, height, width, {.shadows = shadows});
      const Point eye = point(scene.camera.position);
      int dark_pixels = 0, judged = 0;
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          const Point d = ray(scene.camera, height, width, x + 0.5, y + 0.5);
          if (d.z >= 0 || -2 / d.z > 100) continue;
          const std::size_t at = 3 * (static_cast<std::size_t>(y) * width + x);
          if (rgb[at + 2] > rgb[at]) continue;  // the ball
          const Point p = eye + d * (-2 / d.z);
          const Light& light = lights[which];
          // How close the line from the point to the light passes the ball.
          const Point toward = light.directional ? unit(point(light.direction)) * -1 : unit(point(light.position) - p);
          const Point to_ball = point(centre) - p;
          const double miss = norm(to_ball - toward * dot(to_ball, toward));
          const double edge = std::acos(std::clamp(-dot(toward, unit(point(light.direction))), -1.0, 1.0)) * 180 / std::numbers::pi;
          if (std::abs(miss - radius) < 1e-3 || (!light.directional && std::abs(edge - light.cutoff_degrees) < 1e-2)) continue;
          const bool dark = shadows && miss < radius;
          const double truth = dark ? 0 : 255 * lit(light, p, eye, scene.primitives[0]);
          dark_pixels += dark;
          ++judged;
          CAPTURE(which, x, y);
          REQUIRE(std::abs(rgb[at] - truth) <= 0.51);
        }
      }
      CHECK(judged > 2000);
      CHECK((dark_pixels > 40) == shadows);
    }
  }
}

// What OpenGL makes of a floor of 1.1 x 0.6 m (half sizes) whose cells are 0.25 m wide (half): corners at -1.1, -1, -0.5, 0, 0.5,
// 1, 1.1 and -0.6, -0.5, 0, 0.5, 0.6; each cell two triangles that share the edge between its right lower and left upper corner.
TEST_CASE("light of a plane with cells is that of their corners, interpolated over triangles") {
  const int height = 60, width = 80;
  const std::vector<double> xs{-1.1, -1, -0.5, 0, 0.5, 1, 1.1}, ys{-0.6, -0.5, 0, 0.5, 0.6};
  Scene scene = floor_scene();
  scene.primitives[0].size = {1.1f, 0.6f, 1};
  scene.primitives[0].light_cell = {0.25f, 0.25f};
  scene.camera.position = {0.2f, -1.4f, 1.2f};
  scene.lights.resize(1);
  Light& light = scene.lights[0];
  light.position = {0.3f, 0.1f, 0.7f};
  light.diffuse = {0.9f, 0.9f, 0.9f};
  light.specular = {0.5f, 0.5f, 0.5f};
  light.ambient = {0.05f, 0.05f, 0.05f};
  light.cutoff_degrees = 50;
  light.exponent = 4;
  const Point eye = point(scene.camera.position);
  const auto corner = [&](std::size_t i, std::size_t j) { return lit(light, {xs[i], ys[j], 0}, eye, scene.primitives[0]); };
  for (const bool shadow : {false, true}) {
    light.casts_shadow = shadow;
    const Bytes rgb = draw(scene, height, width);
    int judged = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const Point d = ray(scene.camera, height, width, x + 0.5, y + 0.5);
        const Point p = eye + d * (-eye.z / d.z);
        if (std::abs(p.x) > 1.099 || std::abs(p.y) > 0.599 || d.z >= 0) continue;
        std::size_t i = 0, j = 0;
        while (p.x > xs[i + 1]) ++i;
        while (p.y > ys[j + 1]) ++j;
        const double u = (p.x - xs[i]) / (xs[i + 1] - xs[i]), v = (p.y - ys[j]) / (ys[j + 1] - ys[j]);
        const double right = corner(i + 1, j), upper = corner(i, j + 1), low = corner(i, j), high = corner(i + 1, j + 1);
        const double truth =
            u + v <= 1 ? low + u * (right - low) + v * (upper - low) : high + (1 - u) * (upper - high) + (1 - v) * (right - high);
        CAPTURE(x, y, shadow);
        REQUIRE(std::abs(rgb[3 * (static_cast<std::size_t>(y) * width + x)] - 255 * truth) <= 0.55);
        ++judged;
      }
    }
    CHECK(judged > 1000);
  }
}

TEST_CASE("a light without a cone, headlights and the light of a scene without lights") {
  Scene scene = floor_scene();
  scene.primitives[0].specular = 0;
  const auto middle = [&] { return draw(scene, 9, 9)[3 * 40]; };
  CHECK(middle() == 77);  // 0.3 ambient
  scene.lights.resize(1);
  CHECK(middle() == 0);
  scene.lights[0].ambient = {0.2f, 0.2f, 0.2f};
  scene.lights[0].cutoff_degrees = 180;
  scene.lights[0].exponent = 0;
  scene.lights[0].position = {9, 9, -9};
  CHECK(middle() == 51);
  scene.lights[0].headlight = scene.lights[0].directional = true;
  scene.lights[0].diffuse = {0.5f, 0.5f, 0.5f};
  const double slope = 0.7 / std::sqrt(1 + 0.49);
  CHECK(std::abs(middle() - 255 * (0.2 + 0.5 * slope)) <= 0.51);
}

TEST_CASE("shadows end where MuJoCo's shadow map would, and only opaque surfaces take them") {
  Scene scene = floor_scene();
  scene.primitives.push_back(glowing(Shape::box, {9, 9, 0.1f}, {0, 0, 8}, {0, 0, 0, 1}));
  scene.lights.resize(1);
  scene.lights[0].directional = scene.lights[0].casts_shadow = true;
  scene.lights[0].position = {0, 0, 10};
  scene.lights[0].ambient = {1, 1, 1};
  const int size = 60;
  for (const float half : {0.5f, 2.0f}) {
    scene.shadow.directional_half_width = half;
    const Bytes rgb = draw(scene, size, size);
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const Point d = ray(scene.camera, size, size, x + 0.5, y + 0.5);
        const Point p = point(scene.camera.position) + d * (-2 / d.z);
        const double reach = std::max(std::abs(p.x), std::abs(p.y));
        if (std::abs(reach - half) < 1e-3) continue;
        CAPTURE(x, y, half);
        REQUIRE(rgb[3 * (static_cast<std::size_t>(y) * size + x)] == (reach < half ? 0 : 255));
      }
    }
  }
  scene.primitives[0].rgba[3] = 0.5f;
  CHECK(draw(scene, 9, 9)[3 * 40] == 191);
}

TEST_CASE("a mirror adds its share of what stands above it") {
  const int size = 80;
  Scene scene = floor_scene();
  scene.lights = {dark()};
  scene.primitives[0] = glowing(Shape::plane, {2, 2, 1}, {0, 0, 0}, {0.2f, 0.2f, 0.2f, 1});
  scene.primitives[0].reflectance = 0.5f;
  const float radius = 0.4f;
  // Half of the second ball is under the floor and shows in no mirror.
  const std::array<Vec3, 2> centres{{{0.5f, 0.5f, 1}, {-0.7f, 0.2f, 0}}};
  for (const Vec3& centre : centres)
    scene.primitives.push_back(glowing(Shape::sphere, {radius, radius, radius}, centre, {0, 0.8f, 0, 1}));
  for (const bool reflection : {true, false}) {
    const Bytes rgb = draw(scene, size, size, {.reflection = reflection});
    const Point eye = point(scene.camera.position), mirrored{eye.x, eye.y, -eye.z};
    int reflected = 0;
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const Point d = ray(scene.camera, size, size, x + 0.5, y + 0.5), up{d.x, d.y, -d.z};
        const double floor_depth = -2 / d.z;
        bool near_edge = false;
        const auto depth = [&](const Vec3& centre, Point from, Point along) {
          const double closest = dot(point(centre) - from, along) / dot(along, along);
          const double miss = norm(from + along * closest - point(centre));
          near_edge = near_edge || std::abs(miss - radius) < 1e-3;
          return miss < radius ? closest - std::sqrt((radius * radius - miss * miss) / dot(along, along)) : -1;
        };
        bool hidden = false, shown = false;
        for (const Vec3& centre : centres) {
          const double front = depth(centre, eye, d), image = depth(centre, mirrored, up);
          hidden = hidden || (front > 0 && front < floor_depth);
          near_edge = near_edge || std::abs(front - floor_depth) < 1e-2 || std::abs(image - floor_depth) < 1e-2;
          shown = shown || image > floor_depth;
        }
        const Point p = eye + d * floor_depth;
        if (d.z >= 0 || std::max(std::abs(p.x), std::abs(p.y)) > 1.999 || hidden || near_edge) continue;
        reflected += shown && reflection;
        CAPTURE(x, y);
        REQUIRE(rgb[3 * (static_cast<std::size_t>(y) * size + x) + 1] == (shown && reflection ? 153 : 51));
      }
    }
    CHECK((reflected > 50) == reflection);
  }
}

TEST_CASE("a plane whose half size is not finite, or as good as that, has no end") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Scene scene = floor_scene();
  scene.lights.resize(1);
  scene.lights[0].position = {0.3f, 0.1f, 2};
  scene.lights[0].diffuse = {0.9f, 0.9f, 0.9f};
  scene.lights[0].specular = {0.5f, 0.5f, 0.5f};
  const Bytes smooth = draw(scene, 30, 40);
  scene.primitives[0].light_cell = {0.25f, 0.25f};
  const Bytes cells = draw(scene, 30, 40);
  CHECK(cells != smooth);
  for (const float odd : {infinity, nan, 1e38f})
    for (std::size_t axis = 0; axis < 2; ++axis) {
      CAPTURE(odd, axis);
      Scene other = scene;
      other.primitives[0].size[axis] = odd;
      CHECK(draw(other, 30, 40) == cells);
      other = scene;
      other.primitives[0].light_cell[axis] = odd;
      CHECK(draw(other, 30, 40) == smooth);
    }
}

TEST_CASE("solids at places that are not finite show nothing, and images without finite repeats are drawn") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Scene scene = floor_scene();
  scene.textures = {std::make_shared<const Texture>(Texture::Kind::flat, 8, 8, Bytes(8 * 8 * 3, 200))};
  scene.primitives[0].texture = 0;
  scene.lights.resize(1);
  scene.lights[0].position = {0, 0, 3};
  scene.lights[0].diffuse = {0.9f, 0.9f, 0.9f};
  scene.lights[0].casts_shadow = true;
  const Bytes bare = draw(scene, 30, 40);
  for (const float odd : {nan, infinity, -infinity, 1e30f}) {
    for (const Shape shape : {Shape::sphere, Shape::capsule, Shape::ellipsoid, Shape::cylinder, Shape::box})
      for (const float alpha : {1.f, 0.5f}) {
        CAPTURE(odd, static_cast<int>(shape), alpha);
        Scene other = scene;
        for (int i = 0; i < 40; ++i) {
          const float shift = static_cast<float>(i * 7 % 40);  // behind the camera, in no order
          other.primitives.push_back(glowing(shape, {0.1f, 0.1f, 0.1f}, {odd, 0, shift}, {1, 0, 0, alpha}));
          other.primitives.push_back(glowing(shape, {0.1f, 0.1f, 0.1f}, {0, -10 - shift, 2}, {1, 0, 0, alpha}));
        }
        CHECK(draw(other, 30, 40) == bare);
      }
    Scene other = scene;
    other.primitives[0].texture_repeat = {odd, 1};
    CHECK_NOTHROW(draw(other, 30, 40));
  }
  scene.camera.vertical_fov_degrees = 1e-30f;
  CHECK_NOTHROW(draw(scene, 30, 40));
}
