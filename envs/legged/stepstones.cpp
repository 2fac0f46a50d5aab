module;
#include <array>
#include <memory>
module iap.envs.legged;
import iap.core;
import iap.env;
import iap.sim;

namespace iap {
namespace {

constexpr double thickness = .5, floor_thickness = .1;  // m

// Level, its top at `top`.
TerrainBox slab(double from, double to, double width, double top, double thick, const std::array<float, 4>& rgba) {
  return {.placement = {.position = {(from + to) / 2, 0, top - thick / 2}},
          .half = {(to - from) / 2, width / 2, thick / 2},
          .rgba = rgba};
}

StepstonesOptions read(Options& options) {
  StepstonesOptions stones;
  const auto length = [&options](const char* key, double low, double& value) { value = options.number_in(key, low, 20, value); };
  length("width", .1, stones.width);
  length("least_start", .05, stones.least_start);
  length("most_start", stones.least_start, stones.most_start);
  length("behind", 0, stones.behind);
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
  constexpr std::array<float, 4> below{.25f, .27f, .3f, 1}, ends{.55f, .6f, .65f, 1}, light{.72f, .68f, .6f, 1},
      dark{.6f, .56f, .5f, 1};
  constexpr double margin = 2;
  FootholdCourse course{.terrain = {.plane = false}};
  auto& boxes = course.terrain.boxes;
  boxes.emplace_back();
  double x = random.uniform(options.least_start, options.most_start) - options.behind;
  boxes.push_back(slab(-options.behind, x, options.width, 0, thickness, ends));
  for (int i = 0; i < options.count; ++i) {
    x += random.uniform(options.least_gap, options.most_gap);
    const double length = random.uniform(options.least_length, options.most_length);
    boxes.push_back(slab(x, x + length, options.width, 0, thickness, i % 2 ? dark : light));
    x += length;
  }
  x += random.uniform(options.least_gap, options.most_gap);
  boxes.push_back(slab(x, x + options.finish, options.width, 0, thickness, ends));
  course.goal = x + options.finish / 2;
  boxes[0] = slab(-options.behind - margin, x + options.finish + margin, options.width + 2 * margin, -options.depth,
                  floor_thickness, below);
  return course;
}

extern "C++" std::unique_ptr<Env> make_laikago_stepstones(Options& options) {
  const StepstonesOptions stones = read(options);
  return std::make_unique<FootholdEnv>("laikago-stepstones", options,
                                       [stones](Random& random) { return stepstones(stones, random); });
}

}  // namespace iap
