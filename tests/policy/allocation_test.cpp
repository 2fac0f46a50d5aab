#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../allocation.hpp"
#include "helpers.hpp"

using namespace iap;

TEST_CASE("the counter sees an allocation") {
  const long before = allocations;
  const std::vector<float> values(100);
  CHECK(allocations > before);
  CHECK(values.size() == 100);
}

TEST_CASE("act, reset and set_parameters allocate nothing after the first act, with every block") {
  std::vector<Config> blocks;
  for (const auto& entry : block_catalog()) {
    blocks.push_back(parse_json(entry.example, entry.name));
    blocks.back()["kind"] = entry.name;
  }
  for (const std::string more :
       {"'kind': 'rank', 'query_weights': 'learned', 'heads': 2, 'masked': true, 'values': ['projection', 'histogram', "
        "'convolution']",
        "'kind': 'rank', 'encoding': 'learned', 'values': 'convolution', 'convolution': 'fixed'",
        "'kind': 'rank', 'encoding': 'sinusoidal', 'kernel': 'hybrid', 'redraw': 'episode'",
        "'kind': 'trans', 'kernel': 'hybrid', 'redraw': 2, 'order': 'queries_first'",
        "'kind': 'trans', 'kernel': 'exp', 'normalise_rows': true, 'order': 'queries_first', 'layer_norm': true",
        "'kind': 'trans', 'kernel': 'relu', 'values': ['content', 'position'], 'order': 'values_first'",
        "'kind': 'trans', 'kernel': 'softmax', 'compression': 'average'"})
    blocks.push_back(
        config("{'patch': 4, '" + std::string(more.find("trans") != std::string::npos ? "tokens" : "top") + "': 3, " + more + "}"));
  for (const Config& block : blocks) {
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
    for (int step = 0; step < 10; ++step) policy.act((step % 2 ? first : second).observation());
    policy.reset(3);
    policy.set_parameters(parameters);
    policy.act(second.observation());
    CHECK(allocations == before);
  }
}
