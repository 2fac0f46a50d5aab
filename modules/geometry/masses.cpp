module iap.geometry;

namespace iap::geometry {

Matrix3 turned(const Matrix3& inertia, const Matrix3& rotation) { return rotation * inertia * transposed(rotation); }

void add_point(Matrix3& inertia, double mass, const Vector3& r) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) inertia[3 * i + j] += mass * ((i == j ? dot(r, r) : 0) - r[i] * r[j]);
}

void CompositeBody::add(double mass, const Vector3& centre, const Matrix3& inertia, const Placement& place) {
  const auto& r = place.rotation;
  const Matrix3 half = r * inertia;
  // Term by term into the sum, not `turned` first: recorded walks hang on the last bits.
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) inertia_[3 * i + j] += half[3 * i + k] * r[3 * j + k];
  const Vector3 at = place * centre;
  add_point(inertia_, mass, at);
  mass_ += mass;
  moment_ = moment_ + mass * at;
}

Vector3 CompositeBody::centre() const { return {moment_[0] / mass_, moment_[1] / mass_, moment_[2] / mass_}; }

Matrix3 CompositeBody::inertia() const {
  Matrix3 about = inertia_;
  add_point(about, -mass_, centre());
  return about;
}

}  // namespace iap::geometry
