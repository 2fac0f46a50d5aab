module;
#include <cmath>
module iap.legged;

namespace iap::legged {

Matrix3 rotation(const Vector3& roll_pitch_yaw) {
  const double cr = std::cos(roll_pitch_yaw[0]), sr = std::sin(roll_pitch_yaw[0]);
  const double cp = std::cos(roll_pitch_yaw[1]), sp = std::sin(roll_pitch_yaw[1]);
  const double cy = std::cos(roll_pitch_yaw[2]), sy = std::sin(roll_pitch_yaw[2]);
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

Vector3 apply(const Matrix3& m, const Vector3& v) {
  Vector3 out{};
  for (int row = 0; row < 3; ++row) out[row] = m[3 * row] * v[0] + m[3 * row + 1] * v[1] + m[3 * row + 2] * v[2];
  return out;
}

Vector3 apply_transposed(const Matrix3& m, const Vector3& v) {
  Vector3 out{};
  for (int row = 0; row < 3; ++row) out[row] = m[row] * v[0] + m[row + 3] * v[1] + m[row + 6] * v[2];
  return out;
}

}  // namespace iap::legged
