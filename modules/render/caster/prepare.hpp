// How a scene becomes a frame. Include after `module iap.render;`, with <array>, <cmath> and frame.hpp before it.
#pragma once

namespace iap {

struct Double3 {
  double x = 0, y = 0, z = 0;
};
inline Double3 operator+(const Double3& a, const Double3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Double3 operator-(const Double3& a, const Double3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Double3 operator*(const Double3& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline double dot(const Double3& a, const Double3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Double3 cross(const Double3& a, const Double3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double length(const Double3& a) { return std::sqrt(dot(a, a)); }
inline Double3 normalized(const Double3& a) {
  const double l = length(a);
  return l > 1e-10 ? a * (1 / l) : Double3{0, 0, 1};
}
inline Double3 to_double(const Vec3& v) { return {v[0], v[1], v[2]}; }
inline Double3 to_double(const frame::Vector& v) { return {v.x, v.y, v.z}; }
inline frame::Vector to_float(const Double3& v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
}
inline Double3 axis(const Mat3& m, int i) { return {m[i], m[3 + i], m[6 + i]}; }

// Whether a plane, or its cells, have no end along an axis of this half size: far from where floats tell metres apart they are as
// good as without, and numbers of cells are finite.
inline bool is_endless(float half_size) { return !(half_size > 0 && half_size <= 1e9f); }

// The map from the world into the space where a shape has unit size.
struct Unit {
  std::array<Double3, 3> rows;
  Double3 position;
  double half_length = 0;
  inline Double3 direction(const Double3& v) const { return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)}; }
  inline Double3 point(const Double3& v) const { return direction(v - position); }
};
Unit unit_space(const Primitive& primitive);
double bounding_radius(const Primitive& primitive);

// A viewpoint and the rectangle of its image plane (at distance 1, or orthographic) that a primitive may touch.
struct Projector {
  Double3 eye, forward, right, up;
  double near_plane;
  bool orthographic;
};
struct Rectangle {
  double left, right, bottom, top;
};
Rectangle project(const Primitive& primitive, const Projector& projector);

void prepare_lights(const Scene& scene, const DrawOptions& options, const Double3& eye, const Double3& forward,
                    frame::Frame& frame);

// Lays out the light grids of the planes. Lights come before.
void prepare_grids(const Scene& scene, frame::Frame& frame);

// All of a frame but its rays. Reuses the frame's memory. Throws Error if the scene cannot be drawn.
void prepare_frame(const Scene& scene, const DrawOptions& options, int height, int width, frame::Frame& frame);
// The rays of a prepared frame; `shift` is where in a pixel its sample lies.
void aim_frame(const Scene& scene, double shift_x, double shift_y, frame::Frame& frame);

// The pixels that a mesh may touch.
frame::Bounds mesh_bounds(const Scene& scene, const MeshInstance& instance, const frame::Frame& frame, frame::View view);

// Casts the rays of an aimed frame at the scene's meshes, of which there must be one, and shows the frame what they met, and what
// the mirror shows of them if it has one. The frame keeps a reference to the others.
void lay_meshes(const Scene& scene, std::array<frame::MeshLayer, 2>& layers, frame::Frame& frame);

}  // namespace iap
