#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tried_blocks.hpp"
import iap.script;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

const bool registered = (register_lua(), true);

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
  for (const Config& tried : tried_blocks()) {
    INFO(to_json(tried));
    const std::string kind = kind_of(tried);
    const Policy policy = with_head(tried);
    const Block& block = *policy.root().children()[0];
    CHECK(block.kind() == kind);
    CHECK(block.path() == "1." + kind);
    CHECK(block.inputs() == 4);
    CHECK(block.outputs() > 0);
    Config wrong = tried;
    wrong["surely_unknown"] = 1;
    CHECK_THROWS_MATCHES(with_head(wrong), Error,
                         MessageMatches(ContainsSubstring("policy.1." + kind + ": unknown option 'surely_unknown'")));
  }
}

TEST_CASE("without the script layer, a block written in Lua says what is missing") {
  REQUIRE(registered);
  register_script_blocks(nullptr);
  for (const Config& tried : tried_blocks())
    if (kind_of(tried) == "script")
      CHECK_THROWS_MATCHES(with_head(tried), Error, MessageMatches(ContainsSubstring("call iap::register_lua() first")));
  register_lua_blocks();
}

TEST_CASE("every block's slices carry its path and fill the vector without gaps") {
  for (const Config& tried : tried_blocks()) {
    INFO(to_json(tried));
    const Policy policy = with_head(tried);
    std::size_t end = 0;
    for (const auto& slice : policy.layout().slices()) {
      CHECK((slice.name.starts_with("1." + kind_of(tried) + ".") || slice.name.starts_with("2.linear.")));
      CHECK(slice.offset == end);
      end += slice.size;
    }
    CHECK(end == policy.size());
  }
}

TEST_CASE("every block begins with finite parameters that the seed determines") {
  for (const Config& tried : tried_blocks()) {
    INFO(to_json(tried));
    Policy a = with_head(tried), b = with_head(tried);
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

TEST_CASE("every block's architecture holds all of its options, and builds itself") {
  for (const Config& given : tried_blocks()) {
    INFO(to_json(given));
    const Policy policy = with_head(given);
    const Config completed = policy.architecture();
    const Config& block = (*completed.find("blocks")->list())[0];
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

TEST_CASE("rows of values have distinct names, and their own options have defaults that are filled in") {
  std::set<std::string> names;
  for (const auto& entry : values_catalog()) {
    CAPTURE(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.examples.empty());
    for (const char* block : {"{'kind': 'rank', 'patch': 4, 'top': 3}", "{'kind': 'trans', 'patch': 4, 'tokens': 3}"}) {
      Config plain = config(block);
      plain["values"] = entry.name;
      const Policy policy = with_head(plain);
      for (const auto& option : entry.options) {
        CAPTURE(option);
        CHECK(policy.root().children()[0]->config().find(option));
      }
    }
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
