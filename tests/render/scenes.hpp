// Small scenes and the double-precision geometry that tests judge pictures by. Include after the imports.
#pragma once

namespace test {

using namespace iap;
using Bytes = std::vector<std::uint8_t>;

struct Point {
  double x = 0, y = 0, z = 0;
};
inline Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Point operator*(Point a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline double dot(Point a, Point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline double norm(Point a) { return std::sqrt(dot(a, a)); }
inline Point unit(Point a) { return a * (1 / norm(a)); }
inline Point cross(Point a, Point b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline Point point(const Vec3& v) { return {v[0], v[1], v[2]}; }
inline Point to_local(const Primitive& p, Point world) {
  const Point d = world - point(p.position);
  const auto& r = p.rotation;
  return {r[0] * d.x + r[3] * d.y + r[6] * d.z, r[1] * d.x + r[4] * d.y + r[7] * d.z, r[2] * d.x + r[5] * d.y + r[8] * d.z};
}

inline bool inside(const Primitive& p, Point world) {
  const Point q = to_local(p, world);
  const auto& s = p.size;
  switch (p.shape) {
    case Shape::sphere: return norm(q) <= s[0];
    case Shape::capsule: return norm({q.x, q.y, q.z - std::clamp<double>(q.z, -s[2], s[2])}) <= s[0];
    case Shape::ellipsoid: return norm({q.x / s[0], q.y / s[1], q.z / s[2]}) <= 1;
    case Shape::cylinder: return std::hypot(q.x, q.y) <= s[0] && std::abs(q.z) <= s[2];
    case Shape::box: return std::abs(q.x) <= s[0] && std::abs(q.y) <= s[1] && std::abs(q.z) <= s[2];
    default: return false;
  }
}

inline Mat3 rotation(double angle, Point about) {
  const Point a = unit(about);
  const double c = std::cos(angle), s = std::sin(angle), k = 1 - c;
  const double m[] = {c + a.x * a.x * k,       a.x * a.y * k - a.z * s, a.x * a.z * k + a.y * s,
                      a.y * a.x * k + a.z * s, c + a.y * a.y * k,       a.y * a.z * k - a.x * s,
                      a.z * a.x * k - a.y * s, a.z * a.y * k + a.x * s, c + a.z * a.z * k};
  Mat3 result;
  for (int i = 0; i < 9; ++i) result[i] = static_cast<float>(m[i]);
  return result;
}

// Shows its colour whatever the light.
inline Primitive glowing(Shape shape, Vec3 size, Vec3 position, Rgba rgba) {
  Primitive p;
  p.shape = shape;
  p.size = size;
  p.position = position;
  p.rgba = rgba;
  p.emission = 1;
  p.specular = 0;
  return p;
}

// One light that shines on nothing, so that the ambient light of a scene without any is not there either.
inline Light dark() { return Light{}; }

inline Point ray(const Camera& camera, int height, int width, double column, double row) {
  const Point forward = unit(point(camera.forward)), right = unit(cross(forward, point(camera.up))), up = cross(right, forward);
  const double step = 2 * std::tan(camera.vertical_fov_degrees * std::numbers::pi / 360) / height;
  return forward + right * ((column - width / 2.0) * step) + up * ((height / 2.0 - row) * step);
}

inline Bytes draw(const Scene& scene, int height, int width, const DrawOptions& options = {}) {
  Caster caster;
  Bytes rgb(static_cast<std::size_t>(height) * width * 3);
  caster.draw(scene, options, height, width, rgb);
  return rgb;
}

}  // namespace test
