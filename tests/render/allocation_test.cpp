#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../allocation.hpp"
#include "shapes.hpp"
import iap.core;
import iap.render;
import iap.sim;

using namespace iap;

TEST_CASE("drawing allocates nothing once it has drawn the same size") {
  const std::array<MujocoFile, 1> files{{{"shapes.xml", shapes_xml}}};
  MujocoWorld world(files);
  world.forward();
  for (const auto path : {DrawOptions::Path::cpu, DrawOptions::Path::gl}) {
    if (path == DrawOptions::Path::gl && describe_gl().starts_with("none")) SKIP("no OpenGL here: " + describe_gl());
    for (const int samples : {1, 4}) {
      MujocoCamera camera;
      const int size = 50;
      std::vector<std::uint8_t> rgb(size * size * 3);
      const DrawOptions options{.path = path, .samples = samples};
      camera.draw(world, 0, options, size, size, rgb);
      const long before = allocations;
      camera.draw(world, 1, options, size, size, rgb);
      CHECK(allocations == before);
    }
  }
}

TEST_CASE("meshes are drawn and measured without allocations once it was done at the same size") {
  Scene scene;
  scene.primitives = {{.shape = Shape::plane, .position = {0, 0, -1}}};
  scene.lights = {{.position = {0, 0, 5}, .diffuse = {1, 1, 1}, .casts_shadow = true}};
  const auto mesh =
      std::make_shared<const Mesh>(Triangles{.vertices = {-1, 3, -.5F, 1, 3, -.5F, 0, 3.5F, 1}, .indices = {0, 1, 2}});
  scene.meshes = {{.mesh = mesh}, {.mesh = mesh, .position = {0, 2, 0}}};
  Caster caster;
  std::vector<float> metres(32 * 24);
  std::vector<std::uint8_t> rgb(32 * 24 * 3);
  const auto both = [&] {
    caster.draw_depth(scene, 24, 32, metres);
    caster.draw(scene, {}, 24, 32, rgb);
  };
  both();
  scene.camera.position[0] = .5F;
  const long before = allocations;
  both();
  CHECK(allocations == before);
  CHECK(*std::ranges::min_element(metres) < 3.5F);
}

TEST_CASE("measuring depth allocates nothing once it has measured the same size") {
  Scene scene;
  scene.primitives.assign(20, Primitive{.shape = Shape::box, .size = {.1F, .1F, .1F}, .position = {0, 3, 0}});
  Caster caster;
  std::vector<float> metres(32 * 24);
  caster.draw_depth(scene, 24, 32, metres);
  scene.camera.position[0] = .5F;
  const long before = allocations;
  caster.draw_depth(scene, 24, 32, metres);
  CHECK(allocations == before);
}
