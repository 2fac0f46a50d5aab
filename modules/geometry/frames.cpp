module;
#include <algorithm>
#include <array>
#include <cmath>
module iap.geometry;

namespace iap::geometry {

Vector3 operator+(const Vector3& a, const Vector3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Vector3 operator-(const Vector3& a, const Vector3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vector3 operator*(double s, const Vector3& v) { return {s * v[0], s * v[1], s * v[2]}; }

Vector3 operator*(const Matrix3& m, const Vector3& v) {
  return {m[0] * v[0] + m[1] * v[1] + m[2] * v[2], m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
          m[6] * v[0] + m[7] * v[1] + m[8] * v[2]};
}

Matrix3 operator*(const Matrix3& a, const Matrix3& b) {
  Matrix3 c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  return c;
}

double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Matrix3 transposed(const Matrix3& m) { return {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}; }

Matrix3 rotation_of(double roll, double pitch, double yaw) {
  const double cr = std::cos(roll), sr = std::sin(roll), cp = std::cos(pitch), sp = std::sin(pitch), cy = std::cos(yaw),
               sy = std::sin(yaw);
  return {cy * cp,
          cy * sp * sr - sy * cr,
          cy * sp * cr + sy * sr,
          sy * cp,
          sy * sp * sr + cy * cr,
          sy * sp * cr - cy * sr,
          -sp,
          cp * sr,
          cp * cr};
}

Vector3 roll_pitch_yaw(const Matrix3& r) {
  return {std::atan2(r[7], r[8]), std::asin(std::clamp(-r[6], -1.0, 1.0)), std::atan2(r[3], r[0])};
}

Matrix3 rotation_of(const std::array<double, 4>& quaternion) {
  const auto [w, x, y, z] = quaternion;
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),    1 - 2 * (x * x + z * z),
          2 * (y * z - w * x),     2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
}

// From the largest of the four components, so that nothing is divided by a small number (Shepperd 1978).
std::array<double, 4> quaternion_of(const Matrix3& r) {
  const std::array<double, 4> squares{1 + r[0] + r[4] + r[8], 1 + r[0] - r[4] - r[8], 1 - r[0] + r[4] - r[8],
                                      1 - r[0] - r[4] + r[8]};
  const auto largest = std::ranges::max_element(squares) - squares.begin();
  const double s = 2 * std::sqrt(squares[largest]);
  switch (largest) {
    case 0: return {s / 4, (r[7] - r[5]) / s, (r[2] - r[6]) / s, (r[3] - r[1]) / s};
    case 1: return {(r[7] - r[5]) / s, s / 4, (r[1] + r[3]) / s, (r[2] + r[6]) / s};
    case 2: return {(r[2] - r[6]) / s, (r[1] + r[3]) / s, s / 4, (r[5] + r[7]) / s};
    default: return {(r[3] - r[1]) / s, (r[2] + r[6]) / s, (r[5] + r[7]) / s, s / 4};
  }
}

Placement operator*(const Placement& outer, const Placement& inner) {
  return {outer.position + outer.rotation * inner.position, outer.rotation * inner.rotation};
}

Vector3 operator*(const Placement& frame, const Vector3& point) { return frame.position + frame.rotation * point; }

}  // namespace iap::geometry
