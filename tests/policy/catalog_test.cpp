#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "helpers.hpp"
import iap.script;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

const bool registered = (register_lua(), true);

Config example(const BlockEntry& entry) {
  Config block = parse_json(entry.example, entry.name);
  block["kind"] = entry.name;
  return block;
}

/// The block, then a layer that makes an action of what it gives.
Policy with_head(const Config& block) {
  Config architecture;
  architecture["kind"] = "sequence";
  architecture["blocks"] = Config::List{block, config("{'kind': 'linear', 'activation': 'tanh'}")};
  return Policy(architecture, image_spec(12, 16, 3, 4), 3);
}

std::vector<std::vector<float>> episode(Policy& policy, std::uint64_t first_seed) {
  std::vector<std::vector<float>> actions;
  policy.reset(first_seed);
  for (std::uint64_t step = 0; step < 6; ++step) actions.push_back(act(policy, Frame(policy.observation(), first_seed + step)));
  return actions;
}

std::vector<float> values(const Policy& policy) { return {policy.parameters().begin(), policy.parameters().end()}; }

}  // namespace

TEST_CASE("catalog rows have distinct names and say what they are") {
  std::set<std::string> names;
  for (const auto& entry : block_catalog()) {
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.summary.empty());
  }
  CHECK(names.size() >= 8);
}

TEST_CASE("every block builds from its example and refuses unknown options by name") {
  for (const auto& entry : block_catalog()) {
    INFO(entry.name);
    const Policy policy = with_head(example(entry));
    const Block& block = *policy.root().children()[0];
    CHECK(block.kind() == entry.name);
    CHECK(block.path() == "1." + entry.name);
    CHECK(block.inputs() == 4);
    CHECK(block.outputs() > 0);
    Config wrong = example(entry);
    wrong["surely_unknown"] = 1;
    CHECK_THROWS_MATCHES(with_head(wrong), Error,
                         MessageMatches(ContainsSubstring("policy.1." + entry.name + ": unknown option 'surely_unknown'")));
  }
}

TEST_CASE("without the script layer, a block written in Lua says what is missing") {
  REQUIRE(registered);
  register_script_blocks(nullptr);
  for (const auto& entry : block_catalog())
    if (entry.name == "script")
      CHECK_THROWS_MATCHES(with_head(example(entry)), Error, MessageMatches(ContainsSubstring("call iap::register_lua() first")));
  register_lua_blocks();
}

TEST_CASE("every block's slices carry its path and fill the vector without gaps") {
  for (const auto& entry : block_catalog()) {
    INFO(entry.name);
    const Policy policy = with_head(example(entry));
    std::size_t end = 0;
    for (const auto& slice : policy.layout().slices()) {
      CHECK((slice.name.starts_with("1." + entry.name + ".") || slice.name.starts_with("2.linear.")));
      CHECK(slice.offset == end);
      end += slice.size;
    }
    CHECK(end == policy.size());
  }
}

TEST_CASE("every block begins with finite parameters that the seed determines") {
  for (const auto& entry : block_catalog()) {
    INFO(entry.name);
    Policy a = with_head(example(entry)), b = with_head(example(entry));
    a.initialise(1);
    b.initialise(1);
    CHECK(values(a) == values(b));
    CHECK(std::ranges::all_of(a.parameters(), [](float x) { return std::isfinite(x); }));
    b.initialise(2);
    for (const auto& slice : a.layout().slices()) {
      const auto one = a.parameters().subspan(slice.offset, slice.size), two = b.parameters().subspan(slice.offset, slice.size);
      const bool constant = std::ranges::all_of(one, [](float x) { return x == 0 || x == 1; });
      CHECK((constant || !std::ranges::equal(one, two)));
    }
  }
}

TEST_CASE("every block writes all of its outputs, and finite ones") {
  for (const auto& entry : block_catalog()) {
    INFO(entry.name);
    const auto spec = image_spec(12, 16, 3, 4);
    ParameterLayout layout;
    const auto block = make_block(example(entry), {&spec, 3, spec.vector, false, "policy"}, layout);
    std::vector<float> parameters(layout.size());
    Random random(1);
    random.fill_normal(parameters);
    const auto bind = [&](const auto& self, Block& node) -> void {
      node.bind(parameters);
      node.reset(0);
      for (const auto& child : node.children()) self(self, *child);
    };
    bind(bind, *block);
    const Frame frame(spec, 2);
    std::vector<float> out(static_cast<std::size_t>(block->outputs()) + 1, std::numeric_limits<float>::quiet_NaN());
    block->forward(frame.observation(), frame.vector(), std::span<float>(out).first(out.size() - 1));
    CHECK(std::ranges::all_of(out.begin(), out.end() - 1, [](float x) { return std::isfinite(x); }));
    CHECK(std::isnan(out.back()));
  }
}

TEST_CASE("a used policy's episode equals a fresh one's, with every block") {
  for (const auto& entry : block_catalog()) {
    INFO(entry.name);
    Policy fresh = with_head(example(entry)), used = with_head(example(entry));
    fresh.initialise(5);
    used.initialise(5);
    const auto other = episode(used, 100);
    const auto expected = episode(fresh, 7);
    CHECK(episode(used, 7) == expected);
    if (entry.name != "clock") CHECK(other != expected);  // a clock does not look
    Policy copy = used.clone();
    CHECK(episode(copy, 7) == expected);
  }
}

TEST_CASE("a policy with any block survives its file") {
  for (const auto& entry : block_catalog()) {
    INFO(entry.name);
    Policy policy = with_head(example(entry));
    policy.initialise(6);
    auto loaded = load_policy(save_policy(policy, {}), "x.iap");
    CHECK(values(loaded.policy) == values(policy));
    CHECK(episode(loaded.policy, 8) == episode(policy, 8));
  }
}

TEST_CASE("every block's architecture holds all of its options, and builds itself") {
  for (const auto& entry : block_catalog()) {
    INFO(entry.name);
    const Policy policy = with_head(example(entry));
    const Config completed = policy.architecture();
    const Config& block = (*completed.find("blocks")->list())[0];
    const Config given = example(entry);
    for (const auto& [key, value] : *given.map())
      if (!value.list() && !value.map()) CHECK((block.find(key) && *block.find(key) == value));
    const Policy again(completed, policy.observation(), policy.action_size());
    CHECK(again.architecture() == completed);
    CHECK(parse_json(to_json(completed), "test") == completed);
    REQUIRE(again.layout().slices().size() == policy.layout().slices().size());
    for (std::size_t i = 0; i < policy.layout().slices().size(); ++i)
      CHECK(again.layout().slices()[i].name == policy.layout().slices()[i].name);
  }
}

TEST_CASE("defaults are filled in, inside containers too") {
  const auto spec = image_spec(12, 16, 3, 4);
  const Policy policy(config("{'kind': 'sequence', 'blocks': [{'kind': 'concat', 'blocks': [{'kind': 'rank', 'patch': 4, 'top': 2, "
                             "'kernel': 'hybrid'}, {'kind': 'observation'}]}, {'kind': 'linear'}]}"),
                      spec, 3);
  CHECK(
      policy.architecture() ==
      config("{'kind': 'sequence', 'blocks': [{'kind': 'concat', 'blocks': [{'kind': 'rank', 'image': 'pixels', 'pool': 1, "
             "'contrast': 'none', "
             "'patch': 4, "
             "'stride': 4, 'd': 8, 'top': 2, 'pixel_offset': -0.5, 'position_range': 'signed', 'centre': 'exact', 'masked': false, "
             "'query_weights': 'ones', 'bias': false, 'selection': 'top', 'heads': 1, 'encoding': 'none', 'values': 'position', "
             "'motion': false, "
             "'kernel': 'hybrid', 'm': 10, 'r': 5, 'ensemble': 'orthogonal', 'feature_seed': 0, 'redraw': 'never', 'threads': 1, "
             "'input': 'plain', 'scale': 'd', 'temperature': 1.0, 'brute_force': false}, {'kind': 'observation'}]}, "
             "{'kind': 'linear', 'units': 3, 'activation': 'none', 'scale': 0.1, 'bias': true}]}"));
  const Policy agent(config("{'kind': 'attention_agent', 'rank': {'patch': 4, 'top': 3}}"), spec, 3);
  const Config& rank = *agent.architecture().find("rank");
  CHECK(*rank.find("scale") == Config("c"));
  CHECK(*rank.find("d") == Config(4));
  CHECK(*rank.find("normalise_rows") == Config(true));
  CHECK(*agent.architecture().find("lstm_units") == Config(16));
}
