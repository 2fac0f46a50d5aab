module;
#include <array>
/// The four legs, and the triples and matrices that speak of them.
export module iap.legged:legs;
import iap.geometry;

export namespace iap::legged {

using geometry::Matrix3;
using geometry::Vector3;

/// Something for each leg: front right, front left, rear right, rear left.
template <class T>
using PerLeg = std::array<T, 4>;

constexpr int leg_count = 4;
constexpr PerLeg<const char*> leg_names{"FR", "FL", "RR", "RL"};

constexpr bool is_right(int leg) { return leg % 2 == 0; }
constexpr bool is_front(int leg) { return leg < 2; }

}  // namespace iap::legged
