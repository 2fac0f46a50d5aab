#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../allocation.hpp"
#include "tried_blocks.hpp"

using namespace iap;

TEST_CASE("the counter sees an allocation") {
  const long before = allocations;
  const std::vector<float> values(100);
  CHECK(allocations > before);
  CHECK(values.size() == 100);
}

TEST_CASE("act, reset and set_parameters allocate nothing after the first act, with every block") {
  for (const Config& block : tried_blocks()) {
    INFO(to_json(block));
    Config architecture;
    architecture["kind"] = "sequence";
    architecture["blocks"] = Config::List{block, config("{'kind': 'mlp', 'hidden': [4]}")};
    Policy policy(architecture, image_spec(12, 16, 3, 4), 3);
    policy.initialise(1);
    const std::vector<float> parameters(policy.parameters().begin(), policy.parameters().end());
    const Frame first(policy.observation(), 1), second(policy.observation(), 2);
    policy.act(first.observation());
    const long before = allocations;
    for (std::uint64_t step = 0; step < episode_steps; ++step) policy.act((step % 2 ? first : second).observation());
    policy.reset(3);
    policy.set_parameters(parameters);
    policy.act(second.observation());
    CHECK(allocations == before);
  }
}
