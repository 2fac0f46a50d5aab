module;
#include <array>
export module iap.legged:geometry;

export namespace iap::legged {

using Vector3 = std::array<double, 3>;
/// Row-major.
using Matrix3 = std::array<double, 9>;
/// Something for each leg: front right, front left, rear right, rear left.
template <class T>
using PerLeg = std::array<T, 4>;

constexpr int leg_count = 4;
constexpr PerLeg<const char*> leg_names{"FR", "FL", "RR", "RL"};

constexpr bool is_right(int leg) { return leg % 2 == 0; }
constexpr bool is_front(int leg) { return leg < 2; }

/// Rz(yaw) Ry(pitch) Rx(roll): from a body's axes to the world's.
Matrix3 rotation(const Vector3& roll_pitch_yaw);
/// m v.
Vector3 apply(const Matrix3& m, const Vector3& v);
/// m' v; for a rotation, the inverse of `apply`.
Vector3 apply_transposed(const Matrix3& m, const Vector3& v);

}  // namespace iap::legged
