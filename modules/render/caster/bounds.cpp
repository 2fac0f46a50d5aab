module;
#include <algorithm>
#include <array>
#include <cmath>
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

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Rectangle everything{-infinity, infinity, -infinity, infinity};

Double3 in_view(const Projector& view, const Double3& point) {
  const Double3 v = point - view.eye;
  return {dot(view.right, v), dot(view.up, v), dot(view.forward, v)};
}

// The two tangents from the eye to a circle of radius r around (x, z), as x / z.
std::array<double, 2> tangents(double x, double z, double r) {
  const double root = r * std::sqrt(x * x + z * z - r * r), below = z * z - r * r;
  return {(x * z - root) / below, (x * z + root) / below};
}

Rectangle sphere(const Projector& view, const Double3& centre, double r) {
  const Double3 c = in_view(view, centre);
  if (view.orthographic) return {c.x - r, c.x + r, c.y - r, c.y + r};
  if (c.z - r <= view.near_plane) return everything;
  const auto x = tangents(c.x, c.z, r), y = tangents(c.y, c.z, r);
  return {x[0], x[1], y[0], y[1]};
}

Rectangle join(const Rectangle& a, const Rectangle& b) {
  return {std::min(a.left, b.left), std::max(a.right, b.right), std::min(a.bottom, b.bottom), std::max(a.top, b.top)};
}

// The rectangle around a plane's four corners or a box's eight, and where its edges come through the near plane.
Rectangle corners(const Projector& view, const Primitive& primitive) {
  const int axes = primitive.shape == Shape::plane ? 2 : 3, count = 1 << axes;
  std::array<Double3, 8> points;
  for (int corner = 0; corner < count; ++corner) {
    Double3 point = to_double(primitive.position);
    for (int i = 0; i < axes; ++i)
      point = point + axis(primitive.rotation, i) * (((corner >> i) & 1 ? 1.0 : -1.0) * primitive.size[i]);
    points[corner] = in_view(view, point);
  }
  Rectangle result{infinity, -infinity, infinity, -infinity};
  const auto add = [&](const Double3& point, double depth) {
    const double x = point.x / depth, y = point.y / depth;
    result = join(result, {x, x, y, y});
  };
  for (int corner = 0; corner < count; ++corner) {
    const Double3& a = points[corner];
    if (view.orthographic || a.z > view.near_plane) add(a, view.orthographic ? 1 : a.z);
    for (int i = 0; i < axes && !view.orthographic; ++i) {
      const Double3& b = points[corner ^ (1 << i)];
      if (a.z > view.near_plane && b.z <= view.near_plane)
        add(a + (b - a) * ((a.z - view.near_plane) / (a.z - b.z)), view.near_plane);
    }
  }
  return result;
}

}  // namespace

Unit unit_space(const Primitive& primitive) {
  Unit unit;
  unit.position = to_double(primitive.position);
  for (int i = 0; i < 3; ++i) {
    const int radius = primitive.shape == Shape::capsule ? 0 : i;
    const double scale = primitive.shape == Shape::plane ? 1 : 1 / std::max(static_cast<double>(primitive.size[radius]), 1e-9);
    unit.rows[i] = axis(primitive.rotation, i) * scale;
  }
  if (primitive.shape == Shape::capsule)
    unit.half_length = primitive.size[2] / std::max(static_cast<double>(primitive.size[0]), 1e-9);
  return unit;
}

// As MuJoCo sorts transparent geoms by it.
double bounding_radius(const Primitive& primitive) {
  const auto& s = primitive.size;
  switch (primitive.shape) {
    case Shape::sphere: return s[0];
    case Shape::capsule: return s[0] + s[2];
    case Shape::cylinder: return std::hypot(s[0], s[2]);
    case Shape::ellipsoid: return std::max({s[0], s[1], s[2]});
    case Shape::box: return std::hypot(s[0], s[1], s[2]);
    default: return 0;
  }
}

Rectangle project(const Primitive& primitive, const Projector& view) {
  const Double3 position = to_double(primitive.position);
  switch (primitive.shape) {
    case Shape::sphere: return sphere(view, position, primitive.size[0]);
    case Shape::capsule: {
      const Double3 end = axis(primitive.rotation, 2) * primitive.size[2];
      return join(sphere(view, position - end, primitive.size[0]), sphere(view, position + end, primitive.size[0]));
    }
    case Shape::plane:
      if (is_endless(primitive.size[0]) || is_endless(primitive.size[1])) return everything;
      return corners(view, primitive);
    default: return corners(view, primitive);
  }
}

}  // namespace iap
