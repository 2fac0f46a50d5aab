module;
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.sim;
import iap.core;
import iap.render;
#include "mujoco_scene.hpp"

namespace iap {
namespace {

using Point = std::array<float, 3>;

// Worlds of one model show the same surfaces.
std::shared_ptr<const Mesh> shared_mesh(Triangles triangles) {
  static ForkMutex mutex;
  static std::vector<std::weak_ptr<const Mesh>> known;
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.expired(); });
  for (const auto& entry : known)
    if (auto mesh = entry.lock();
        mesh && mesh->triangles().vertices == triangles.vertices && mesh->triangles().indices == triangles.indices &&
        mesh->triangles().normals == triangles.normals && mesh->triangles().texcoords == triangles.texcoords)
      return mesh;
  auto mesh = std::make_shared<const Mesh>(std::move(triangles));
  known.push_back(mesh);
  return mesh;
}

std::span<const float> row(const std::vector<float>& values, std::uint32_t index) {
  constexpr std::size_t width = 3;
  return std::span(values).subspan(width * index, width);
}

Point difference(std::span<const float> a, std::span<const float> b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

float dot(std::span<const float> a, std::span<const float> b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Of a triangle, of length 1; 0 of one without an area.
Point normal_of(const Triangles& triangles, std::size_t first) {
  const auto corner = [&](std::size_t k) { return row(triangles.vertices, triangles.indices[first + k]); };
  const Point a = difference(corner(1), corner(0)), b = difference(corner(2), corner(0));
  Point normal{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  const float length = std::sqrt(dot(normal, normal));
  for (float& value : normal) value = length > 0 ? value / length : 0;
  return normal;
}

/// MuJoCo draws a corner with its triangle's own normal where the vertex's is far from it, about 37 degrees: so edges look sharp
/// that STL, whose vertices are joined, would have round. Vertices that are seen with several normals become several.
void sharpen(Triangles& triangles) {
  constexpr double nearest = 0.8;
  for (std::size_t first = 0; first < triangles.indices.size(); first += 3) {
    const Point normal = normal_of(triangles, first);
    for (std::size_t k = first; k < first + 3; ++k) {
      const std::uint32_t vertex = triangles.indices[k];
      if (dot(row(triangles.normals, vertex), normal) >= nearest) continue;
      triangles.indices[k] = static_cast<std::uint32_t>(triangles.vertices.size() / 3);
      const auto place = row(triangles.vertices, vertex);
      triangles.vertices.insert(triangles.vertices.end(), {place[0], place[1], place[2]});
      triangles.normals.insert(triangles.normals.end(), normal.begin(), normal.end());
    }
  }
}

Triangles mesh_triangles(const mjModel& model, int mesh) {
  const auto first = static_cast<std::ptrdiff_t>(3) * model.mesh_vertadr[mesh],
             count = static_cast<std::ptrdiff_t>(3) * model.mesh_vertnum[mesh];
  const auto face = static_cast<std::ptrdiff_t>(3) * model.mesh_faceadr[mesh],
             faces = static_cast<std::ptrdiff_t>(3) * model.mesh_facenum[mesh];
  Triangles triangles;
  triangles.vertices.assign(model.mesh_vert + first, model.mesh_vert + first + count);
  triangles.normals.assign(model.mesh_normal + first, model.mesh_normal + first + count);
  triangles.indices.assign(model.mesh_face + face, model.mesh_face + face + faces);
  if (const int texcoords = model.mesh_texcoordadr[mesh]; texcoords >= 0)
    triangles.texcoords.assign(model.mesh_texcoord + static_cast<std::ptrdiff_t>(2) * texcoords,
                               model.mesh_texcoord + static_cast<std::ptrdiff_t>(2) * (texcoords + model.mesh_vertnum[mesh]));
  else
    sharpen(triangles);
  return triangles;
}

// A field of heights as MuJoCo draws it: the surface, the sides down to the base, the base.
class FieldBuilder {
 public:
  FieldBuilder(const mjModel& model, int field)
      : rows_(model.hfield_nrow[field]), columns_(model.hfield_ncol[field]), heights_(model.hfield_data + model.hfield_adr[field]) {
    for (int i = 0; i < 4; ++i) size_[i] = static_cast<float>(model.hfield_size[4 * field + i]);
  }

  Triangles build() {
    constexpr std::size_t side_vertices = 6, side_triangles = 2;
    const auto rows = static_cast<std::size_t>(rows_), columns = static_cast<std::size_t>(columns_), sides = 2 * (rows + columns);
    triangles_.vertices.reserve(3 * (rows * columns + side_vertices * sides));
    triangles_.indices.reserve(3 * (2 * rows * columns + side_triangles * sides));
    for (int row = 0; row < rows_; ++row) {
      check_interrupt();
      for (int column = 0; column < columns_; ++column) add(at(row, column));
    }
    for (int row = 0; row + 1 < rows_; ++row)
      for (int column = 0; column + 1 < columns_; ++column) {
        const auto a = static_cast<std::uint32_t>(row * columns_ + column), c = a + static_cast<std::uint32_t>(columns_);
        triangles_.indices.insert(triangles_.indices.end(), {a, a + 1, c + 1, a, c + 1, c});
      }
    for (int row = 0; row + 1 < rows_; ++row)
      for (const int column : {0, columns_ - 1}) add_side(at(row, column), at(row + 1, column));
    for (int column = 0; column + 1 < columns_; ++column)
      for (const int row : {0, rows_ - 1}) add_side(at(row, column), at(row, column + 1));
    const Point a = base(at(0, 0)), b = base(at(0, columns_ - 1)), c = base(at(rows_ - 1, 0)),
                d = base(at(rows_ - 1, columns_ - 1));
    add(a, b, c);
    add(c, b, d);
    return std::move(triangles_);
  }

 private:
  Point at(int row, int column) const {
    const auto along = [](int index, int count) { return 2 * static_cast<float>(index) / static_cast<float>(count - 1) - 1; };
    return {size_[0] * along(column, columns_), size_[1] * along(row, rows_),
            size_[2] * heights_[static_cast<std::ptrdiff_t>(row) * columns_ + column]};
  }
  Point base(const Point& point) const { return {point[0], point[1], -size_[3]}; }
  void add(const Point& point) { triangles_.vertices.insert(triangles_.vertices.end(), point.begin(), point.end()); }
  void add(const Point& a, const Point& b, const Point& c) {
    for (const Point& point : {a, b, c}) {
      triangles_.indices.push_back(static_cast<std::uint32_t>(triangles_.vertices.size() / 3));
      add(point);
    }
  }
  void add_side(const Point& a, const Point& b) {
    add(a, b, base(a));
    add(base(a), b, base(b));
  }

  int rows_, columns_;
  const float* heights_;
  std::array<float, 4> size_{};
  Triangles triangles_;
};

}  // namespace

const std::shared_ptr<const Mesh>& ModelMeshes::get(const mjModel& model, const mjvGeom& geom) {
  meshes_.resize(static_cast<std::size_t>(model.nmesh) + static_cast<std::size_t>(model.nhfield));
  const bool field = geom.type == mjGEOM_HFIELD;
  // MuJoCo counts a mesh and its convex hull as two.
  const int index = field ? geom.dataid : geom.dataid / 2;
  auto& mesh = meshes_[static_cast<std::size_t>(field ? model.nmesh + index : index)];
  if (mesh) return mesh;
  check_interrupt();
  mesh = shared_mesh(field ? FieldBuilder(model, index).build() : mesh_triangles(model, index));
  return mesh;
}

std::string beyond_caster(const mjModel& model, const mjvScene& visible) {
  if (visible.nskin > 0) return "a skin";
  for (int i = 0; i < visible.ngeom; ++i) {
    const mjvGeom& geom = visible.geoms[i];
    const bool field = geom.type == mjGEOM_HFIELD, mesh = geom.type == mjGEOM_MESH;
    const bool known = field || mesh || geom.type == mjGEOM_PLANE || geom.type == mjGEOM_SPHERE || geom.type == mjGEOM_CAPSULE ||
                       geom.type == mjGEOM_ELLIPSOID || geom.type == mjGEOM_CYLINDER || geom.type == mjGEOM_BOX ||
                       geom.type == mjGEOM_NONE;
    if (!known && geom.type < mjGEOM_LABEL) return "lines, arrows or triangles";
    if ((field || mesh) && geom.texid >= 0 && model.tex_type[geom.texid] != mjTEXTURE_2D)
      return field ? "a height field with a cube texture" : "a mesh with a cube texture";
    if ((field || mesh) && geom.rgba[3] > 0 && geom.rgba[3] < 0.995F) return "a transparent mesh or height field";
  }
  return "";
}

}  // namespace iap
