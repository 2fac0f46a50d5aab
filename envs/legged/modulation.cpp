module;
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.legged;
import iap.sim;
#include "modulation.hpp"

namespace iap {

Modulation::Range Modulation::read_range(Options& options, const char* key, Range widest, Range fallback) {
  if (!options.has(key)) {
    options.complete(key, Config::List{fallback.low, fallback.high});
    return fallback;
  }
  const auto& list = options.list(key);
  const auto number = [&](std::size_t i) { return i < list.size() && list[i].number() ? *list[i].number() : std::nan(""); };
  const Range range{number(0), number(1)};
  if (list.size() != 2 || !(range.low >= widest.low && range.low <= range.high && range.high <= widest.high))
    options.fail(text("option '", key, "' must be {low, high} with ", widest.low, " <= low <= high <= ", widest.high));
  return range;
}

legged::TrajectoryOptions Modulation::read_generator(Options& options) {
  return {.offsets = options.choice("gait", {"trot", "walk"}, "trot") == "walk" ? legged::walk_offsets : legged::trot_offsets,
          .residual = options.number_in("residual", 0, 1, .15)};
}

/// @lua options robots.modulation
/// What the 16 actions mean: frequency, intensity, height and ratio of a trajectory generator (PMTG), each linear over its range,
/// then a
/// residual for each joint.
/// @option gait "trot"|"walk" = "trot" - of the trajectory generator
/// @option residual number 0..1 = 0.15 - radians that an action of 1 adds to a joint's target
/// @option frequency number[] = { 0, 3 } - {low, high}, Hz: what actions of -1 and 1 mean; inside {0, 3}
/// @option intensity number[] = { 0, 1.5 } - {low, high}: how far legs swing; inside {0, 1.5}
/// @option height number[] = { -0.5, 1 } - {low, high}: of the robot in the generator's units; inside {-0.5, 1}
/// @option ratio number[] = { 0.2, 5 } - {low, high}: stance over swing; inside {0.2, 5}
/// @option leg_phases boolean = false - the state has the phases of the four legs (8 values) in place of the generator's (2)
/// @see legged.md
Modulation::Modulation(Options& options)
    : options_(read_generator(options)),
      generator_(options_),
      frequency_(read_range(options, "frequency", {0, 3}, {0, 3})),
      intensity_(read_range(options, "intensity", {0, 1.5}, {0, 1.5})),
      height_(read_range(options, "height", {-.5, 1}, {-.5, 1})),
      ratio_(read_range(options, "ratio", {.2, 5}, {.2, 5})),
      leg_phases_(options.boolean("leg_phases", false)) {}

std::span<const double> Modulation::targets(std::span<const float> action, double dt) {
  const auto within = [&](int i, Range range) { return range.low + (action[i] + 1.) / 2 * (range.high - range.low); };
  legged::TrajectoryCommand command{.frequency = within(0, frequency_),
                                    .intensity = within(1, intensity_),
                                    .height = within(2, height_),
                                    .stance_swing_ratio = within(3, ratio_)};
  for (int i = 0; i < 12; ++i) command.residuals[i / 3][i % 3] = options_.residual * action[4 + i];
  const auto legs = generator_.step(dt, command);
  for (int i = 0; i < 12; ++i) targets_[i] = legs[i / 3][i % 3];
  return targets_;
}

std::vector<double> Modulation::neutral_pose() const {
  std::vector<double> pose;
  for (int leg = 0; leg < legged::leg_count; ++leg) pose.insert(pose.end(), options_.neutral.begin(), options_.neutral.end());
  return pose;
}

float* Modulation::write(float* at) const {
  if (!leg_phases_) {
    for (const double part : generator_.state()) *at++ = static_cast<float>(part);
    return at;
  }
  for (const double phase : generator_.leg_phases()) {
    *at++ = static_cast<float>((std::cos(phase) + 1) / 2);
    *at++ = static_cast<float>((std::sin(phase) + 1) / 2);
  }
  return at;
}

std::vector<std::string> Modulation::state_names(const LeggedRobot& robot) const {
  if (!leg_phases_) return {"generator cosine", "generator sine"};
  std::vector<std::string> names;
  for (const auto& leg : robot.legs)
    for (const char* part : {" cosine", " sine"}) names.push_back(text("phase of ", leg.name, part));
  return names;
}

}  // namespace iap
