module;
#include <array>
/// Vectors, rotations and where frames stand in each other. Frames are right-handed; lengths are in metres, angles in radians. The
/// operators are for standard arrays, so that who wants them asks: `using namespace geometry`.
export module iap.geometry:frames;

export namespace iap::geometry {

/// Of a point or a direction: x, y, z.
using Vector3 = std::array<double, 3>;
/// Row-major. Of a rotation R the columns are the axes of the frame that it turns: R v is, in the outer frame (the world), what v
/// is in the inner one (a body), and `transposed(R)` leads back.
using Matrix3 = std::array<double, 9>;

constexpr Matrix3 identity{1, 0, 0, 0, 1, 0, 0, 0, 1};

Vector3 operator+(const Vector3& a, const Vector3& b);
Vector3 operator-(const Vector3& a, const Vector3& b);
Vector3 operator*(double s, const Vector3& v);
Vector3 operator*(const Matrix3& m, const Vector3& v);
Matrix3 operator*(const Matrix3& a, const Matrix3& b);
double dot(const Vector3& a, const Vector3& b);
/// a x b, by the right hand.
Vector3 cross(const Vector3& a, const Vector3& b);
Matrix3 transposed(const Matrix3& m);

/// Rz(yaw) Ry(pitch) Rx(roll): about x, then y, then z of the outer frame (URDF's `rpy`).
Matrix3 rotation_of(double roll, double pitch, double yaw);
/// Roll, pitch and yaw of a rotation: pitch in [-pi/2, pi/2].
Vector3 roll_pitch_yaw(const Matrix3& rotation);
/// Unit quaternions are w, x, y, z.
Matrix3 rotation_of(const std::array<double, 4>& quaternion);
std::array<double, 4> quaternion_of(const Matrix3& rotation);

/// Where a frame stands in another one: its origin, and the rotation whose columns are its axes.
struct Placement {
  Vector3 position{};
  Matrix3 rotation = identity;
  bool operator==(const Placement&) const = default;
};

/// The frame `inner`, which is given in `outer`, in the frame that `outer` is given in.
Placement operator*(const Placement& outer, const Placement& inner);
/// A point that is given in `frame`, in the frame that `frame` is given in.
Vector3 operator*(const Placement& frame, const Vector3& point);

}  // namespace iap::geometry
