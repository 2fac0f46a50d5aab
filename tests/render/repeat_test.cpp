#include <hwy/highway.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <span>
#include <string>
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
