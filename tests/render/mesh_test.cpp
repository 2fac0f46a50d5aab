#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>
import iap.core;
import iap.render;
#include "scenes.hpp"

using namespace test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

// The twelve triangles of a box.
Triangles cube(Vec3 half) {
  Triangles result;
  for (int corner = 0; corner < 8; ++corner)
    for (int axis = 0; axis < 3; ++axis) result.vertices.push_back((corner >> axis & 1 ? 1.f : -1.f) * half[axis]);
  for (const std::uint32_t index :
       {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5})
    result.indices.push_back(index);
  return result;
}

// Triangles of all directions, each within a third of a metre.
Triangles crumpled(int count, std::uint64_t seed) {
  Random random(seed);
  Triangles result;
  for (int i = 0; i < count; ++i) {
    const Vec3 middle{static_cast<float>(random.uniform(-1, 1)), static_cast<float>(random.uniform(-1, 1)),
                      static_cast<float>(random.uniform(-1, 1))};
    for (int part = 0; part < 9; ++part) result.vertices.push_back(middle[part % 3] + static_cast<float>(random.uniform(-.3, .3)));
  }
  for (int i = 0; i < 3 * count; ++i) result.indices.push_back(static_cast<std::uint32_t>(i));
  return result;
}

// Moeller and Trumbore (1997) over all triangles: the least t beyond `from`.
double nearest(const Triangles& mesh, Point origin, Point direction, double from) {
  double best = std::numeric_limits<double>::infinity();
  const auto vertex = [&](std::size_t corner) {
    const float* at = mesh.vertices.data() + 3 * static_cast<std::size_t>(mesh.indices[corner]);
    return Point{at[0], at[1], at[2]};
  };
  for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
    const Point a = vertex(i), ab = vertex(i + 1) - a, ac = vertex(i + 2) - a;
    const Point p = cross(direction, ac);
    const double determinant = dot(ab, p);
    if (std::abs(determinant) < 1e-12) continue;
    const Point s = origin - a, q = cross(s, ab);
    const double u = dot(s, p) / determinant, v = dot(direction, q) / determinant, t = dot(ac, q) / determinant;
    if (u >= 0 && v >= 0 && u + v <= 1 && t >= from) best = std::min(best, t);
  }
  return best;
}

Scene looking() {
  Scene scene;
  scene.camera.position = {.4f, -3.5f, 1.2f};
  scene.camera.forward = {-.1f, 1, -.35f};
  scene.camera.far_plane = 30;
  return scene;
}

std::vector<float> depth(const Scene& scene, int height, int width) {
  Caster caster;
  std::vector<float> metres(static_cast<std::size_t>(height) * width);
  caster.draw_depth(scene, height, width, metres);
  return metres;
}

}  // namespace

TEST_CASE("rays meet a mesh where a loop over all its triangles says") {
  const Triangles triangles = crumpled(300, 4);
  const Mesh mesh(triangles);
  Random random(9);
  int hits = 0, different = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto three = [&] {
      return Vec3{static_cast<float>(random.normal()), static_cast<float>(random.normal()), static_cast<float>(random.normal())};
    };
    const Vec3 origin = three(), direction = three();
    const double truth = nearest(triangles, point(origin), point(direction), .01);
    const auto hit = mesh.hit(origin, direction, .01f, 50);
    hits += hit.has_value();
    if (hit.has_value() != (truth <= 50)) {
      ++different;
      continue;
    }
    CHECK(mesh.blocks(origin, direction, .01f, 50) == hit.has_value());
    if (!hit) continue;
    different += std::abs(hit->t - truth) > 1e-5 * (1 + truth);
    CHECK(std::abs(norm(point(hit->normal)) - 1) < 1e-5);
    CHECK(dot(point(hit->normal), point(direction)) <= 0);
  }
  CHECK(hits > 900);
  CHECK(different <= 4);  // rays that graze an edge
}

TEST_CASE("colours are interpolated between the corners of a triangle") {
  const Mesh mesh({.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .indices = {0, 1, 2}, .colours = {1, 0, 0, 0, 1, 0, 0, 0, .5f}});
  for (const auto& [x, y] : {std::pair{.25f, .25f}, {.1f, .7f}, {.6f, .3f}}) {
    const auto hit = mesh.hit({x, y, 2}, {0, 0, -4}, 0, 10);
    REQUIRE(hit);
    CHECK(std::abs(hit->t - .5f) < 1e-6);
    CHECK(hit->normal == Vec3{0, 0, 1});
    CHECK(std::abs(hit->rgb[0] - (1 - x - y)) < 1e-6);
    CHECK(std::abs(hit->rgb[1] - x) < 1e-6);
    CHECK(std::abs(hit->rgb[2] - y / 2) < 1e-6);
  }
  CHECK_FALSE(mesh.hit({.9f, .9f, 2}, {0, 0, -1}, 0, 10));
  CHECK_FALSE(mesh.hit({.2f, .2f, 2}, {0, 0, -1}, 0, 1.9f));
}

TEST_CASE("a cube of triangles looks like the box, in depth and in the light, with its shadow and among other solids") {
  const Vec3 half{.5f, .3f, .4f}, position{.1f, .2f, .5f};
  const Mat3 turned = rotation(.7, {.2, .1, 1});
  Scene boxes = looking();
  boxes.lights = {
      {.ambient = {.3f, .3f, .3f}, .diffuse = {.3f, .3f, .3f}, .headlight = true},
      {.position = {1, -2, 5},
       .direction = {-.1f, .4f, -1},
       .diffuse = {.6f, .5f, .4f},
       .cutoff_degrees = 60,
       .casts_shadow = true},
      {.position = {0, 0, 6}, .direction = {.5f, .3f, -1}, .diffuse = {.2f, .2f, .4f}, .directional = true, .casts_shadow = true}};
  boxes.shadow = {.cutoff_scale = 1, .directional_half_width = 100};
  boxes.primitives = {{.shape = Shape::plane, .rgba = {.7f, .7f, .6f, 1}, .specular = 0},
                      {.shape = Shape::sphere, .size = {.4f, .4f, .4f}, .position = {.7f, -.2f, .9f}, .rgba = {.2f, .8f, .3f, 1}}};
  Scene meshes = boxes;
  boxes.primitives.push_back(
      {.shape = Shape::box, .size = half, .position = position, .rotation = turned, .rgba = {.8f, .4f, .2f, 1}, .specular = 0});
  meshes.meshes.push_back({std::make_shared<const Mesh>(cube(half)), position, turned, {.8f, .4f, .2f}});
  const int height = 61, width = 83;
  const auto a = depth(boxes, height, width), b = depth(meshes, height, width);
  const auto bare = [&] {
    Scene none = meshes;
    none.meshes.clear();
    return depth(none, height, width);
  }();
  int apart = 0, of_mesh = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    apart += std::abs(a[i] - b[i]) > 1e-4;
    of_mesh += b[i] < bare[i];
  }
  CHECK(of_mesh > 300);
  CHECK(apart <= 3);
  for (const int samples : {1, 4}) {
    const auto of_boxes = draw(boxes, height, width, {.samples = samples}),
               of_meshes = draw(meshes, height, width, {.samples = samples});
    int different = 0;
    for (std::size_t i = 0; i < of_boxes.size(); ++i) different += std::abs(of_boxes[i] - of_meshes[i]) > 1;
    CAPTURE(samples, different);
    CHECK(different <= 3 * 30);  // at the outlines of cube and shadow
  }
  // It is its shadow that makes the floor dark: without, more than the outlines differ.
  const auto lit = draw(meshes, height, width), without = draw(meshes, height, width, {.shadows = false});
  int darker = 0;
  for (std::size_t i = 0; i < lit.size(); ++i) darker += lit[i] + 20 < without[i];
  CHECK(darker > 300);
}

TEST_CASE("a cube of triangles shines, glows and is mirrored as the box is") {
  const Vec3 half{.5f, .3f, .4f}, position{.1f, .2f, .9f};
  const Mat3 turned = rotation(.7, {.2, .1, 1});
  Scene boxes = looking();
  boxes.lights = {{.position = {1, -4, 5},
                   .ambient = {.2f, .2f, .2f},
                   .diffuse = {.6f, .5f, .4f},
                   .specular = {.9f, .9f, .9f},
                   .cutoff_degrees = 180}};
  boxes.primitives = {{.shape = Shape::plane, .rgba = {.2f, .2f, .3f, 1}, .specular = 0, .reflectance = .6f}};
  Scene meshes = boxes, none = boxes;
  boxes.primitives.push_back({.shape = Shape::box,
                              .size = half,
                              .position = position,
                              .rotation = turned,
                              .rgba = {.8f, .4f, .2f, 1},
                              .emission = .2f,
                              .specular = .7f,
                              .shininess = .1f});
  meshes.meshes.push_back({std::make_shared<const Mesh>(cube(half)), position, turned, {.8f, .4f, .2f}, .2f, .7f, .1f});
  meshes.meshes.push_back({std::make_shared<const Mesh>(cube({.1f, .1f, .1f})), {0, 0, -1}});  // below the floor
  const int height = 61, width = 83;
  const auto of_boxes = draw(boxes, height, width), of_meshes = draw(meshes, height, width);
  const auto unmirrored = draw(boxes, height, width, {.reflection = false});
  int different = 0, mirrored = 0;
  for (std::size_t i = 0; i < of_boxes.size(); ++i) {
    different += std::abs(of_boxes[i] - of_meshes[i]) > 1;
    mirrored += std::abs(of_boxes[i] - unmirrored[i]) > 10;
  }
  CHECK(different <= 3 * 40);  // at the outlines of cube and image
  CHECK(mirrored > 300);
}

TEST_CASE("normals are blended between the corners of a triangle, towards whoever looks") {
  const Mesh mesh({.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .indices = {0, 1, 2}, .normals = {0, 0, 1, 2, 0, 2, 0, 1, 1}});
  const float x = .25f, y = .5f, rest = 1 - x - y;
  const Vec3 sum{2 * x, y, rest + 2 * x + y};
  const float length = std::sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
  for (const float side : {1.f, -1.f}) {
    const auto hit = mesh.hit({x, y, 2 * side}, {0, 0, -side}, 0, 10);
    REQUIRE(hit);
    for (int i = 0; i < 3; ++i) CHECK(std::abs(hit->normal[i] - side * sum[i] / length) < 1e-6);
  }
}

TEST_CASE("normals far from their triangle's own stay as they are, as MuJoCo draws them") {
  constexpr float edge = .6f, tilt = .8f;
  const Mesh mesh(
      {.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .indices = {0, 1, 2}, .normals = {edge, 0, -tilt, edge, 0, -tilt, edge, 0, -tilt}});
  for (const float side : {1.f, -1.f}) {
    const auto hit = mesh.hit({.25f, .25f, 2 * side}, {0, 0, -side}, 0, 10);
    REQUIRE(hit);
    CHECK(std::abs(hit->normal[0] - side * edge) < 1e-6);
    CHECK(std::abs(hit->normal[2] + side * tilt) < 1e-6);
  }
}

TEST_CASE("a place in an image is linear over the plane of a triangle") {
  const Mesh mesh({.vertices = {0, 0, 1, 2, 0, 1, 0, 4, 1}, .indices = {0, 1, 2}, .texcoords = {.1f, .2f, .5f, .2f, .1f, 1}});
  for (const auto& [x, y] : {std::pair{.5f, .5f}, {0.f, 0.f}, {3.f, -1.f}}) {
    const auto place = mesh.texture_place(0, {x, y, 1});
    CHECK(std::abs(place[0] - (.1f + .2f * x)) < 1e-6);
    CHECK(std::abs(place[1] - (.2f + .2f * y)) < 1e-6);
  }
  CHECK(Mesh({.vertices = {0, 0, 1, 2, 0, 1, 0, 4, 1}, .indices = {0, 1, 2}}).texture_place(0, {.5f, .7f, 1}) ==
        std::array{.5f, .7f});
}

TEST_CASE("one mesh serves several places and many threads with the same bits") {
  Scene scene = looking();
  const auto mesh = std::make_shared<const Mesh>(crumpled(2000, 7));
  scene.lights = {{.diffuse = {.5f, .5f, .5f}, .headlight = true},
                  {.position = {0, 0, 4}, .diffuse = {.5f, .5f, .5f}, .casts_shadow = true}};
  scene.meshes = {{mesh, {-1, 0, 0}, rotation(1, {1, 0, 0})}, {mesh, {1, 1, 0}, rotation(2, {1, 1, 0}), {1, .5f, .5f}}};
  const auto picture = draw(scene, 40, 50);
  const auto metres = depth(scene, 40, 50);
  std::vector<Bytes> pictures(4);
  std::vector<std::vector<float>> depths(4);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        for (int round = 0; round < 5; ++round) {
          pictures[i] = draw(scene, 40, 50);
          depths[i] = depth(scene, 40, 50);
        }
      });
  }
  for (int i = 0; i < 4; ++i) {
    CHECK(pictures[i] == picture);
    CHECK(depths[i] == metres);
  }
  // Built anew, it is the same.
  for (auto& instance : scene.meshes) instance.mesh = std::make_shared<const Mesh>(crumpled(2000, 7));
  CHECK(draw(scene, 40, 50) == picture);
  CHECK(std::ranges::count_if(metres, [](float m) { return m < 30; }) > 300);
}

TEST_CASE("what is no mesh is an error") {
  const auto refuses = [](Triangles triangles, const char* why) {
    CAPTURE(why);
    CHECK_THROWS_MATCHES(Mesh(std::move(triangles)), Error, MessageMatches(ContainsSubstring(why)));
  };
  refuses({}, "must be one");
  refuses({.vertices = {0, 0}, .indices = {0, 0, 0}}, "must be one");
  refuses({.vertices = {0, 0, 0, 1, 0, 0}, .indices = {0, 1, 2}}, "no vertex 2");
  refuses({.vertices = {0, 0, 0, 1, 0, NAN, 0, 1, 0}, .indices = {0, 1, 2}}, "finite");
  refuses({.vertices = {0, 0, 0, 1, 0, 1e9f, 0, 1, 0}, .indices = {0, 1, 2}}, "within");
  refuses({.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .indices = {0, 1, 2}, .colours = {1, 1, 1}}, "parts of colours");
  refuses({.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .indices = {0, 1, 2}, .colours = {1, 1, 1, 1, 1, 1, 1, 1, 2}}, "from 0 to 1");
  refuses({.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .indices = {0, 1, 2}, .normals = {0, 0, 1}}, "parts of normals");
  refuses({.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .indices = {0, 1, 2}, .normals = {0, 0, 1, 0, 0, 1, 0, 0, NAN}},
          "its parts must be finite");
  refuses({.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .indices = {0, 1, 2}, .texcoords = {0, 0, 1}}, "texture coordinates");
  Scene scene = looking();
  scene.meshes.emplace_back();
  Caster caster;
  Bytes rgb(12);
  CHECK_THROWS_MATCHES(caster.draw(scene, {}, 2, 2, rgb), Error, MessageMatches(ContainsSubstring("without a mesh")));
  // A triangle without a surface is none to be seen, and no error.
  const Mesh flat({.vertices = {0, 0, 0, 1, 0, 0, 2, 0, 0}, .indices = {0, 1, 2}});
  CHECK_FALSE(flat.hit({.5f, 0, 1}, {0, 0, -1}, 0, 10));
}

TEST_CASE("rays that are not finite, or very long, meet no mesh, and a mesh at such a place is nowhere") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto mesh = std::make_shared<const Mesh>(cube({1, 1, 1}));
  REQUIRE(mesh->hit({0, 0, 5}, {0, 0, -1}, 0, 10));
  CHECK(mesh->hit({0, 0, 5}, {0, 0, -1}, 0, infinity));
  for (const auto& [from, to] : {std::pair{nan, 10.f}, {0.f, nan}, {infinity, -infinity}}) {
    CHECK_FALSE(mesh->hit({0, 0, 5}, {0, 0, -1}, from, to));
    CHECK_FALSE(mesh->blocks({0, 0, 5}, {0, 0, -1}, from, to));
  }
  Scene scene = looking();
  scene.primitives = {{.shape = Shape::plane, .rgba = {.7f, .7f, .6f, 1}, .reflectance = .4f}};
  scene.lights = {{.diffuse = {.3f, .3f, .3f}, .headlight = true},
                  {.position = {0, 0, 6}, .diffuse = {.5f, .5f, .5f}, .cutoff_degrees = 60, .casts_shadow = true}};
  scene.meshes = {{mesh, {0, 0, 1.5f}}};
  const auto picture = draw(scene, 20, 30);
  const auto metres = depth(scene, 20, 30);
  for (const float odd : {nan, infinity, -infinity, 1e19f, -3e38f}) {
    CAPTURE(odd);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Vec3 origin{0, 0, 5}, direction{0, 0, -1};
      origin[axis] = odd;
      CHECK_FALSE(mesh->hit(origin, direction, 0, 10));
      CHECK_FALSE(mesh->blocks(origin, direction, 0, 10));
      origin = {0, 0, 5};
      direction[axis] = odd;
      CHECK_FALSE(mesh->hit(origin, direction, 0, 10));
      CHECK_FALSE(mesh->blocks(origin, direction, 0, 10));
      Scene other = scene;
      other.meshes.push_back({mesh, {0, 0, 0}});
      other.meshes.back().position[axis] = odd;
      CHECK(draw(other, 20, 30) == picture);
      CHECK(depth(other, 20, 30) == metres);
      other = scene;
      other.lights[1].position[axis] = odd;
      CHECK_NOTHROW(draw(other, 20, 30));
      other.camera.position[axis] = odd;
      CHECK_NOTHROW(draw(other, 20, 30));
    }
    Scene other = scene;
    other.camera.forward = {odd, odd, odd};
    CHECK_NOTHROW(draw(other, 20, 30));
    if (std::isfinite(odd)) continue;
    other = scene;
    other.meshes.push_back({mesh, {0, 0, 0}});
    other.meshes.back().rotation.fill(odd);
    CHECK(draw(other, 20, 30) == picture);
  }
}
