// Include after `module iap.envs.legged;` and its imports, with <span>.
#pragma once

namespace iap {

/// Reads the options that say what actions mean; `usual` are their fallbacks. Those of the gait are read elsewhere.
/// @throws Error naming the option.
FootholdRanges read_ranges(Options& options, const FootholdRanges& usual);

/// What 22 values in [-1, 1] ask of the robot: for each leg x, y and z of its toe's offset, for each leg its clearance, velocity
/// ahead and sideways, twist, height, roll, pitch.
WalkCommand walk_command(const FootholdRanges& ranges, std::span<const float> action);

}  // namespace iap
