// Small vectors and row-major rotations for the sources of iap.sim. Include after `module iap.sim;`, with <array> and <cmath>.
#pragma once

namespace iap {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<double, 9>;

inline Vector3 operator+(const Vector3& a, const Vector3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline Vector3 operator-(const Vector3& a, const Vector3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Vector3 operator*(double s, const Vector3& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline Vector3 rotate(const Matrix3& m, const Vector3& v) {
  return {m[0] * v[0] + m[1] * v[1] + m[2] * v[2], m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
          m[6] * v[0] + m[7] * v[1] + m[8] * v[2]};
}

inline Matrix3 transposed(const Matrix3& m) { return {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}; }

inline Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  return c;
}

// Adds to an inertia what a point of `mass` at `r` has about the origin (Steiner).
inline void add_point(Matrix3& inertia, double mass, const Vector3& r) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) inertia[3 * i + j] += mass * ((i == j ? dot(r, r) : 0) - r[i] * r[j]);
}

}  // namespace iap
