module;
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.sim;
#include "course.hpp"

namespace iap {
namespace {

constexpr std::array<float, 4> platform_rgba{.8f, .77f, .7f, 1}, wall_rgba{.72f, .3f, .2f, 1};

}  // namespace

/// @lua options robots.course
/// A platform with walls on it.
/// @option platform_length number 0.01..100 = 12 - metres
/// @option platform_width number 0.01..100 = 3 - metres
/// @option platform_height number 0.01..100 = 0.5 - metres above the ground
/// @option start number 0..100 = 1 - metres of the platform behind the robot
/// @option finish number 0..100 = 0.5 - metres of it behind the line at which the course is complete
/// @option wall_thickness number 0.01..100 = 0.2 - along x, metres
/// @option wall_width number 0.01..100 = 1.2 - along y, metres
/// @option wall_height number 0.01..100 = 0.6 - metres
/// @option wall_spacing number 0.1..100 = 1.5 - metres between two walls
/// @option wall_side number 0..100 = 0.5 - metres from a wall's middle to the middle of the way, to the left and the right in turn
/// @option wall_jitter number 0..100 = 0.3 - most that a wall is off its place along x and along y, metres
/// @option courses integer[] = {} - {first, last}: each episode is on one of the courses of these numbers; {}: on one of its own
CourseOptions read_course(Options& options) {
  constexpr double least = .01, longest = 100;
  const auto length = [&](const char* name, double standard) { return options.number_in(name, least, longest, standard); };
  const auto distance = [&](const char* name, double standard) { return options.number_in(name, 0, longest, standard); };
  CourseOptions course{.platform_length = length("platform_length", 12),
                       .platform_width = length("platform_width", 3),
                       .platform_height = length("platform_height", .5),
                       .wall_thickness = length("wall_thickness", .2),
                       .wall_width = length("wall_width", 1.2),
                       .wall_height = length("wall_height", .6),
                       .wall_spacing = options.number_in("wall_spacing", .1, longest, 1.5),
                       .wall_side = distance("wall_side", .5),
                       .wall_jitter = distance("wall_jitter", .3),
                       .start = distance("start", 1),
                       .finish = distance("finish", .5)};
  if (course.platform_length <= course.start + course.finish)
    options.fail(text("a platform of ", course.platform_length, " m ends before the course does; make it longer than start = ",
                      course.start, " and finish = ", course.finish, " together"));
  return course;
}

Course make_course(const CourseOptions& options, double friction, std::uint64_t seed) {
  Random random({.seed = seed, .member = 1, .purpose = Purpose::environment});
  Course course{.terrain = {.friction = friction}, .end = options.platform_length - options.start - options.finish};
  const auto add = [&course](std::array<double, 3> middle, std::array<double, 3> sides, const std::array<float, 4>& rgba) {
    course.terrain.boxes.push_back(
        {.placement = {.position = middle}, .half = {sides[0] / 2, sides[1] / 2, sides[2] / 2}, .rgba = rgba});
  };
  add({options.platform_length / 2 - options.start, 0, options.platform_height / 2},
      {options.platform_length, options.platform_width, options.platform_height}, platform_rgba);
  double side = random.below(2) == 0 ? 1 : -1;
  const double last = course.end - options.wall_jitter - options.wall_thickness / 2;
  for (int wall = 1; wall * options.wall_spacing <= last; ++wall, side = -side) {
    const double x = wall * options.wall_spacing + random.uniform(-options.wall_jitter, options.wall_jitter);
    const double y = side * options.wall_side + random.uniform(-options.wall_jitter, options.wall_jitter);
    add({x, y, options.platform_height + options.wall_height / 2},
        {options.wall_thickness, options.wall_width, options.wall_height}, wall_rgba);
    course.passed.push_back(x + options.wall_thickness / 2);
  }
  std::ranges::sort(course.passed);
  return course;
}

}  // namespace iap
