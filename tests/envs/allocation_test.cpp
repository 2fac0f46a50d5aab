#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../allocation.hpp"
import iap.core;
import iap.env;
import iap.envs;

using namespace iap;

namespace {

// Each environment as its example has it, and some with distractions.
std::vector<Config> cases() {
  std::vector<Config> configs;
  for (const auto& entry : env_catalog()) {
    Config& config = configs.emplace_back(parse_json(entry.example, entry.name));
    config["name"] = entry.name;
    config["action_repeat"] = 2;
    config.map()->erase("time_limit");
    // Room enough to walk on until the end.
    if (entry.name.starts_with("laikago-")) config["least_start"] = config["most_start"] = config["width"] = 12;
  }
  for (const char* name : {"cheetah-run", "reacher-easy"})
    for (const bool dynamic : {false, true})
      configs.push_back(Config::Map{{"name", name},
                                    {"pixels", Config::List{24, 32}},
                                    {"distraction", Config::Map{{"difficulty", "easy"}, {"dynamic", dynamic}}}});
  return configs;
}

}  // namespace

TEST_CASE("stepping and looking allocate nothing once the episode runs") {
  for (const Config& config : cases()) {
    auto env = make_env(config);
    // What sends all toes aside is soon over.
    const std::vector<float> action(env->spec().action_size, env->spec().name.starts_with("laikago-") ? 0 : 0.5f);
    env->reset(1);
    const auto run = [&](int steps) {
      for (int i = 0; i < steps; ++i) {
        env->step(action);
        env->observe();
      }
    };
    run(config.find("distraction") ? 130 : 30);  // a moving background has shown all its frames then
    const long before = allocations;
    run(50);
    const long after = allocations;
    CAPTURE(to_json(config));
    CHECK(after == before);
    CHECK(before > 0);
  }
}
