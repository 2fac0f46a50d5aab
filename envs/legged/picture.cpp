module;
#include <array>
#include <cmath>
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
  const DrawOptions drawing = read_draw_options(options.value("render"), text(options.owner(), ": render"));
  options.complete("render", to_config(drawing));
  const auto size = read_pixels(options, fallback);
  if (!size) return {};
  if (drawing.path == DrawOptions::Path::gl) options.fail("its pictures are drawn by the CPU; leave out render.path");
  return std::make_optional<RobotPicture>("pixels", *size, depth, drawing);
}

/// @lua options robots.camera
/// A camera on the robot's trunk that looks ahead.
/// @option camera_x number -1..1 = 0.27 - ahead of the trunk's middle, metres
/// @option camera_z number -1..1 = 0.03 - above it, metres
/// @option camera_tilt number -1.5..1.5 = 0 - downwards, radians
/// @option camera_fov number 1..170 = 60 - vertical field of view, degrees
/// @option camera_near number 0.0001..0.99 = 0.01 - metres; what is nearer is not seen
/// @option camera_far number 1..10000 = 100 - metres; depth of what is further, or of nothing
/// @option body boolean = false - whether the robot and its shadow are in its own pictures
RobotCamera read_robot_camera(Options& options, double far) {
  const double tilt = options.number_in("camera_tilt", -1.5, 1.5, 0);
  return {.position = {options.number_in("camera_x", -1, 1, .27), 0, options.number_in("camera_z", -1, 1, .03)},
          .forward = {std::cos(tilt), 0, -std::sin(tilt)},
          .up = {std::sin(tilt), 0, std::cos(tilt)},
          .vertical_fov_degrees = options.number_in("camera_fov", 1, 170, 60),
          .near_plane = options.number_in("camera_near", 1e-4, .99, .01),
          .far_plane = options.number_in("camera_far", 1, 10000, far)};
}

Camera camera_beside(const LeggedBody& body) {
  Camera camera = camera_at(body, {2, -4, 0}, {-2, 4, -1.3f});
  camera.position[2] = 2 * static_cast<float>(body.robot().start_height);
  return camera;
}

Camera camera_behind(const LeggedBody& body) { return camera_at(body, {-6, 0, 4.5f}, {8, 0, -4.5f}); }
Camera camera_above(const LeggedBody& body) { return camera_at(body, {1, 7, 5.5f}, {.5f, -7, -5.2f}); }

Camera camera_around(const LeggedBody& body, const std::array<double, 3>& from, double heading) {
  const double c = std::cos(heading), s = std::sin(heading);
  const Vec3 turned{static_cast<float>(c * from[0] - s * from[1]), static_cast<float>(s * from[0] + c * from[1]),
                    static_cast<float>(from[2])};
  return camera_at(body, turned, {-turned[0], -turned[1], -turned[2]});
}

}  // namespace iap
