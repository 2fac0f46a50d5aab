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

}  // namespace

void lay_meshes(const Scene& scene, frame::MeshLayer& layer, frame::Frame& frame) {
  constexpr int most_lanes = 16;
  layer.height = frame.height;
  layer.pitch = (frame.width + most_lanes - 1) / most_lanes * most_lanes;
  const std::size_t plane = static_cast<std::size_t>(layer.pitch) * layer.height;
  layer.values.assign(plane * frame::MeshLayer::planes, 0);
  std::fill_n(layer.values.begin(), plane, std::numeric_limits<float>::infinity());
  const frame::Rays& rays = frame.rays[frame::direct];
  const Double3 eye = to_double(rays.eye), corner = to_double(rays.corner), right = to_double(rays.right),
                down = to_double(rays.down);
  for (const MeshInstance& instance : scene.meshes) {
    const Floats origin = floats(to_local(instance.rotation, eye - to_double(instance.position)));
    const auto show = [&](int row, int column, float& depth, float* rest) {
      const Floats direction = floats(to_local(instance.rotation, corner + down * row + right * column));
      const auto hit = instance.mesh->hit(origin, direction, frame.near_plane, std::min(frame.far_plane, depth));
      if (!hit || !(hit->t < depth)) return;
      depth = hit->t;
      for (int i = 0; i < 3; ++i) {
        float turned = 0;
        for (int k = 0; k < 3; ++k) turned += instance.rotation[3 * i + k] * hit->normal[k];
        rest[plane * i] = turned;
        rest[plane * (3 + i)] = hit->rgb[i] * instance.rgb[i];
      }
    };
    for (int row = 0; row < frame.height; ++row)
      for (int column = 0; column < frame.width; ++column) {
        float* at = layer.values.data() + static_cast<std::ptrdiff_t>(row) * layer.pitch + column;
        show(row, column, *at, at + plane);
      }
  }
  frame.meshes = &layer;
  frame.blocked = blocked;
  frame.scene = &scene;
}

}  // namespace iap
