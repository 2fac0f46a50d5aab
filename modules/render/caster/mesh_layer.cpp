module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "frame.hpp"
module iap.render;
import iap.core;
#include "prepare.hpp"

namespace iap {
namespace {

using Floats = std::array<float, 3>;

Floats floats(const Double3& v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }
Double3 to_local(const Mat3& rotation, const Double3& v) {
  return {dot(axis(rotation, 0), v), dot(axis(rotation, 1), v), dot(axis(rotation, 2), v)};
}

bool blocked(const void* scene, const frame::Vector& from, const frame::Vector& direction, float reach) {
  // A surface must not lie in its own shadow, whichever way its corners were rounded.
  constexpr double off = 1e-3;
  const Double3 start = to_double(from), way = to_double(direction);
  const double distance = length(way);
  if (!(distance * reach > off)) return false;
  for (const MeshInstance& instance : static_cast<const Scene*>(scene)->meshes) {
    const Double3 own = to_local(instance.rotation, start - to_double(instance.position));
    if (instance.mesh->blocks(floats(own), floats(to_local(instance.rotation, way)), static_cast<float>(off / distance), reach))
      return true;
  }
  return false;
}

// How an instance shows its image.
struct Look {
  const MeshInstance& instance;
  const Scene& scene;
  Double3 right, down;  // from one pixel's ray to the next

  // Where in the image a hit lies, and how large a pixel is there.
  Floats spot(const MeshHit& hit, const Floats& origin, const Floats& direction) const {
    const Double3 o{origin[0], origin[1], origin[2]}, d{direction[0], direction[1], direction[2]};
    const Double3 n{hit.normal[0], hit.normal[1], hit.normal[2]}, p = o + d * hit.t;
    const Texture& image = *scene.textures[static_cast<std::size_t>(instance.texture)];
    const auto at = place(hit.triangle, p);
    double footprint = 0;
    for (const Double3& step : {right, down}) {
      const double facing = dot(n, d);
      const auto next = place(hit.triangle, p + (step - d * (dot(n, step) / (std::abs(facing) > 1e-9 ? facing : 1e-9))) * hit.t);
      const double u = (next[0] - at[0]) * image.width(), v = (next[1] - at[1]) * image.height();
      footprint = std::max(footprint, u * u + v * v);
    }
    return {static_cast<float>(at[0] - std::floor(at[0])), static_cast<float>(at[1] - std::floor(at[1])),
            static_cast<float>(std::min(footprint, 1e12))};
  }

 private:
  std::array<double, 2> place(std::uint32_t triangle, const Double3& p) const {
    const auto own = instance.mesh->texture_place(triangle, floats(p));
    return {double{own[0]} * instance.texture_scale[0] + instance.texture_shift[0],
            double{own[1]} * instance.texture_scale[1] + instance.texture_shift[1]};
  }
};

// Lays what the rays of one view meet. In a mirror that is what lies before it, which the rays, coming from behind, reach later.
void lay_view(const Scene& scene, frame::View view, frame::MeshLayer& layer, frame::Frame& frame) {
  constexpr int most_lanes = 16;
  layer.height = frame.height;
  layer.pitch = (frame.width + most_lanes - 1) / most_lanes * most_lanes;
  const std::size_t plane = static_cast<std::size_t>(layer.pitch) * layer.height;
  layer.values.assign(plane * frame::MeshLayer::planes, 0);
  std::fill_n(layer.values.begin(), plane, std::numeric_limits<float>::infinity());
  const frame::Rays& rays = frame.rays[view];
  const Double3 eye = to_double(rays.eye), corner = to_double(rays.corner), right = to_double(rays.right),
                down = to_double(rays.down);
  // Where a ray passes the mirror's surface.
  const auto start_of = [&](int row, int column) {
    if (view == frame::direct) return frame.near_plane;
    const frame::Solid& mirror = frame.solids[frame.mirror];
    const frame::Rays& own = mirror.rays[view];
    const float surface = mirror.shape == frame::Shape::box ? 1 : 0;
    const float slope = own.corner.z + static_cast<float>(row) * own.down.z + static_cast<float>(column) * own.right.z;
    const float t = (surface - own.eye.z) / slope;
    return t > frame.near_plane ? t : std::numeric_limits<float>::infinity();
  };
  for (std::size_t index = 0; index < scene.meshes.size(); ++index) {
    const MeshInstance& instance = scene.meshes[index];
    const Floats origin = floats(to_local(instance.rotation, eye - to_double(instance.position)));
    const Look look{instance, scene, to_local(instance.rotation, right), to_local(instance.rotation, down)};
    const auto show = [&](int row, int column, float& depth, float* rest) {
      const Floats direction = floats(to_local(instance.rotation, corner + down * row + right * column));
      const float from = start_of(row, column), to = std::min(frame.far_plane, depth);
      if (!(from < to)) return;
      const auto hit = instance.mesh->hit(origin, direction, from, to);
      if (!hit || !(hit->t < depth)) return;
      depth = hit->t;
      for (int i = 0; i < 3; ++i) {
        float turned = 0;
        for (int k = 0; k < 3; ++k) turned += instance.rotation[3 * i + k] * hit->normal[k];
        rest[plane * i] = turned;
        rest[plane * (3 + i)] = hit->rgb[i] * instance.rgb[i];
      }
      rest[plane * 6] = static_cast<float>(index);
      if (instance.texture < 0) return;
      const auto spot = look.spot(*hit, origin, direction);
      for (int i = 0; i < 3; ++i) rest[plane * (7 + i)] = spot[i];
    };
    const frame::Bounds bounds = mesh_bounds(scene, instance, frame, view);
    for (int row = bounds.top; row < bounds.bottom; ++row)
      for (int column = bounds.left; column < bounds.right; ++column) {
        check_interrupt();  // a mesh can be made so that every ray meets the boxes of all its triangles
        float* at = layer.values.data() + static_cast<std::ptrdiff_t>(row) * layer.pitch + column;
        show(row, column, *at, at + plane);
      }
  }
}

}  // namespace

void lay_meshes(const Scene& scene, std::array<frame::MeshLayer, 2>& layers, frame::Frame& frame) {
  frame.mesh_paints.clear();
  for (const MeshInstance& instance : scene.meshes)
    frame.mesh_paints.push_back({instance.emission, instance.specular, instance.shininess * 128, instance.texture});
  lay_view(scene, frame::direct, layers[0], frame);
  frame.meshes = layers.data();
  if (frame.mirror >= 0) {
    lay_view(scene, frame::mirrored, layers[1], frame);
    frame.mirrored_meshes = &layers[1];
  }
  frame.blocked = blocked;
  frame.scene = &scene;
}

}  // namespace iap
