module;
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.legged;
#include "gait.hpp"

namespace iap {
namespace {

legged::TrajectoryOptions read_generator(Options& options) {
  return {.offsets = options.choice("gait", {"trot", "walk"}, "trot") == "walk" ? legged::walk_offsets : legged::trot_offsets,
          .residual = options.number_in("residual", 0, 1, .15)};
}

}  // namespace

ModulatedGait::ModulatedGait(Options& options)
    : options_(read_generator(options)), generator_(options_), leg_phases_(options.boolean("leg_phases", false)) {
  const auto range = [&options](const std::string& name, double low, double high) {
    const double least = options.number_in("least_" + name, low, high, low);
    return Range{least, options.number_in("most_" + name, least, high, high)};
  };
  frequency_ = range("frequency", 0, 3);
  intensity_ = range("intensity", 0, 1.5);
  height_ = range("height", -.5, 1);
  ratio_ = range("ratio", .2, 5);
}

std::vector<double> ModulatedGait::neutral_pose() const {
  std::vector<double> pose;
  for (int leg = 0; leg < legged::leg_count; ++leg) pose.insert(pose.end(), options_.neutral.begin(), options_.neutral.end());
  return pose;
}

void ModulatedGait::reset() { generator_.reset(); }

std::span<const double> ModulatedGait::step(double dt, std::span<const float> action) {
  const auto within = [](float value, const Range& range) { return range.low + (value + 1.) / 2 * (range.high - range.low); };
  legged::TrajectoryCommand command{.frequency = within(action[0], frequency_),
                                    .intensity = within(action[1], intensity_),
                                    .height = within(action[2], height_),
                                    .stance_swing_ratio = within(action[3], ratio_)};
  for (int i = 0; i < joints; ++i) command.residuals[i / 3][i % 3] = options_.residual * action[numbers + i];
  const auto legs = generator_.step(dt, command);
  for (int i = 0; i < joints; ++i) targets_[i] = legs[i / 3][i % 3];
  return targets_;
}

float* ModulatedGait::write_state(float* at) const {
  const auto write = [&at](double part) { *at++ = static_cast<float>(part); };
  if (!leg_phases_) {
    std::ranges::for_each(generator_.state(), write);
    return at;
  }
  for (const double phase : generator_.leg_phases()) {
    write((std::cos(phase) + 1) / 2);
    write((std::sin(phase) + 1) / 2);
  }
  return at;
}

int ModulatedGait::state_size() const { return leg_phases_ ? 2 * legged::leg_count : 2; }

std::vector<std::string> ModulatedGait::state_names(std::span<const std::string> legs) const {
  if (!leg_phases_) return {"generator cosine", "generator sine"};
  std::vector<std::string> names;
  for (const auto& leg : legs)
    for (const char* part : {" cosine", " sine"}) names.push_back(text("phase of ", leg, part));
  return names;
}

}  // namespace iap
