module;
export module iap.legged:leg_kinematics;
import :legs;
import :robots;

export namespace iap::legged {

/// Which way a knee bends: the sign of its angle. Backwards is that of A1 and Laikago; forwards is a human's.
enum class Knee { backwards, forwards };

/// From a leg's three joint angles (abduction, hip, knee) to its toe and back. All positions are the toe's centre in the base
/// frame.
class LegKinematics {
 public:
  /// @throws Error where a length is not positive or an axis is not +-1.
  explicit LegKinematics(const LegGeometry& geometry);

  const LegGeometry& geometry() const { return geometry_; }
  /// o + Rx(a) ((0, lateral, 0) + Ry(h) ((0, 0, -thigh) + Ry(k) (0, 0, -shank))).
  Vector3 forward(const Vector3& joints) const;
  /// d toe / d joints, row-major: row = coordinate, column = joint.
  Matrix3 jacobian(const Vector3& joints) const;

  struct Solution {
    Vector3 joints{};
    bool reached = true;  ///< whether `forward(joints)` is the target, rather than the point of the leg's reach nearest to it
  };
  /// Joint angles with the toe at `target`: of the two abductions that of the toe below the hip, of the two knees the one asked
  /// for. Where no angles reach it, those of the nearest point that some do (limits of joints aside). Every angle is in [-pi, pi].
  Solution inverse(const Vector3& target, Knee knee = Knee::backwards) const;

 private:
  LegGeometry geometry_;
};

/// Torques of a standing leg: -J' force - damping * rates, `force` being what the ground does to the foot, in the base frame.
Vector3 stance_torques(const Matrix3& jacobian, const Vector3& force, const Vector3& damping, const Vector3& rates);

}  // namespace iap::legged
