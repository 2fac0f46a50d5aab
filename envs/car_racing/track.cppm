module;
#include <array>
#include <cstddef>
#include <numbers>
#include <vector>
export module iap.envs.car_racing:track;
import iap.core;

export namespace iap::car_racing {

constexpr double scale = 6;                             ///< pixels of CarRacing-v0's drawing a world unit
constexpr double track_radius = 900 / scale;            ///< world units
constexpr double play_field = 2000 / scale;             ///< half the side of the square that the car must not leave
constexpr double track_step = 21 / scale;               ///< distance between points of the road's middle line
constexpr double road_half_width = 40 / scale;          ///< from the middle line to the edge
constexpr double border_width = 8 / scale;              ///< of the red and white marks
constexpr double turn_rate = 0.31;                      ///< largest turn a step, rad
constexpr double start_alpha = -std::numbers::pi / 12;  ///< rad, where the loop is cut open

using Point = std::array<double, 2>;
using Quad = std::array<Point, 4>;

/// One point of the road's middle line.
struct TrackPoint {
  double alpha = 0;    ///< angle around the origin, rad
  double heading = 0;  ///< rad; the road runs along (-sin, cos)
  double x = 0, y = 0;
};

/// A closed road of N points. Tile i is the piece of road between the points i - 1 and i.
struct Track {
  std::vector<TrackPoint> points;
  std::vector<bool> border;  ///< whether tile i has marks, on the inner side of its turn

  std::size_t size() const { return points.size(); }
  /// Corners of tile `i`, in order around it.
  Quad tile(std::size_t i) const;
  /// Corners of the marks beside tile `i`; a quad without area where the tile does not turn.
  Quad border_mark(std::size_t i) const;
};

/// CarRacing-v0's track generator: twelve checkpoints at random radii, a walk of bounded turns past them for five laps, and the
/// last full lap of it. Draws again until head and tail of the lap meet.
Track draw_track(Random& random);

}  // namespace iap::car_racing
