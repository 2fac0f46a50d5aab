// A blind trot for A1's environments. Include <algorithm>, <cstdint> and <vector> first, then import iap.env.
#pragma once

// 3 cycles a second, intensity .5, height 0, on the ground for 2.6 times as long as in the air.
inline const std::vector<float> trot = [] {
  std::vector<float> action(16);
  action[0] = 1;
  action[1] = action[2] = -1.f / 3;
  return action;
}();

struct Outcome {
  double total = 0, furthest = 0;
  int steps = 0;
  bool over = false;
};

inline Outcome walk(iap::Env& env, int steps, std::uint64_t seed = 3) {
  Outcome outcome;
  env.reset(seed);
  while (outcome.steps < steps && !outcome.over) {
    const auto result = env.step(trot);
    ++outcome.steps;
    outcome.total += result.reward;
    outcome.furthest = std::max(outcome.furthest, outcome.total);
    outcome.over = result.terminated;
  }
  return outcome;
}
