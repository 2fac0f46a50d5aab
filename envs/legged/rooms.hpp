// Include after `module iap.envs.legged;` and its imports, with <cstdint> and <vector>.
#pragma once

namespace iap {

struct Span {
  double least = 0, most = 0;
};

/// A flat of rooms one behind the other along x, in metres; lengths and places are uniform between bounds.
struct RoomsOptions {
  int rooms = 0;
  Span length, width;      ///< of rooms, along x and y
  Span door;               ///< width of a doorway
  double door_height = 0;  ///< the wall goes on above it
  double door_shift = 0;   ///< the most that a doorway lies to the side of the one before
  double gates = 0;        ///< probability that a room has a gate across its middle
  Span gate;               ///< width of its opening
  double gate_height = 0;  ///< of the barriers beside it
  double wall_height = 0, wall_thickness = 0;
  double start = 0;   ///< of the first room behind x = 0
  double finish = 0;  ///< how far behind the last doorway the flat is crossed
};

/// Reads the options of these names (least_length, most_length and so on). @throws Error naming the option.
RoomsOptions read_rooms(Options& options);

/// A doorway or the opening of a gate: at `x` its far side, at `y` its middle.
struct Opening {
  double x = 0, y = 0, width = 0;
};

struct Rooms {
  Terrain terrain;                ///< a floor at z = 0 and boxes
  std::vector<Opening> openings;  ///< in order
  double end = 0;                 ///< where along x the flat is crossed
};

/// The flat that `seed` draws. The robot starts at (0, 0), ahead is x.
Rooms make_rooms(const RoomsOptions& options, double friction, std::uint64_t seed);

}  // namespace iap
