module;
#include <array>
#include <memory>
module iap.envs.legged;
import iap.core;
import iap.env;
import iap.sim;
#include "slab.hpp"

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
  length("least_start", .05, own.least_start);
  length("most_start", own.least_start, own.most_start);
  length("behind", 0, own.behind);
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
