#pragma once
// Distracted environments and their episodes. Include it after the imports.
#include <cstdint>
#include <string>
#include <vector>

namespace iap {

using Bytes = std::vector<std::uint8_t>;

inline Config config(const std::string& name, const Config& distraction, int height = 48, int width = 64) {
  Config::Map map{{"name", name}, {"pixels", Config::List{height, width}}, {"state", true}};
  if (!distraction.is_null()) map["distraction"] = distraction;
  return map;
}

inline Config parse(const char* json) { return parse_json(json, "test"); }

struct Moment {
  std::vector<float> state;
  double reward;
  Bytes pixels;
};

// Seeded random actions from a seeded start.
inline std::vector<Moment> episode(Env& env, std::uint64_t seed, int steps) {
  Random random(seed);
  std::vector<float> action(env.spec().action_size);
  std::vector<Moment> moments;
  env.reset(seed);
  double reward = 0;
  for (int i = 0; i < steps; ++i) {
    const auto seen = env.observe();
    moments.push_back({{seen.vector.begin(), seen.vector.end()},
                       reward,
                       {seen.images[0].bytes(), seen.images[0].bytes() + seen.images[0].shape.count()}});
    for (float& a : action) a = static_cast<float>(random.uniform(-1, 1));
    reward = env.step(action).reward;
  }
  return moments;
}

inline std::vector<Moment> episode(const Config& with, std::uint64_t seed, int steps) {
  return episode(*make_env(with), seed, steps);
}

}  // namespace iap
