module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frame.hpp"
module iap.render;
import iap.core;
#include "prepare.hpp"

namespace iap {
namespace {

constexpr int most_cells = 200;

// As MuJoCo divides a plane: see Primitive::light_cell.
frame::GridAxis grid_axis(float given, double half_cell) {
  if (is_endless(given)) {
    const double start = -half_cell * most_cells;
    return {static_cast<float>(start), 0, static_cast<float>(2 * half_cell), most_cells + 2};
  }
  const double half_size = given;
  half_cell = std::max(half_cell, half_size / (most_cells - 2));
  int count = static_cast<int>(std::floor(half_size / half_cell));
  count -= count % 2;
  return {static_cast<float>(-half_size), static_cast<float>(half_size - count * half_cell), static_cast<float>(2 * half_cell),
          count + 2};
}

void add_grid(const Primitive& plane, bool shadows, const std::vector<frame::Light>& lights, frame::Frame& frame) {
  if (frame.grids.size() <= static_cast<std::size_t>(frame.grid_count)) frame.grids.emplace_back();
  frame::LightGrid& grid = frame.grids[frame.grid_count++];
  for (int i = 0; i < 2; ++i) grid.axes[i] = grid_axis(plane.size[i], plane.light_cell[i]);
  constexpr int block = frame::LightGrid::block;
  grid.pitch = (grid.axes[0].cells + 1 + block - 1) / block * block;
  grid.shadows = shadows;
  grid.passes = 1;
  if (shadows) grid.passes += static_cast<int>(std::ranges::count_if(lights, &frame::Light::shadows));
  constexpr int read_beyond = 16;
  grid.rgb.resize(static_cast<std::size_t>(grid.passes) * 3 * grid.plane_size() + read_beyond);
  grid.filled.assign(grid.plane_size() / block, 0);
}

}  // namespace

void prepare_grids(const Scene& scene, frame::Frame& frame) {
  frame.grid_count = 0;
  for (std::size_t i = 0; i < scene.primitives.size(); ++i) {
    const Primitive& plane = scene.primitives[i];
    if (plane.shape != Shape::plane || is_endless(plane.light_cell[0]) || is_endless(plane.light_cell[1])) continue;
    const bool opaque = std::ranges::find(frame.opaque, static_cast<int>(i)) != frame.opaque.end();
    for (const auto view : {frame::direct, frame::mirrored}) {
      if (view == frame::mirrored && (frame.mirror < 0 || frame.mirror == static_cast<int>(i))) continue;
      frame.solids[i].grid[view] = frame.grid_count;
      add_grid(plane, opaque && view == frame::direct, frame.lights, frame);
    }
  }
}

}  // namespace iap
