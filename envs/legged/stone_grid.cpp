module;
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.env;
import iap.sim;
#include "slab.hpp"
#include "start.hpp"

namespace iap {
namespace {

GridOptions read(Options& options) {
  GridOptions own;
  const auto length = [&options](const char* key, double low, double& value) { value = options.number_in(key, low, 20, value); };
  length("stone", .01, own.stone);
  length("least_gap", 0, own.least_gap);
  length("most_gap", own.least_gap, own.most_gap);
  own.rotation = options.number_in("rotation", 0, .5, own.rotation);
  own.rows = static_cast<int>(options.integer_in("rows", 0, 100, own.rows));
  own.columns = static_cast<int>(options.integer_in("columns", 1, 100, own.columns));
  length("width", .1, own.width);
  read_start(options, own);
  length("finish", .05, own.finish);
  length("floor_depth", .6, own.depth);
  return own;
}

// Where `count` stones begin along one axis of the grid.
std::vector<double> places(const GridOptions& options, int count, double first, Random& random) {
  std::vector<double> begin;
  for (double at = first; static_cast<int>(begin.size()) < count;
       at += options.stone + random.uniform(options.least_gap, options.most_gap))
    begin.push_back(at);
  return begin;
}

}  // namespace

FootholdCourse stone_grid(const GridOptions& options, Random& random) {
  using namespace course_colours;
  constexpr double thickness = .5;
  FootholdCourse course{.terrain = {.plane = false}};
  auto& boxes = course.terrain.boxes;
  boxes.emplace_back();
  const double start = random.uniform(options.least_start, options.most_start) - options.behind;
  boxes.push_back(slab(-options.behind, start, options.width, 0, thickness, ends));
  const double angle = random.uniform(-options.rotation, options.rotation), cosine = std::cos(angle), sine = std::sin(angle);
  const auto gap = [&] { return random.uniform(options.least_gap, options.most_gap); };
  const auto rows = places(options, options.rows, gap(), random), columns = places(options, options.columns, 0, random);
  const double half = options.stone / 2, wide = columns.back() + options.stone;
  for (const double row : rows) course.marks.push_back(start + row);
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const double along = rows[row] + half, across = columns[column] + half - wide / 2;
      boxes.push_back(
          {.placement = {.position = {start + cosine * along - sine * across, sine * along + cosine * across, -thickness / 2},
                         .rotation = {cosine, -sine, 0, sine, cosine, 0, 0, 0, 1}},
           .half = {half, half, thickness / 2},
           .rgba = (row + column) % 2 ? dark : light});
    }
  const double length = rows.empty() ? 0 : rows.back() + options.stone;
  // Behind the corner that reaches furthest.
  const double end = start + cosine * length + std::abs(sine) * wide / 2 + gap();
  const double across = wide + 2 * std::abs(sine) * length;
  boxes.push_back(slab(end, end + options.finish, across, 0, thickness, ends));
  course.marks.push_back(end);
  course.goal = end + options.finish / 2;
  // What stands beyond the floor of the grid unturned widens it.
  const double back = std::min(-options.behind, start - std::abs(sine) * wide / 2 + floor_margin);
  boxes[0] = floor_below(back, end + options.finish, std::max(wide, across - 2 * floor_margin), options.depth);
  return course;
}

/// @lua options robots.laikago-grid
/// Laikago crosses a grid of small stones.
/// @option stone number 0.01..20 = 0.15 - side of a square stone, metres
/// @option rows integer 0..100 = 12 - along x
/// @option columns integer 1..100 = 6 - along y
/// @option least_gap number 0..20 = 0.13 - between two rows or columns, metres, uniform between the two
/// @option most_gap number least_gap..20 = 0.17 - likewise
/// @option rotation number 0..0.5 = 0.1 - most that the grid is turned about the middle of the start's front edge, radians
/// @option width number 0.1..20 = 0.6 - of the start, metres
/// @option least_start number 0.05..20 = 0.75 - length of the start, metres, uniform between the two
/// @option most_start number least_start..20 = 1 - likewise
/// @option behind number 0..20 = 0.45 - metres of the start behind the robot, less than least_start
/// @option finish number 0.05..20 = 2 - length of the end, metres; the episode is over in its middle
/// @option floor_depth number 0.6..20 = 1 - metres from the stones' tops to the floor below
/// @option toe_y number 0..1 = 0.15 - metres to the side that an action of 1 adds to where Raibert's rule lands a toe
/// @use robots.footholds
/// @see robots.md#a-grid-of-stones-laikago-grid
extern "C++" std::unique_ptr<Env> make_laikago_grid(Options& options) {
  const GridOptions own = read(options);
  const FootholdRanges usual{.toe = {.2, .15, .03}};
  return std::make_unique<FootholdEnv>("laikago-grid", options, [own](Random& random) { return stone_grid(own, random); }, usual);
}

}  // namespace iap
