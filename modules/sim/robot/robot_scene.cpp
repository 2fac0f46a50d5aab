module;
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>
module iap.sim;
import iap.core;
import iap.render;

namespace iap {
namespace {

std::shared_ptr<const Texture> checkers() {
  constexpr int side = 64;
  std::vector<std::uint8_t> rgb;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const bool light = (x < side / 2) == (y < side / 2);
      for (const int part : light ? std::array{122, 138, 150} : std::array{104, 119, 131})
        rgb.push_back(static_cast<std::uint8_t>(part));
    }
  return std::make_shared<const Texture>(Texture::Kind::flat, side, side, rgb);
}

std::shared_ptr<const Texture> plain_sky() {
  return std::make_shared<const Texture>(Texture::Kind::sky, 1, 1, std::array<std::uint8_t, 3>{178, 204, 229});
}

template <typename To, typename From>
To narrowed(const From& from) {
  To to{};
  std::ranges::transform(from, to.begin(), [](double value) { return static_cast<float>(value); });
  return to;
}

void put(const Placement& place, Primitive& primitive) {
  primitive.position = narrowed<Vec3>(place.position);
  primitive.rotation = narrowed<Mat3>(place.rotation);
}

struct Bounds {
  std::array<double, 3> low, high;
};

Bounds bounds(const std::vector<double>& points) {
  constexpr double far = std::numeric_limits<double>::max();
  Bounds b{{far, far, far}, {-far, -far, -far}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    b.low[i % 3] = std::min(b.low[i % 3], points[i]);
    b.high[i % 3] = std::max(b.high[i % 3], points[i]);
  }
  return b;
}

// A shape's placement in its link; that of a hull is its box's.
Placement seat(const RobotShape& shape) {
  if (shape.kind != RobotShape::Kind::hull) return shape.placement;
  const auto [low, high] = bounds(shape.points);
  return shape.placement * Placement{.position = {(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2}};
}

Primitive seen(const RobotShape& shape) {
  Primitive primitive{.rgba = shape.rgba};
  const auto [a, b, c] = narrowed<Vec3>(shape.size);
  switch (shape.kind) {
    case RobotShape::Kind::sphere: primitive.size = {a, a, a}; break;
    case RobotShape::Kind::cylinder:
      primitive.shape = Shape::cylinder;
      primitive.size = {a, a, b};
      break;
    case RobotShape::Kind::box:
      primitive.shape = Shape::box;
      primitive.size = {a, b, c};
      break;
    case RobotShape::Kind::hull: {
      const auto [low, high] = bounds(shape.points);
      primitive.shape = Shape::box;
      for (int i = 0; i < 3; ++i) primitive.size[i] = static_cast<float>((high[i] - low[i]) / 2);
    }
  }
  return primitive;
}

const std::vector<RobotShape>& visible(const RobotLink& link) { return link.visuals.empty() ? link.collisions : link.visuals; }

Scene lit_scene() {
  Scene scene;
  scene.textures = {checkers(), plain_sky()};
  scene.sky = 1;
  scene.lights = {{.ambient = {.4f, .4f, .4f}, .diffuse = {.35f, .35f, .35f}, .headlight = true},
                  {.position = {0, 0, 6},
                   .direction = {.3f, .4f, -1},
                   .diffuse = {.6f, .6f, .6f},
                   .specular = {.2f, .2f, .2f},
                   .directional = true,
                   .casts_shadow = true}};
  scene.shadow.directional_half_width = 1000;
  return scene;
}

void add_terrain(const Terrain& terrain, Scene& scene) {
  if (terrain.plane) scene.primitives.push_back({.shape = Shape::plane, .specular = 0, .texture = 0, .texture_uniform = true});
  for (const auto& box : terrain.boxes) {
    auto& primitive = scene.primitives.emplace_back(
        Primitive{.shape = Shape::box, .size = narrowed<Vec3>(box.half), .rgba = box.rgba, .specular = .1f});
    put(box.placement, primitive);
  }
}

}  // namespace

void move_robot(const RobotWorld& world, Scene& scene) {
  std::size_t next = 0;
  const auto& links = world.robot().links;
  for (std::size_t link = 0; link < links.size(); ++link) {
    if (visible(links[link]).empty()) continue;
    const Placement place = world.link_placement(static_cast<int>(link));
    for (const auto& shape : visible(links[link])) put(place * seat(shape), scene.primitives[next++]);
  }
}

Scene robot_scene(const RobotWorld& world) {
  Scene scene = lit_scene();
  for (const auto& link : world.robot().links)
    for (const auto& shape : visible(link)) scene.primitives.push_back(seen(shape));
  add_terrain(world.terrain(), scene);
  move_robot(world, scene);
  return scene;
}

Scene terrain_scene(const RobotWorld& world) {
  Scene scene = lit_scene();
  add_terrain(world.terrain(), scene);
  return scene;
}

Camera camera_on(const RobotWorld& world, const RobotCamera& camera) {
  const Placement link = world.link_placement(camera.link);
  const auto direction = [&link](const std::array<double, 3>& own) {
    const Placement origin{.rotation = link.rotation};
    return narrowed<Vec3>((origin * Placement{.position = own}).position);
  };
  return {.position = narrowed<Vec3>((link * Placement{.position = camera.position}).position),
          .forward = direction(camera.forward),
          .up = direction(camera.up),
          .vertical_fov_degrees = static_cast<float>(camera.vertical_fov_degrees),
          .near_plane = static_cast<float>(camera.near_plane),
          .far_plane = static_cast<float>(camera.far_plane)};
}

}  // namespace iap
