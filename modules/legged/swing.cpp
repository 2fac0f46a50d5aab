module;
#include <algorithm>
module iap.legged;
import iap.core;

namespace iap::legged {
namespace {

struct Knot {
  double phase, value, slope;
};

struct Sample {
  double value, slope;
};

/// Hermite's cubic between two knots.
Sample between(const Knot& from, const Knot& to, double phase) {
  const double length = to.phase - from.phase, t = (phase - from.phase) / length, rest = 1 - t;
  const double change = to.value - from.value, begin = from.slope * length, end = to.slope * length;
  return {from.value + t * t * (3 - 2 * t) * change + t * rest * (rest * begin - t * end),
          (6 * t * rest * change + rest * (1 - 3 * t) * begin + t * (3 * t - 2) * end) / length};
}

}  // namespace

SwingTrajectory::SwingTrajectory(const SwingOptions& options) : options_(options) {
  if (!(options.peak_phase > 0 && options.peak_phase < options.land_phase && options.land_phase <= 1))
    throw Error(text("swing: peak and landing are at phases ", options.peak_phase, " and ", options.land_phase,
                     "; they must be in this order inside (0, 1]"));
  // Beyond this share a slope along the straight line would overshoot between the peak and a keyframe.
  const double line = 3 * options.land_phase;
  if (!(options.peak_part * line >= options.peak_phase &&
        (1 - options.peak_part) * line >= options.land_phase - options.peak_phase))
    throw Error(text("swing: the peak at phase ", options.peak_phase, " is ", options.peak_part,
                     " of the way; take a part nearer to phase / landing phase"));
}

SwingTrajectory::Point SwingTrajectory::at(double phase, const Vector3& lift, const Vector3& land, double clearance) const {
  phase = std::clamp(phase, 0.0, 1.0);
  Point point;
  for (int i = 0; i < 3; ++i) {
    const bool up = i == 2;
    const double part = options_.peak_part;
    const Knot begin{0, lift[i], 0}, landing{options_.land_phase, land[i], 0};
    const Knot peak{options_.peak_phase, (1 - part) * lift[i] + part * land[i] + (up ? clearance : 0),
                    up ? 0 : (land[i] - lift[i]) / options_.land_phase};
    const Sample sample = phase < options_.peak_phase   ? between(begin, peak, phase)
                          : phase < options_.land_phase ? between(peak, landing, phase)
                          : options_.land_phase < 1     ? between(landing, {1, land[i] - (up ? options_.press : 0), 0}, phase)
                                                        : Sample{landing.value, 0};
    point.position[i] = sample.value;
    point.velocity[i] = sample.slope;
  }
  return point;
}

}  // namespace iap::legged
