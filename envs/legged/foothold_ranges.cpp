module;
#include <span>
module iap.envs.legged;
import iap.core;
import iap.legged;
#include "foothold_ranges.hpp"

namespace iap {

/// @lua options robots.foothold-ranges
/// What actions of -1 and 1 mean, for decisions about footholds.
/// @option toe_x number 0..1 = 0.2 - metres ahead that an action of 1 adds to where Raibert's rule lands a toe
/// @option toe_y number 0..1 = 0.05 - metres to the side
/// @option toe_z number 0..1 = 0.03 - metres up
/// @option least_clearance number 0..1 = 0.05 - of a swinging toe, metres, at an action of -1
/// @option most_clearance number least_clearance..1 = 0.1 - at an action of 1
/// @option speed number -2..2 = 0.3 - of the body ahead, m/s, at an action of 0
/// @option velocity_range number 0..2 = 0.05 - m/s more or less, ahead and to the side
/// @option twist number 0..2 = 0.2 - turning, rad/s
/// @option least_height number 0.1..1 = 0.42 - of the body, metres, at an action of -1
/// @option most_height number least_height..1 = 0.48 - at an action of 1
/// @option roll number 0..1 = 0.05 - of the body, radians
/// @option pitch number 0..1 = 0.2 - likewise
FootholdRanges read_ranges(Options& options, const FootholdRanges& usual) {
  FootholdRanges own = usual;
  own.toe = {options.number_in("toe_x", 0, 1, usual.toe[0]), options.number_in("toe_y", 0, 1, usual.toe[1]),
             options.number_in("toe_z", 0, 1, usual.toe[2])};
  own.least_clearance = options.number_in("least_clearance", 0, 1, usual.least_clearance);
  own.most_clearance = options.number_in("most_clearance", own.least_clearance, 1, usual.most_clearance);
  own.speed = options.number_in("speed", -2, 2, usual.speed);
  own.velocity = options.number_in("velocity_range", 0, 2, usual.velocity);
  own.twist = options.number_in("twist", 0, 2, usual.twist);
  own.least_height = options.number_in("least_height", .1, 1, usual.least_height);
  own.most_height = options.number_in("most_height", own.least_height, 1, usual.most_height);
  own.roll = options.number_in("roll", 0, 1, usual.roll);
  own.pitch = options.number_in("pitch", 0, 1, usual.pitch);
  return own;
}

WalkCommand walk_command(const FootholdRanges& ranges, std::span<const float> action) {
  constexpr int legs = legged::leg_count;
  const auto between = [](double low, double high, double value) { return low + (high - low) * (value + 1) / 2; };
  WalkCommand to;
  for (int leg = 0; leg < legs; ++leg) {
    for (int i = 0; i < 3; ++i) to.offsets[leg][i] = ranges.toe[i] * action[3 * leg + i];
    to.clearances[leg] = between(ranges.least_clearance, ranges.most_clearance, action[3 * legs + leg]);
  }
  const auto body = action.subspan(4 * legs);
  to.velocity = {ranges.speed + ranges.velocity * body[0], ranges.velocity * body[1]};
  to.twist = ranges.twist * body[2];
  to.height = between(ranges.least_height, ranges.most_height, body[3]);
  to.roll = ranges.roll * body[4];
  to.pitch = ranges.pitch * body[5];
  return to;
}

}  // namespace iap
