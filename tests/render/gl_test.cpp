#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
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

bool no_gl() { return describe_gl().starts_with("none"); }

DrawOptions with(DrawOptions::Path path, int bits) {
  DrawOptions options;
  options.path = path;
  options.shadows = bits & 1;
  options.reflection = bits & 2;
  options.sky = bits & 4;
  return options;
}

double mean_difference(const Bytes& a, const Bytes& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

// The share of bytes that differ visibly: edges fall differently, and no more than that.
double share_beyond(const Bytes& a, const Bytes& b, int limit) {
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += std::abs(a[i] - b[i]) > limit;
  return count / static_cast<double>(a.size());
}

void shake(MujocoWorld& world, std::uint64_t seed) {
  Random random(seed);
  world.reset();
  for (std::size_t i = 0; i < world.qpos().size(); ++i) world.qpos()[i] += 0.4 * random.normal();
  world.forward();
}

MujocoWorld shapes() {
  const std::array<MujocoFile, 1> files{{{"shapes.xml", shapes_xml}}};
  return MujocoWorld(files);
}

}  // namespace

TEST_CASE("the caster draws the suite's models as MuJoCo's OpenGL does") {
#if __has_feature(thread_sanitizer)
  SKIP("under this sanitizer the threads of the OpenGL driver in software miss each other's signals and wait for ever");
#endif
  if (no_gl()) SKIP("no OpenGL here: " + describe_gl());
  // With shadows, GPUs differ a little over whole floors.
  const double most = describe_gl().find("llvmpipe") == std::string::npos ? 3 : 1;
  for (const auto& model : dm_control_models()) {
    MujocoWorld world(dm_control_files(model));
    const int cameras = static_cast<int>(world.names("camera").size());
    for (const auto [height, width] : {std::array{100, 100}, std::array{240, 320}}) {
      MujocoCamera first, second;
      Bytes cpu(height * width * 3), gl(cpu.size());
      for (std::uint64_t seed = 0; seed < 2; ++seed) {
        shake(world, seed);
        for (int camera = 0; camera < cameras; ++camera) {
          for (const int bits : {0, 1, 2, 4, 7}) {
            if (height > 100 && bits != 7) continue;
            CAPTURE(model, height, seed, camera, bits);
            first.draw(world, camera, with(DrawOptions::Path::cpu, bits), height, width, cpu);
            second.draw(world, camera, with(DrawOptions::Path::gl, bits), height, width, gl);
            CHECK(mean_difference(cpu, gl) <= most);
            CHECK(share_beyond(cpu, gl, 24) <= 0.01);
          }
        }
      }
    }
  }
}

// `test_render "[measure]"` prints how far apart the two are, and leaves pictures in the folder IAP_PICTURES.
TEST_CASE("the caster is measured against OpenGL", "[.][measure]") {
  for (const auto& model : dm_control_models()) {
    MujocoWorld world(dm_control_files(model));
    MujocoCamera first, second;
    for (const auto [height, width] : {std::array{100, 100}, std::array{240, 320}}) {
      Bytes cpu(height * width * 3), gl(cpu.size());
      for (int bits = 0; bits < 8; ++bits) {
        std::printf("%-12s %3d x %3d %s%s%s", model.c_str(), height, width, bits & 1 ? " shadows" : "        ",
                    bits & 2 ? " reflection" : "           ", bits & 4 ? " sky" : "    ");
        const int camera = 0;
        double sum = 0, worst = 0;
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
          shake(world, seed);
          first.draw(world, camera, with(DrawOptions::Path::cpu, bits), height, width, cpu);
          second.draw(world, camera, with(DrawOptions::Path::gl, bits), height, width, gl);
          const double d = mean_difference(cpu, gl);
          sum += d / 4;
          worst = std::max(worst, d);
          if (const char* folder = std::getenv("IAP_PICTURES"); folder && seed == 0 && (bits == 7 || bits == 0)) {
            const std::string name = std::string(folder) + "/" + model + "_" + std::to_string(height) + "_" + std::to_string(bits);
            write_png(name + "_cpu.png", {{height, width, 3, PixelType::uint8}, cpu.data()});
            write_png(name + "_gl.png", {{height, width, 3, PixelType::uint8}, gl.data()});
            Bytes difference(cpu.size());
            for (std::size_t i = 0; i < cpu.size(); ++i)
              difference[i] = static_cast<std::uint8_t>(std::min(255, 8 * std::abs(cpu[i] - gl[i])));
            write_png(name + "_diff.png", {{height, width, 3, PixelType::uint8}, difference.data()});
          }
        }
        std::printf("  mean %.2f worst %.2f\n", sum, worst);
      }
    }
  }
}

TEST_CASE("every shape, light and texture, transparency, endless floors and haze agree, too") {
  if (no_gl()) SKIP("no OpenGL here: " + describe_gl());
  auto world = shapes();
  world.forward();
  MujocoCamera first, second;
  const int height = 150, width = 200;
  Bytes cpu(height * width * 3), gl(cpu.size());
  for (int camera = 0; camera < 3; ++camera) {
    for (int bits = 0; bits < 8; ++bits) {
      CAPTURE(camera, bits);
      first.draw(world, camera, with(DrawOptions::Path::cpu, bits), height, width, cpu);
      second.draw(world, camera, with(DrawOptions::Path::gl, bits), height, width, gl);
      CHECK(mean_difference(cpu, gl) <= 1);
      CHECK(share_beyond(cpu, gl, 24) <= 0.02);
    }
  }
}

TEST_CASE("several samples per pixel smooth the same picture on both paths") {
  if (no_gl()) SKIP("no OpenGL here: " + describe_gl());
  MujocoWorld world(dm_control_files("cartpole"));
  MujocoCamera camera;
  const int size = 84;
  Bytes cpu(size * size * 3), gl(cpu.size());
  auto options = with(DrawOptions::Path::cpu, 7);
  options.samples = 4;
  camera.draw(world, 0, options, size, size, cpu);
  options.path = DrawOptions::Path::gl;
  camera.draw(world, 0, options, size, size, gl);
  CHECK(mean_difference(cpu, gl) <= 1.5);  // OpenGL looks a texture up once a pixel, whatever the samples
}

TEST_CASE("OpenGL frames are reproducible, whichever thread and context draws them") {
  if (no_gl()) SKIP("no OpenGL here: " + describe_gl());
  MujocoWorld world(dm_control_files("cheetah"));
  const int size = 64;
  Bytes first(size * size * 3), again(first.size()), elsewhere(first.size());
  const auto options = with(DrawOptions::Path::gl, 7);
  MujocoCamera camera;
  camera.draw(world, 0, options, size, size, first);
  camera.draw(world, 1, options, size, size, again);
  CHECK((again != first));
  std::thread([&] {
    MujocoCamera other;
    other.draw(world, 0, options, size, size, elsewhere);
    camera.draw(world, 0, options, size, size, again);
  }).join();
  CHECK((again == first));
  CHECK((elsewhere == first));
}

TEST_CASE("a replaced sky shows on both paths and can be taken back") {
  MujocoWorld world(dm_control_files("cartpole"));
  MujocoCamera camera;
  const int size = 64;
  const Bytes green{20, 200, 40};
  const auto image = std::make_shared<const Texture>(Texture::Kind::sky, 1, 1, green);
  for (const auto path : {DrawOptions::Path::cpu, DrawOptions::Path::gl}) {
    if (path == DrawOptions::Path::gl && no_gl()) SKIP("no OpenGL here: " + describe_gl());
    const auto options = with(path, 7);
    Bytes own(size * size * 3), shown(own.size()), back(own.size());
    camera.draw(world, 0, options, size, size, own);
    camera.replace_texture(0, image);
    camera.draw(world, 0, options, size, size, shown);
    camera.replace_texture(0, nullptr);
    camera.draw(world, 0, options, size, size, back);
    const auto floor = own.end() - 3 * size;
    CHECK(std::equal(green.begin(), green.end(), shown.begin()));
    CHECK((back == own));
    CHECK(std::equal(floor, own.end(), shown.end() - 3 * size));
  }
  camera.replace_texture(1, image);
  Bytes rgb(size * size * 3);
  CHECK_THROWS_AS(camera.draw(world, 0, {}, size, size, rgb), Error);
}

TEST_CASE("a camera follows the world, not what it drew before") {
  MujocoWorld cheetah(dm_control_files("cheetah")), cartpole(dm_control_files("cartpole"));
  MujocoCamera camera, fresh;
  const int size = 48;
  Bytes rgb(size * size * 3), truth(rgb.size());
  camera.draw(cheetah, 0, {}, size, size, rgb);
  camera.draw(cartpole, 0, {}, size, size, rgb);
  fresh.draw(cartpole, 0, {}, size, size, truth);
  CHECK((rgb == truth));
  const float red[] = {1, 0, 0, 1};
  std::ranges::copy(red, cartpole.material_rgba(cartpole.id("material", "self")).begin());
  cartpole.camera_position(0)[0] += 0.1;
  camera.draw(cartpole, 0, {}, size, size, rgb);
  CHECK((rgb != truth));
  CHECK_THROWS_AS(camera.draw(cartpole, 2, {}, size, size, rgb), Error);
  CHECK_THROWS_AS(camera.draw(cartpole, 0, {}, size, size + 1, rgb), Error);
}
