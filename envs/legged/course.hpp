// Include after `module iap.envs.legged;` and its imports, with <cstdint> and <vector>.
#pragma once

namespace iap {

/// A raised platform with walls on alternating sides, in metres; x = 0 is where the robot starts, y = 0 the platform's middle.
struct CourseOptions {
  double platform_length = 0, platform_width = 0, platform_height = 0;
  double wall_thickness = 0, wall_width = 0, wall_height = 0;  ///< along x, y and z
  double wall_spacing = 0;                                     ///< between the places of walls, along x
  double wall_side = 0;                                        ///< how far their middles are to the left or right
  double wall_jitter = 0;                                      ///< the most that a wall is off its place along x and along y
  double start = 0;                                            ///< of the platform behind x = 0
  double finish = 0;                                           ///< of the platform behind the line at which the course is complete
};

/// Reads the options of these names. @throws Error naming the option.
CourseOptions read_course(Options& options);

struct Course {
  Terrain terrain;             ///< a floor at z = 0, the platform, then the walls in order
  std::vector<double> passed;  ///< where along x each wall ends, rising
  double end = 0;              ///< where along x the course is complete
};

/// The course that `seed` draws: the first wall's side and how far each wall is off its place.
Course make_course(const CourseOptions& options, double friction, std::uint64_t seed);

}  // namespace iap
