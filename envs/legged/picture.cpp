module;
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.env;
import iap.render;
import iap.sim;
#include "body.hpp"
#include "picture.hpp"

namespace iap {
namespace {

// `from` and `forward` are from the robot's place, in start heights.
Camera camera_at(const LeggedBody& body, const Vec3& from, const Vec3& forward) {
  const auto& at = body.world().state().position;
  const auto size = static_cast<float>(body.robot().start_height);
  Camera camera{.forward = {forward[0] * size, forward[1] * size, forward[2] * size}};
  for (int i = 0; i < 3; ++i) camera.position[i] = static_cast<float>(at[i]) + from[i] * size;
  return camera;
}

}  // namespace

RobotPicture::RobotPicture(std::string name, PictureSize size, bool depth, const DrawOptions& options)
    : name_(std::move(name)),
      options_(options),
      image_({size.height, size.width, depth ? 1 : 3, depth ? PixelType::float32 : PixelType::uint8}) {}

void RobotPicture::draw(const Scene& scene) {
  const ImageShape& shape = image_.shape();
  if (shape.type == PixelType::float32)
    caster_.draw_depth(scene, shape.height, shape.width, image_.floats());
  else
    caster_.draw(scene, options_, shape.height, shape.width, image_.bytes());
}

std::optional<RobotPicture> read_picture(Options& options, std::optional<PictureSize> fallback, bool depth) {
  constexpr PictureSize largest{4096, 4096};
  const DrawOptions drawing = read_draw_options(options.value("render"), options.owner());
  options.complete("render", to_config(drawing));
  const auto size = read_pixels(options, largest, fallback);
  if (!size) return {};
  if (drawing.path == DrawOptions::Path::gl) options.fail("its pictures are drawn by the CPU; leave out render.path");
  return std::make_optional<RobotPicture>("pixels", *size, depth, drawing);
}

Camera camera_beside(const LeggedBody& body) {
  Camera camera = camera_at(body, {2, -4, 0}, {-2, 4, -1.3f});
  camera.position[2] = 2 * static_cast<float>(body.robot().start_height);
  return camera;
}

Camera camera_behind(const LeggedBody& body) { return camera_at(body, {-6, 0, 4.5f}, {8, 0, -4.5f}); }
Camera camera_above(const LeggedBody& body) { return camera_at(body, {1, 7, 5.5f}, {.5f, -7, -5.2f}); }

}  // namespace iap
