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

StairsOptions read(Options& options) {
  StairsOptions own;
  const auto length = [&options](const char* key, double low, double& value) { value = options.number_in(key, low, 20, value); };
  length("width", .1, own.width);
  length("least_depth", .05, own.least_depth);
  length("most_depth", own.least_depth, own.most_depth);
  length("least_rise", 0, own.least_rise);
  length("most_rise", own.least_rise, own.most_rise);
  own.steps = static_cast<int>(options.integer_in("steps", 1, 100, own.steps));
  own.flights = static_cast<int>(options.integer_in("flights", 0, 20, own.flights));
  length("least_landing", .05, own.least_landing);
  length("most_landing", own.least_landing, own.most_landing);
  read_start(options, own);
  length("finish", .05, own.finish);
  length("floor_depth", .01, own.depth);
  return own;
}

}  // namespace

FootholdCourse stairs(const StairsOptions& options, Random& random) {
  using namespace course_colours;
  FootholdCourse course{.terrain = {.plane = false}};
  auto& boxes = course.terrain.boxes;
  boxes.emplace_back();
  double x = random.uniform(options.least_start, options.most_start) - options.behind, top = 0;
  const auto add = [&](double from, double to, const std::array<float, 4>& rgba) {
    boxes.push_back(slab(from, to, options.width, top, top + options.depth, rgba));
    x = to;
  };
  add(-options.behind, x, ends);
  for (int flight = 0; flight < options.flights; ++flight)
    for (int step = 1; step <= options.steps; ++step) {
      top += random.uniform(options.least_rise, options.most_rise);
      course.marks.push_back(x);
      if (step < options.steps)
        add(x, x + random.uniform(options.least_depth, options.most_depth), step % 2 ? light : dark);
      else if (flight + 1 < options.flights)
        add(x, x + random.uniform(options.least_landing, options.most_landing), ends);
    }
  course.goal = x + options.finish / 2;
  course.rise = top;
  add(x, x + options.finish, ends);
  boxes[0] = floor_below(-options.behind, x, options.width, options.depth);
  return course;
}

/// @lua options robots.laikago-stairs
/// Laikago climbs stairs.
/// @option steps integer 1..100 = 6 - of a flight
/// @option flights integer 0..20 = 2 - with a landing between two
/// @option least_depth number 0.05..20 = 0.25 - of a step, metres, uniform between the two
/// @option most_depth number least_depth..20 = 0.33 - likewise
/// @option least_rise number 0..20 = 0.16 - of a step, metres
/// @option most_rise number least_rise..20 = 0.19 - likewise
/// @option least_landing number 0.05..20 = 0.8 - length, metres
/// @option most_landing number least_landing..20 = 1.2 - likewise
/// @option width number 0.1..20 = 1 - metres
/// @option least_start number 0.05..20 = 0.75 - length of the start, metres, uniform between the two
/// @option most_start number least_start..20 = 1 - likewise
/// @option behind number 0..20 = 0.45 - metres of the start behind the robot, less than least_start
/// @option finish number 0.05..20 = 2 - length of the end, metres; the episode is over in its middle
/// @option floor_depth number 0.01..20 = 0.5 - metres from the start's top to the floor beside the stairs
/// @option speed number -2..2 = 0.12 - of the body ahead, m/s, at an action of 0
/// @option stance number 0.05..5 = 0.25 - seconds that a leg stands
/// @option duty number 0.1..0.95 = 0.55 - share of a cycle that it stands
/// @option swing_peak number 0.2..0.8 = 0.2 - how far on its way a swinging toe is at its highest
/// @option settle number 0..10 = 0.2 - seconds in which the body's height follows that of the footholds
/// @option toe_z number 0..1 = 0.4 - metres up that an action of 1 adds; heights are from the mean ground under the four feet
/// @option most_clearance number least_clearance..1 = 0.3 - of a swinging toe, metres, at an action of 1
/// @option least_height number 0.1..1 = 0.38 - of the body, metres, at an action of -1
/// @option pitch number 0..1 = 0.6 - of the body, radians
/// @use robots.footholds
/// @see robots.md#stairs-laikago-stairs
extern "C++" std::unique_ptr<Env> make_laikago_stairs(Options& options) {
  const StairsOptions own = read(options);
  const FootholdRanges usual{.toe = {.2, .05, .4},
                             .most_clearance = .3,
                             .speed = .12,
                             .least_height = .38,
                             .pitch = .6,
                             .stance = .25,
                             .duty = .55,
                             .peak = .2,
                             .settle = .2};
  return std::make_unique<FootholdEnv>("laikago-stairs", options, [own](Random& random) { return stairs(own, random); }, usual);
}

}  // namespace iap
