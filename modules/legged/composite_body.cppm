export module iap.legged:composite_body;
import :legs;
import :robots;

export namespace iap::legged {

/// A rigid body: the mass of a whole robot, its centre in the base frame and its inertia about that centre along the base's axes.
struct Body {
  double mass = 0;
  Vector3 centre{};
  Matrix3 inertia{};
};

/// The robot with all legs frozen at `joints`: sums of its parts by the parallel axis theorem. The base's own part is scaled to the
/// robot's total mass.
Body composite_body(const Robot& robot, const PerLeg<Vector3>& joints);
/// As it stands.
Body standing_body(const Robot& robot);
/// From the centre of mass of `standing_body` to each toe's centre there.
PerLeg<Vector3> standing_feet(const Robot& robot);

}  // namespace iap::legged
