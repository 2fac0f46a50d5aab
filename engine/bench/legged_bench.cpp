module;
#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <vector>
module iap.bench;
import iap.core;
import iap.legged;
#include "bench.hpp"

namespace iap {
namespace {

using namespace legged;

struct Moment {
  BodyState state;
  BodyGoal goal;
};

/// Laikago a little or badly off its goal, so that few or many constraints are active.
std::vector<Moment> moments(double height, double size) {
  Random random(1);
  const auto drawn = [&](double most) { return most * size * (2 * random.uniform() - 1); };
  std::vector<Moment> all(64);
  for (auto& [state, goal] : all) {
    state.roll_pitch_yaw = {drawn(0.2), drawn(0.3), drawn(0.3)};
    state.angular_velocity = {drawn(1.5), drawn(1.5), drawn(1.5)};
    state.velocity = {drawn(0.8), drawn(0.6), drawn(0.3)};
    state.position = {0, 0, height + drawn(0.05)};
    goal.height = height;
    goal.velocity = {drawn(0.5), drawn(0.2), 0};
  }
  return all;
}

}  // namespace

void bench_legged(std::ostream& out) {
  constexpr double control_period = 4000;  // us, at 250 Hz
  const Robot& robot = find_robot("laikago");
  const Body body = standing_body(robot);
  const PerLeg<Vector3> feet = standing_feet(robot);
  out << "Laikago's stance MPC, horizon 10, 4 ms a control step:\n"
      << left_text("standing feet", 16) << right_text("variables", 10) << left_text("  pushed", 10) << right_text("median us", 10)
      << right_text("least cpu us", 14) << right_text("QP steps", 10) << right_text("x real time", 13) << "\n";
  StanceMpc mpc(body);
  for (const int count : {2, 3, 4})
    for (const double size : {0.2, 1.0}) {
      PerLeg<bool> standing{true, count > 2, count > 3, true};
      const auto all = moments(-feet[0][2], size);
      double steps = 0, median = 0, processor = 0;  // means over the states
      for (const auto& [state, goal] : all) {
        const Timing timing = measure(2.0 / static_cast<double>(all.size()), [&] { mpc.solve(state, goal, feet, standing); });
        const double part = 1e3 / static_cast<double>(all.size());
        median += part * timing.median;
        processor += part * timing.processor;
        steps += mpc.solve(state, goal, feet, standing).steps / static_cast<double>(all.size());
      }
      out << left_text(text(count), 16) << right_text(text(30 * count), 10) << left_text(size < 1 ? "  a little" : "  hard", 10)
          << right_text(fixed_text(median, 1), 10) << right_text(fixed_text(processor, 1), 14)
          << right_text(fixed_text(steps, 1), 10) << right_text(fixed_text(control_period / processor, 1), 13) << std::endl;
    }
}

}  // namespace iap
