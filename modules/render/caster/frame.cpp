module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frame.hpp"
module iap.render;
import iap.core;
#include "prepare.hpp"

namespace iap {
namespace {

constexpr double pi = std::numbers::pi;

struct Pose {
  Double3 eye, forward, right, up;  // orthonormal
};

Pose camera_pose(const Camera& camera) {
  Pose pose;
  pose.eye = to_double(camera.position);
  pose.forward = normalized(to_double(camera.forward));
  pose.right = normalized(cross(pose.forward, to_double(camera.up)));
  pose.up = cross(pose.right, pose.forward);
  return pose;
}

Pose mirrored_pose(const Pose& pose, const Double3& point, const Double3& normal) {
  const auto flip = [&](const Double3& v) { return v - normal * (2 * dot(normal, v)); };
  return {point + flip(pose.eye - point), flip(pose.forward), flip(pose.right), flip(pose.up)};
}

frame::Rays world_rays(const Pose& pose, double tangent, int height, int width, double shift_x, double shift_y) {
  const double step = 2 * tangent / height;
  const Double3 right = pose.right * step, down = pose.up * -step;
  const Double3 corner = pose.forward + right * (shift_x - width / 2.0) + down * (shift_y - height / 2.0);
  return {to_float(pose.eye), to_float(corner), to_float(right), to_float(down)};
}

frame::Rays unit_rays(const frame::Rays& rays, const Unit& unit) {
  return {to_float(unit.point(to_double(rays.eye))), to_float(unit.direction(to_double(rays.corner))),
          to_float(unit.direction(to_double(rays.right))), to_float(unit.direction(to_double(rays.down)))};
}

frame::Bounds pixel_bounds(const Primitive& primitive, const Pose& pose, double tangent, double near_plane, int height, int width) {
  const Rectangle on_plane = project(primitive, {pose.eye, pose.forward, pose.right, pose.up, near_plane, false});
  const double scale = height / (2 * tangent);
  // A pixel's samples lie up to one pixel from its left and upper edge, and rounding must not lose any. NaN becomes the least.
  const auto limited = [](double pixel, int count) { return std::fmin(std::fmax(pixel, -8.0), count + 8.0); };
  const auto column = [&](double x) { return limited(x * scale + width / 2.0, width); };
  const auto row = [&](double y) { return limited(height / 2.0 - y * scale, height); };
  return {std::max(0, static_cast<int>(std::floor(column(on_plane.left) - 1.01))),
          std::min(width, static_cast<int>(std::ceil(column(on_plane.right) + 1.01))),
          std::max(0, static_cast<int>(std::floor(row(on_plane.top) - 1.01))),
          std::min(height, static_cast<int>(std::ceil(row(on_plane.bottom) + 1.01)))};
}

bool behind(const Primitive& plane, const Double3& eye) {
  return dot(eye - to_double(plane.position), axis(plane.rotation, 2)) < 0;
}

bool is_transparent(const Primitive& primitive, const Double3& eye) {
  return primitive.rgba[3] < 0.995f || (primitive.shape == Shape::plane && behind(primitive, eye));
}

frame::Solid prepare_solid(const Scene& scene, const Primitive& primitive, const Double3& eye) {
  frame::Solid solid{};
  const Unit unit = unit_space(primitive);
  solid.shape = static_cast<frame::Shape>(primitive.shape);
  for (int i = 0; i < 3; ++i) solid.to_unit[i] = to_float(unit.rows[i]);
  solid.position = to_float(to_double(primitive.position));
  solid.half_length = static_cast<float>(unit.half_length);
  for (int i = 0; i < 2; ++i)
    solid.half_width[i] = is_endless(primitive.size[i]) ? std::numeric_limits<float>::infinity() : primitive.size[i];
  solid.rgb = {primitive.rgba[0], primitive.rgba[1], primitive.rgba[2]};
  solid.alpha = primitive.rgba[3];
  if (primitive.shape == Shape::plane && behind(primitive, eye)) solid.alpha *= 0.3f;
  solid.emission = primitive.emission;
  solid.specular = primitive.specular;
  solid.shininess = primitive.shininess * 128;
  solid.image = primitive.texture;
  if (primitive.texture < 0) return solid;
  const bool plane = primitive.shape == Shape::plane;
  const auto& repeat = primitive.texture_repeat;
  std::array<float, 3> scale{};
  if (scene.textures[primitive.texture]->kind() == Texture::Kind::flat) {
    for (int i = 0; i < 2; ++i) {
      const float size = primitive.size[i] > 0 ? primitive.size[i] : 1;
      scale[i] = 0.5f * repeat[i] * (plane ? (primitive.texture_uniform ? 1 : 1 / size) : (primitive.texture_uniform ? size : 1));
    }
  } else {
    for (int i = 0; i < 3; ++i) scale[i] = primitive.texture_uniform ? primitive.size[i] : 1;
  }
  solid.image_scale = {scale[0], scale[1], scale[2]};
  return solid;
}

void prepare_images(const Scene& scene, std::vector<frame::Image>& images) {
  images.resize(scene.textures.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    const Texture& texture = *scene.textures[i];
    frame::Image& image = images[i];
    image.texels = texture.texels().data();
    image.solid = texture.kind() != Texture::Kind::flat;
    image.level_count = static_cast<int>(texture.levels().size());
    for (int k = 0; k < image.level_count; ++k) {
      const Texture::Level& level = texture.levels()[k];
      image.levels[0][k] = level.width;
      image.levels[1][k] = level.height;
      image.levels[2][k] = level.offset;
      image.levels[3][k] = level.face_size;
    }
  }
}

// Haze is a ring from the plane, at 1 - fraction of the sky's radius, up to the horizon at the full radius, clear at both ends.
// `peak` is where between them, by height, MuJoCo makes it opaque.
frame::Haze prepare_haze(const Scene& scene, const Double3& eye, double sky_radius) {
  frame::Haze haze;
  for (const Primitive& primitive : scene.primitives) {
    if (primitive.shape != Shape::plane || primitive.size[0] != 0 || primitive.size[1] != 0) continue;
    const double elevation = dot(eye - to_double(primitive.position), axis(primitive.rotation, 2)) / sky_radius;
    haze.on = scene.haze && elevation >= 0;
    for (int i = 0; i < 3; ++i) haze.axes[i] = to_float(axis(primitive.rotation, i));
    haze.elevation = static_cast<float>(elevation);
    haze.fraction = scene.haze_fraction;
    const double alpha = std::atan2(1.0, scene.haze_fraction), beta = 0.75 * pi - alpha;
    haze.peak = static_cast<float>(std::sqrt(0.5) * scene.haze_fraction * std::sin(alpha) / std::sin(beta));
    haze.rgb = {scene.haze_rgba[0], scene.haze_rgba[1], scene.haze_rgba[2]};
    break;
  }
  return haze;
}

double distance_key(const Primitive& primitive, const Double3& eye) {
  constexpr double of_planes = 1e10;
  if (primitive.shape == Shape::plane) return of_planes;
  const double key = length(to_double(primitive.position) - eye) - bounding_radius(primitive);
  return std::isnan(key) ? of_planes : key;  // which has no place in an order
}

void check(const Scene& scene) {
  const auto known = [&](int texture) { return texture >= -1 && texture < static_cast<int>(scene.textures.size()); };
  for (const Primitive& primitive : scene.primitives) {
    if (primitive.shape == Shape::mesh)
      throw Error(
          "the CPU caster draws planes, spheres, capsules, ellipsoids, cylinders and boxes, but the scene holds a mesh, skin, line "
          "or "
          "height field; draw with path = 'gl'");
    if (!known(primitive.texture))
      throw Error(text("a primitive shows texture ", primitive.texture, " of ", scene.textures.size()));
  }
  for (const MeshInstance& instance : scene.meshes) {
    if (!instance.mesh) throw Error("a scene holds a mesh instance without a mesh; give it one");
    if (!known(instance.texture)) throw Error(text("a mesh shows texture ", instance.texture, " of ", scene.textures.size()));
    if (instance.texture >= 0 && scene.textures[instance.texture]->kind() != Texture::Kind::flat)
      throw Error(text("a mesh shows texture ", instance.texture, ", which is a cube or the sky; give it a flat one"));
  }
  if (!known(scene.sky)) throw Error(text("the sky shows texture ", scene.sky, " of ", scene.textures.size()));
  const Camera& camera = scene.camera;
  if (!(camera.near_plane > 0 && camera.far_plane > camera.near_plane && camera.vertical_fov_degrees > 0 &&
        camera.vertical_fov_degrees < 180))
    throw Error(text("a camera with near plane ", camera.near_plane, ", far plane ", camera.far_plane, " and field of view ",
                     camera.vertical_fov_degrees, " degrees sees nothing; use 0 < near < far and an angle in (0, 180)"));
}

void prepare_mirror(const Scene& scene, const Pose& pose, frame::Frame& frame) {
  for (std::size_t i = 0; i < scene.primitives.size(); ++i) {
    const Primitive& primitive = scene.primitives[i];
    if ((primitive.shape != Shape::plane && primitive.shape != Shape::box) || !(primitive.reflectance > 0) ||
        is_transparent(primitive, pose.eye))
      continue;
    const Double3 normal = axis(primitive.rotation, 2);
    const Double3 surface = to_double(primitive.position) + normal * (primitive.shape == Shape::box ? primitive.size[2] : 0.0);
    if (dot(pose.eye - surface, normal) < 0) return;
    frame.mirror = static_cast<int>(i);
    frame.reflectance = primitive.reflectance;
    return;
  }
}

struct Views {
  Pose direct, mirrored;
  double tangent;
};

Views views_of(const Scene& scene, const frame::Frame& frame) {
  Views views{camera_pose(scene.camera), {}, std::tan(scene.camera.vertical_fov_degrees * pi / 360)};
  views.mirrored = views.direct;
  if (frame.mirror < 0) return views;
  const Primitive& primitive = scene.primitives[frame.mirror];
  const Double3 normal = axis(primitive.rotation, 2);
  const Double3 surface = to_double(primitive.position) + normal * (primitive.shape == Shape::box ? primitive.size[2] : 0.0);
  views.mirrored = mirrored_pose(views.direct, surface, normal);
  return views;
}

}  // namespace

frame::Bounds mesh_bounds(const Scene& scene, const MeshInstance& instance, const frame::Frame& frame, frame::View view) {
  const auto& [low, high] = instance.mesh->bounds();
  Primitive box{.shape = Shape::box, .position = instance.position, .rotation = instance.rotation};
  for (int i = 0; i < 3; ++i) {
    box.size[i] = (high[i] - low[i]) / 2 + 1e-4f;
    for (int k = 0; k < 3; ++k) box.position[i] += instance.rotation[3 * i + k] * (low[k] + high[k]) / 2;
  }
  const Views views = views_of(scene, frame);
  return pixel_bounds(box, view == frame::direct ? views.direct : views.mirrored, views.tangent, frame.near_plane, frame.height,
                      frame.width);
}

void aim_frame(const Scene& scene, double shift_x, double shift_y, frame::Frame& frame) {
  const Views views = views_of(scene, frame);
  frame.rays[frame::direct] = world_rays(views.direct, views.tangent, frame.height, frame.width, shift_x, shift_y);
  frame.rays[frame::mirrored] = world_rays(views.mirrored, views.tangent, frame.height, frame.width, shift_x, shift_y);
  for (std::size_t i = 0; i < scene.primitives.size(); ++i) {
    const Unit unit = unit_space(scene.primitives[i]);
    for (const auto view : {frame::direct, frame::mirrored}) frame.solids[i].rays[view] = unit_rays(frame.rays[view], unit);
  }
}

void prepare_frame(const Scene& scene, const DrawOptions& options, int height, int width, frame::Frame& frame) {
  check(scene);
  const Camera& camera = scene.camera;
  frame.height = height;
  frame.width = width;
  frame.near_plane = camera.near_plane;
  frame.far_plane = camera.far_plane;
  frame.sky_radius = camera.far_plane * 0.7f;
  frame.sky = options.sky ? scene.sky : -1;
  frame.mirror = -1;
  const Pose pose = camera_pose(camera);
  if (options.reflection) prepare_mirror(scene, pose, frame);
  const Views views = views_of(scene, frame);

  prepare_images(scene, frame.images);
  frame.solids.clear();
  frame.opaque.clear();
  frame.transparent.clear();
  for (std::size_t i = 0; i < scene.primitives.size(); ++i) {
    const Primitive& primitive = scene.primitives[i];
    frame::Solid& solid = frame.solids.emplace_back(prepare_solid(scene, primitive, pose.eye));
    for (const auto view : {frame::direct, frame::mirrored})
      solid.bounds[view] = pixel_bounds(primitive, view == frame::direct ? views.direct : views.mirrored, views.tangent,
                                        camera.near_plane, height, width);
    solid.mirror = static_cast<int>(i) == frame.mirror;
    if (primitive.rgba[3] == 0) continue;
    (is_transparent(primitive, pose.eye) ? frame.transparent : frame.opaque).push_back(static_cast<int>(i));
  }
  std::ranges::sort(frame.transparent, {}, [&](int i) { return std::pair(distance_key(scene.primitives[i], pose.eye), i); });
  prepare_lights(scene, options, pose.eye, pose.forward, frame);
  prepare_grids(scene, frame);
  frame.haze = frame.sky >= 0 ? prepare_haze(scene, pose.eye, frame.sky_radius) : frame::Haze{};
}

}  // namespace iap
