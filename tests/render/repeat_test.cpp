#include <hwy/highway.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shapes.hpp"
import iap.core;
import iap.envs;
import iap.envs.dm_control;
import iap.render;
import iap.sim;

using namespace iap;

namespace {

using Bytes = std::vector<std::uint8_t>;

// Under that sanitizer the threads of the OpenGL driver in software miss each other's signals and wait for ever.
bool no_gl() {
#if __has_feature(thread_sanitizer)
  return true;
#else
  return describe_gl().starts_with("none");
#endif
}

MujocoWorld shapes() {
  const std::array<MujocoFile, 1> files{{{"shapes.xml", shapes_xml}}};
  return MujocoWorld(files);
}

}  // namespace

TEST_CASE("a frame does not depend on the thread that draws it") {
  const int size = 64, threads = 4;
  MujocoWorld alone(dm_control_files("cheetah"));
  MujocoCamera camera;
  Bytes truth(size * size * 3);
  camera.draw(alone, 0, {}, size, size, truth);
  std::vector<MujocoWorld> worlds;
  std::vector<MujocoCamera> cameras(threads);
  for (int i = 0; i < threads; ++i) worlds.emplace_back(dm_control_files("cheetah"));
  std::vector<Bytes> frames(40, Bytes(truth.size()));
  parallel_for(frames.size(), threads, [&](std::size_t i, int worker) {
    cameras[worker].draw(worlds[worker], i % 2 ? 0 : 1, {}, 40, 90, std::span(frames[i]).first(40 * 90 * 3));
    cameras[worker].draw(worlds[worker], 0, {}, size, size, frames[i]);
  });
  for (const Bytes& frame : frames) REQUIRE((frame == truth));
}

TEST_CASE("an interrupt ends a picture, and the next one is whole again") {
  constexpr int size = 32;
  MujocoWorld world = shapes();
  MujocoCamera camera;
  Bytes truth(size * size * 3);
  camera.draw(world, 0, {}, size, size, truth);
  Bytes shown(truth.size());
  request_interrupt();
  CHECK_THROWS_AS(camera.draw(world, 0, {}, size, size, shown), Interrupted);
  clear_interrupt();
  camera.draw(world, 0, {}, size, size, shown);
  CHECK((shown == truth));
  Caster caster;
  Scene scene;
  scene.camera.position = {0, 0, 2};
  scene.camera.forward = {0, 0, -1};
  scene.camera.up = {0, 1, 0};
  std::vector<float> metres(size * size);
  scene.meshes.push_back(
      {.mesh = std::make_shared<const Mesh>(Triangles{.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .indices = {0, 1, 2}})});
  caster.draw_depth(scene, size, size, metres);
  request_interrupt();
  CHECK_THROWS_AS(caster.draw_depth(scene, size, size, metres), Interrupted);
  clear_interrupt();
}

TEST_CASE("an endless floor lies around the camera of its own picture, not of the one before") {
  constexpr std::string_view endless = R"(<mujoco><visual><map zfar="20"/></visual><statistic extent="2" center="0 0 0"/>
    <asset><texture name="grid" type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".8 .7 .6" width="64" height="64"/>
    <material name="grid" texture="grid" texrepeat="1 1" texuniform="true"/></asset>
    <worldbody><geom type="plane" size="0 0 1" material="grid"/>
    <body pos="0 0 .5"><camera pos="0 -3 1" xyaxes="1 0 0 0 .3 1" mode="trackcom"/><light mode="trackcom" pos="0 0 1" dir="0 .3 -1"/>
      <joint type="slide" axis="1 0 0"/><geom size=".2"/></body>
    </worldbody></mujoco>)";
  constexpr int size = 64;
  const std::array<MujocoFile, 1> files{{{"endless.xml", endless}}};
  for (const auto path : {DrawOptions::Path::cpu, DrawOptions::Path::gl}) {
    if (path == DrawOptions::Path::gl && no_gl()) continue;
    CAPTURE(path == DrawOptions::Path::gl);
    MujocoWorld world(files);
    DrawOptions options;
    options.path = path;
    const auto draw = [&](MujocoCamera& camera, double x) {
      world.reset();
      world.qpos()[0] = x;
      world.forward();
      Bytes rgb(size * size * 3);
      camera.draw(world, 0, options, size, size, rgb);
      return rgb;
    };
    MujocoCamera camera, fresh;
    const Bytes here = draw(camera, 0.3), first = draw(camera, 200), second = draw(camera, 200);
    CHECK((first == second));
    CHECK((draw(fresh, 200) == first));
    CHECK((draw(camera, 0.3) == here));
  }
}

TEST_CASE("a frame does not depend on the machine's SIMD") {
  auto world = shapes();
  world.forward();
  const int height = 61, width = 83;
  std::vector<Bytes> frames;
  for (const std::int64_t target : {HWY_EMU128, HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_NEON}) {
    hwy::SetSupportedTargetsForTest(0);
    if (target != HWY_EMU128 && !(hwy::SupportedTargets() & target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (int camera = 0; camera < 3; ++camera) {
      Bytes rgb(height * width * 3);
      MujocoCamera().draw(world, camera, {}, height, width, rgb);
      frames.push_back(rgb);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  REQUIRE(frames.size() >= 6);
  for (std::size_t i = 3; i < frames.size(); ++i) CHECK((frames[i] == frames[i - 3]));
}
