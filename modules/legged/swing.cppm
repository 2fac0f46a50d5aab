export module iap.legged:swing;
import :legs;

export namespace iap::legged {

struct SwingOptions {
  double peak_phase = 0.45, land_phase = 0.9;  ///< 0 < peak < land <= 1
  double peak_part = 0.7;                      ///< how far from lift to land the peak is, 0 ... 1
  double press = 0.03;                         ///< m that the foot presses on below its landing point, to find the ground
};

/// The path of a swinging foot through keyframes: where it lifted (phase 0), a peak of `clearance` above .3 lift + .7 land (.45),
/// the landing point (.9), and `press` below that (1).
///
/// Between two keyframes each coordinate is the cubic polynomial of phase with given slopes at both: 0 at lift, landing and the
/// end, at the peak 0 for z and that of the straight line from lift to landing for x and y. Positions and velocities are
/// continuous, and every coordinate moves one way only between two keyframes, so that it stays between them.
class SwingTrajectory {
 public:
  /// @throws Error naming the phase that is out of order.
  explicit SwingTrajectory(const SwingOptions& options = {});

  struct Point {
    Vector3 position{}, velocity{};  ///< m, and m per unit of phase
  };
  /// At `phase` of the swing, moved into [0, 1]. All points in one frame, z up.
  Point at(double phase, const Vector3& lift, const Vector3& land, double clearance) const;

 private:
  SwingOptions options_;
};

}  // namespace iap::legged
