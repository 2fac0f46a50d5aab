/// Inertias, and bodies that are joined to one.
export module iap.geometry:masses;
import :frames;

export namespace iap::geometry {

/// R I R': an inertia that is given along the axes of a frame `rotation`, along the axes that the frame is given in.
Matrix3 turned(const Matrix3& inertia, const Matrix3& rotation);
/// Adds to an inertia what a point of `mass` at `r` has about the origin (Steiner).
void add_point(Matrix3& inertia, double mass, const Vector3& r);

/// Rigid bodies joined to one, summed about the origin of its frame (the parallel axis theorem).
class CompositeBody {
 public:
  /// Adds a body that is given in a frame that stands at `place` in the composite's: its mass, where the centre of mass is and the
  /// inertia about that.
  void add(double mass, const Vector3& centre, const Matrix3& inertia, const Placement& place);

  double mass() const { return mass_; }
  /// Of mass. The composite must have some.
  Vector3 centre() const;
  /// About the centre, along the axes of the composite's frame.
  Matrix3 inertia() const;

 private:
  double mass_ = 0;
  Vector3 moment_{};   // sum of mass times centre
  Matrix3 inertia_{};  // about the origin
};

}  // namespace iap::geometry
