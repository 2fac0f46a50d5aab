// Meshes and height fields of MuJoCo's models: the caster's pictures against OpenGL's.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.render;
import iap.sim;

using namespace iap;
namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::uint8_t>;

// A knobbly ball of radius about 1, as OBJ, with places in an image or without.
std::string knobbly(bool places) {
  constexpr int rings = 24, steps = 48;
  std::string obj;
  for (int i = 0; i <= rings; ++i)
    for (int k = 0; k < steps; ++k) {
      const double a = std::numbers::pi * i / rings, b = 2 * std::numbers::pi * k / steps,
                   r = 1 + 0.15 * std::sin(4 * b) * std::sin(a);
      obj += text("v ", r * std::sin(a) * std::cos(b), " ", r * std::sin(a) * std::sin(b), " ", r * std::cos(a), "\n");
      if (places) obj += text("vt ", 2.0 * k / steps, " ", 1.0 * i / rings, "\n");
    }
  for (int i = 0; i < rings; ++i)
    for (int k = 0; k < steps; ++k) {
      const int p = i * steps + k + 1, q = i * steps + (k + 1) % steps + 1;
      const auto corner = [&](int index) { return places ? text(" ", index, "/", index) : text(" ", index); };
      if (i > 0) obj += "f" + corner(p) + corner(p + steps) + corner(q) + "\n";
      if (i + 1 < rings) obj += "f" + corner(q) + corner(p + steps) + corner(q + steps) + "\n";
    }
  return obj;
}

// A mesh of so many sides about z and two caps, each corner of which all that meet there share.
std::string prism(int sides, bool smooth) {
  std::string vertices, faces;
  for (int k = 0; k < sides; ++k)
    for (const double z : {-.4, .4}) {
      const double angle = 2 * std::numbers::pi * k / sides;
      vertices += text(" ", .4 * std::cos(angle), " ", .4 * std::sin(angle), " ", z);
    }
  for (int k = 0; k < sides; ++k) {
    const int low = 2 * k, next = 2 * ((k + 1) % sides);
    faces += text(" ", low, " ", next, " ", next + 1, " ", low, " ", next + 1, " ", low + 1);
    if (k > 0) faces += text(" 0 ", next, " ", low, " 1 ", low + 1, " ", next + 1);
  }
  return "<mesh name='prism' smoothnormal='" + std::string(smooth ? "true" : "false") + "' vertex='" + vertices + "' face='" +
         faces + "'/>";
}

MujocoWorld landscape(const std::string& extra = "", const std::string& material = "") {
  const TemporaryFolder temporary;
  const fs::path& folder = temporary.path();
  write_file_atomic(folder / "ball.obj", knobbly(false));
  write_file_atomic(folder / "painted.obj", knobbly(true));
  constexpr int size = 32;
  Bytes hills;
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column)
      for (int channel = 0; channel < 3; ++channel)
        hills.push_back(static_cast<std::uint8_t>(127 + 100 * std::sin(0.4 * row) * std::cos(0.3 * column)));
  write_png(folder / "hills.png", {{size, size, 3, PixelType::uint8}, hills.data()});
  const auto bundle = MujocoBundle::read(folder, R"(<mujoco><asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1=".4 .6 .8" rgb2="0 0 0" width="64" height="64"/>
    <texture name="grid" type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".2 .3 .4" width="64" height="64"/>
    <material name="grid" texture="grid" texrepeat="1 1" texuniform="true" reflectance=".3"/>
    <material name="shiny" rgba=".8 .3 .2 1" specular=".8" shininess=".6"/>
    <texture name="board" type="2d" builtin="checker" rgb1=".9 .8 .2" rgb2=".2 .3 .7" width="64" height="32"/>
    <texture name="dice" type="cube" builtin="checker" rgb1=".9 .8 .2" rgb2=".2 .3 .7" width="32" height="32"/>)" +
                                                     material + R"(
    <mesh name="painted" file="painted.obj" scale=".35 .35 .35"/><mesh name="ball" file="ball.obj" scale=".3 .3 .4"/><hfield name="hills" file="hills.png" size="1.3 .8 .3 .1"/></asset>
    <worldbody><light pos="1 -1 3" dir="-.3 .3 -1" castshadow="true"/>
    <camera name="near" pos="0 -2.5 1.4" xyaxes="1 0 0 0 .5 1"/><camera name="above" pos=".2 -.4 3.5" xyaxes="1 0 0 0 1 .1"/>
    <geom type="plane" size="5 5 .1" material="grid"/>
    <geom type="mesh" mesh="ball" pos="-.7 0 .5" euler="20 10 0" material="shiny"/>
    <geom type="mesh" mesh="ball" pos=".2 -.6 .4" rgba=".3 .7 .3 1"/>
    <geom type="hfield" hfield="hills" pos=".9 .6 .1" rgba=".6 .5 .3 1"/>
    <geom type="box" size=".1 .1 .5" pos="0 .3 .5" rgba=".3 .3 .8 1"/>)" +
                                                     extra + "</worldbody></mujoco>");
  return MujocoWorld(bundle);
}

Bytes draw(MujocoWorld& world, int camera, DrawOptions::Path path, bool all) {
  constexpr int height = 120, width = 160;
  DrawOptions options{.shadows = all, .reflection = all};
  options.path = path;
  MujocoCamera view;
  Bytes rgb(height * width * 3);
  view.draw(world, camera, options, height, width, rgb);
  if (const char* folder = std::getenv("IAP_PICTURES"))
    write_png(text(folder, "/landscape_", camera, all ? "_all_" : "_", path == DrawOptions::Path::gl ? "gl" : "cpu", ".png"),
              {{height, width, 3, PixelType::uint8}, rgb.data()});
  return rgb;
}

struct Difference {
  double mean = 0, beyond = 0;
};

Difference difference(const Bytes& a, const Bytes& b) {
  Difference found;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int d = std::abs(a[i] - b[i]);
    found.mean += d;
    found.beyond += d > 24;
  }
  return {found.mean / static_cast<double>(a.size()), found.beyond / static_cast<double>(a.size())};
}

}  // namespace

TEST_CASE("the caster draws a model's meshes and height fields as MuJoCo's OpenGL does") {
#if __has_feature(thread_sanitizer)
  SKIP("under this sanitizer the threads of the OpenGL driver in software miss each other's signals and wait for ever");
#endif
  if (describe_gl().starts_with("none")) SKIP("no OpenGL here: " + describe_gl());
  auto world = landscape();
  for (const int camera : {0, 1})
    for (const bool all : {false, true}) {
      const auto [mean, beyond] =
          difference(draw(world, camera, DrawOptions::Path::cpu, all), draw(world, camera, DrawOptions::Path::gl, all));
      CAPTURE(camera, all, mean, beyond);
      CHECK(mean <= 0.5);
      CHECK(beyond <= 0.005);
    }
}

TEST_CASE("the caster draws a mesh's edges sharp or round as MuJoCo's OpenGL does") {
#if __has_feature(thread_sanitizer)
  SKIP("under this sanitizer the threads of the OpenGL driver in software miss each other's signals and wait for ever");
#endif
  if (describe_gl().starts_with("none")) SKIP("no OpenGL here: " + describe_gl());
  // From edges that MuJoCo draws sharp to those of 12 sides, which are round between the sides. A dull surface, because OpenGL
  // looks for gloss at corners alone.
  for (const int sides : {3, 4, 6, 12})
    for (const bool smooth : {false, true}) {
      auto world = landscape("<geom type='mesh' mesh='prism' pos='-.1 -1 .7' euler='20 30 40' material='dull'/>",
                             prism(sides, smooth) + "<material name='dull' rgba='0 .6 .6 1' specular='0'/>");
      const auto [mean, beyond] =
          difference(draw(world, 0, DrawOptions::Path::cpu, true), draw(world, 0, DrawOptions::Path::gl, true));
      CAPTURE(sides, smooth, mean, beyond);
      CHECK(mean <= 1);
      CHECK(beyond <= 0.001);
    }
}

TEST_CASE("a picture shows all segments of a model's tendons") {
  // So many lines from the left to the right, each of twelve segments between two points, on the white floor of a black world.
  constexpr int lines = 150, height = 150, width = 60;
  std::string sites, tendons;
  for (int i = 0; i < lines; ++i) {
    const double y = 1.5 * (2 * (i + 0.5) / lines - 1);
    sites += text("<site name='l", i, "' pos='-1 ", y, " 0' group='5'/><site name='r", i, "' pos='1 ", y, " 0' group='5'/>");
    tendons += "<spatial width='.008' rgba='1 1 1 1'>";
    for (int k = 0; k < 13; ++k) tendons += text("<site site='", k % 2 ? "r" : "l", i, "'/>");
    tendons += "</spatial>";
  }
  const auto bundle =
      MujocoBundle::read(".",
                         "<mujoco><visual><headlight ambient='1 1 1'/></visual><worldbody><camera pos='0 0 2.6' fovy='60'/>"
                         "<body><joint type='hinge'/><geom size='.01'/></body>" +
                             sites + "</worldbody><tendon>" + tendons + "</tendon></mujoco>");
  MujocoWorld world(bundle);
  world.forward();
  MujocoCamera view;
  Bytes rgb(std::size_t{height} * width * 3);
  view.draw(world, 0, {}, height, width, rgb);
  int lit = 0;
  for (int row = 0; row < height; ++row) lit += rgb[3 * (std::size_t{width} * row + width / 2)] > 60;
  CHECK(lit >= 140);
}

TEST_CASE("the caster lays images on meshes and height fields as MuJoCo's OpenGL does") {
#if __has_feature(thread_sanitizer)
  SKIP("under this sanitizer the threads of the OpenGL driver in software miss each other's signals and wait for ever");
#endif
  if (describe_gl().starts_with("none")) SKIP("no OpenGL here: " + describe_gl());
  for (const std::string repeat : {"1 1", "2 3"})
    for (const std::string uniform : {"false", "true"})
      for (const std::string geom : {"type='mesh' mesh='painted'", "type='mesh' mesh='ball'", "type='mesh' mesh='mirrored'",
                                     "type='hfield' hfield='hills'"}) {
        auto world = landscape("<geom " + geom + " pos='-.2 -1.1 .7' euler='20 30 40' material='board'/>",
                               "<material name='board' texture='board' texrepeat='" + repeat + "' texuniform='" + uniform +
                                   "'/><mesh name='mirrored' file='painted.obj' scale='.35 -.35 .35'/>");
        const auto [mean, beyond] =
            difference(draw(world, 0, DrawOptions::Path::cpu, true), draw(world, 0, DrawOptions::Path::gl, true));
        CAPTURE(repeat, uniform, geom, mean, beyond);
        CHECK(mean <= 0.5);
        CHECK(beyond <= 0.005);
      }
}

TEST_CASE("what the caster cannot draw of a model is drawn by OpenGL, or is an error") {
  for (const std::string look : {"rgba='1 0 0 .4'", "material='dice'"}) {
    auto world = landscape("<geom type='mesh' mesh='ball' pos='1 -1 1' " + look + "/>", "<material name='dice' texture='dice'/>");
    if (describe_gl().starts_with("none")) {
      CHECK_THROWS_MATCHES(
          draw(world, 0, DrawOptions::Path::cpu, true), Error,
          Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring("which the CPU caster does not draw")));
      continue;
    }
    CHECK((draw(world, 0, DrawOptions::Path::cpu, true) == draw(world, 0, DrawOptions::Path::gl, true)));
  }
}
