module;
#include <array>
#include <memory>
module iap.envs.legged;
import iap.core;
import iap.env;
import iap.sim;
#include "slab.hpp"
#include "start.hpp"

namespace iap {
namespace {

StepstonesOptions read(Options& options) {
  StepstonesOptions stones;
  const auto length = [&options](const char* key, double low, double& value) { value = options.number_in(key, low, 20, value); };
  length("width", .1, stones.width);
  read_start(options, stones);
  length("least_length", .05, stones.least_length);
  length("most_length", stones.least_length, stones.most_length);
  length("least_gap", 0, stones.least_gap);
  length("most_gap", stones.least_gap, stones.most_gap);
  stones.count = static_cast<int>(options.integer_in("stones", 0, 200, stones.count));
  length("finish", .05, stones.finish);
  length("floor_depth", .6, stones.depth);
  return stones;
}

}  // namespace

FootholdCourse stepstones(const StepstonesOptions& options, Random& random) {
  constexpr double thickness = .5;
  using namespace course_colours;
  FootholdCourse course{.terrain = {.plane = false}};
  auto& boxes = course.terrain.boxes;
  boxes.emplace_back();
  double x = random.uniform(options.least_start, options.most_start) - options.behind;
  boxes.push_back(slab(-options.behind, x, options.width, 0, thickness, ends));
  for (int i = 0; i < options.count; ++i) {
    x += random.uniform(options.least_gap, options.most_gap);
    course.marks.push_back(x);
    const double length = random.uniform(options.least_length, options.most_length);
    boxes.push_back(slab(x, x + length, options.width, 0, thickness, i % 2 ? dark : light));
    x += length;
  }
  x += random.uniform(options.least_gap, options.most_gap);
  course.marks.push_back(x);
  boxes.push_back(slab(x, x + options.finish, options.width, 0, thickness, ends));
  course.goal = x + options.finish / 2;
  boxes[0] = floor_below(-options.behind, x + options.finish, options.width, options.depth);
  return course;
}

/// @lua options robots.laikago-stepstones
/// Laikago crosses stones with gaps between them, seen by two depth cameras.
/// @option width number 0.1..20 = 0.5 - of stones, start and end, metres
/// @option stones integer 0..200 = 10 - how many
/// @option least_length number 0.05..20 = 0.5 - of a stone, metres, uniform between the two
/// @option most_length number least_length..20 = 0.8 - likewise
/// @option least_gap number 0..20 = 0.1 - between two, metres
/// @option most_gap number least_gap..20 = 0.2 - likewise
/// @option least_start number 0.05..20 = 0.75 - length of the start, metres, uniform between the two
/// @option most_start number least_start..20 = 1 - likewise
/// @option behind number 0..20 = 0.45 - metres of the start behind the robot, less than least_start
/// @option finish number 0.05..20 = 2 - length of the end, metres; the episode is over in its middle
/// @option floor_depth number 0.6..20 = 1 - metres from the stones' tops to the floor below
/// @use robots.footholds
/// @see robots.md#stones-to-step-on-laikago-stepstones
extern "C++" std::unique_ptr<Env> make_laikago_stepstones(Options& options) {
  const StepstonesOptions stones = read(options);
  return std::make_unique<FootholdEnv>("laikago-stepstones", options,
                                       [stones](Random& random) { return stepstones(stones, random); });
}

}  // namespace iap
