#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

namespace {

const char* const rank_and_state =
    "{'kind': 'sequence', 'blocks': [{'kind': 'concat', 'blocks': [{'kind': 'rank', 'patch': 4, 'top': 3}, {'kind': "
    "'observation'}]},"
    "{'kind': 'lstm', 'units': 6, 'name': 'memory'}, {'kind': 'linear', 'activation': 'tanh'}]}";

std::vector<std::string> slice_names(const Policy& policy) {
  std::vector<std::string> names;
  for (const auto& slice : policy.layout().slices()) names.push_back(slice.name);
  return names;
}

}  // namespace

TEST_CASE("slices are named by index and kind, or by the block's own name") {
  const Policy policy(config(rank_and_state), image_spec(16, 16, 3, 5), 2);
  CHECK(slice_names(policy) == std::vector<std::string>{"1.concat.1.rank.query", "1.concat.1.rank.key", "memory.weight_ih",
                                                        "memory.bias_ih", "memory.weight_hh", "memory.bias_hh", "3.linear.weight",
                                                        "3.linear.bias"});
  const Policy nested(
      config("{'kind': 'sequence', 'blocks': [{'kind': 'sequence', 'name': 'eye', 'blocks': [{'kind': 'linear'}]}]}"),
      vector_spec(2), 2);
  CHECK(slice_names(nested) == std::vector<std::string>{"eye.1.linear.weight", "eye.1.linear.bias"});
}

TEST_CASE("parameter counts of published and measured agents") {
  const auto count = [](const std::string& architecture, const ObservationSpec& spec, int actions) {
    return Policy(config(architecture), spec, actions).size();
  };
  const std::string cheetah =
      "{'kind': 'sequence', 'blocks': [{'kind': 'rank', 'patch': 4, 'stride': 4, 'd': 8, 'top': 5, 'kernel': 'relu'";
  const std::string head = "}, {'kind': 'linear', 'activation': 'tanh'}]}";
  CHECK(count(cheetah + head, image_spec(100, 100), 6) == 2 * 48 * 8 + 10 * 6 + 6);
  CHECK(count(cheetah + head, image_spec(100, 100), 6) == 834);
  CHECK(count(cheetah + ", 'motion': true" + head, image_spec(100, 100), 6) == 894);
  CHECK(count(cheetah + ", 'motion': true" + head, image_spec(100, 100), 1) == 789);
  // AttentionAgent (Tang et al. 2020, table 3): 1184 for attention, 2432 for the LSTM, 51 for the output.
  CHECK(count("{'kind': 'sequence', 'blocks': [{'kind': 'rank', 'patch': 7, 'stride': 4, 'd': 4, 'top': 10, 'bias': true},"
              "{'kind': 'lstm', 'units': 16}, {'kind': 'linear', 'activation': 'tanh'}]}",
              image_spec(96, 96), 3) == 3667);
}

TEST_CASE("an output that is not the action is an error that names the last block and both sizes") {
  const auto build = [](const std::string& blocks) {
    Policy(config("{'kind': 'sequence', 'blocks': [" + blocks + "]}"), vector_spec(3), 2);
  };
  CHECK_THROWS_MATCHES(
      build("{'kind': 'linear', 'units': 4}, {'kind': 'rnn', 'units': 7}"), Error,
      Message("policy: its last block '2.rnn' gives 7 values, but the environment takes 2 action values; end with a "
              "linear block"));
  CHECK_THROWS_MATCHES(build("{'kind': 'sequence', 'blocks': [{'kind': 'linear', 'units': 5}]}"), Error,
                       MessageMatches(ContainsSubstring("'1.sequence.1.linear' gives 5 values")));
  CHECK_THROWS_AS(Policy(config("{'kind': 'linear'}"), vector_spec(3), 0), Error);
}

TEST_CASE("architectures that cannot be built are errors that name the block") {
  const auto build = [](const std::string& architecture, int vector = 3) { Policy(config(architecture), vector_spec(vector), 2); };
  CHECK_THROWS_MATCHES(build("{}"), Error, Message("policy: option 'kind' is missing"));
  CHECK_THROWS_MATCHES(build("{'kind': 'lnear'}"), Error, Message("policy: unknown kind 'lnear'; did you mean 'linear'?"));
  CHECK_THROWS_MATCHES(build("3"), Error, Message("policy: expected a table of options, got 3"));
  CHECK_THROWS_MATCHES(build("{'kind': 'sequence'}"), Error, Message("policy: option 'blocks' must list at least one block"));
  CHECK_THROWS_MATCHES(build("{'kind': 'sequence', 'blocks': [3]}"), Error,
                       MessageMatches(StartsWith("policy.1.block: expected a table")));
  CHECK_THROWS_MATCHES(build("{'kind': 'sequence', 'blocks': [{'kind': 'linear'}, {'kind': 'linear'}]}"), Error,
                       MessageMatches(StartsWith("policy.1.linear: option 'units' is missing")));
  CHECK_THROWS_MATCHES(build("{'kind': 'sequence', 'blocks': [{'kind': 'sequence', 'blocks': [{'kind': 'linear'}]}, "
                             "{'kind': 'linear'}]}"),
                       Error, MessageMatches(StartsWith("policy.1.sequence.1.linear: option 'units' is missing")));
  CHECK_THROWS_MATCHES(build("{'kind': 'concat', 'blocks': [{'kind': 'linear'}]}"), Error,
                       MessageMatches(StartsWith("policy.1.linear: option 'units' is missing")));
  CHECK_THROWS_MATCHES(build("{'kind': 'linear', 'units': 0}"), Error,
                       Message("policy: option 'units' must be in [1, 16777216], got 0"));
  CHECK_THROWS_MATCHES(build("{'kind': 'mlp', 'hidden': [8, 0]}"), Error,
                       MessageMatches(StartsWith("policy: option 'hidden' must hold sizes")));
  for (const std::string kind : {"linear", "mlp", "lstm", "rnn"})
    CHECK_THROWS_MATCHES(build("{'kind': '" + kind + "'}", 0), Error, MessageMatches(StartsWith("policy: has no input values")));
  CHECK_THROWS_MATCHES(build("{'kind': 'observation'}", 0), Error,
                       MessageMatches(StartsWith("policy: the environment's observation has no vector")));
  for (const std::string name : {"'1.linear'", "'a b'", "''", "'7up'", "5"})
    CHECK_THROWS_MATCHES(build("{'kind': 'sequence', 'blocks': [{'kind': 'linear', 'name': " + name + "}]}"), Error,
                         MessageMatches(StartsWith("policy: block 1 has the name ")));
  CHECK_THROWS_MATCHES(
      build("{'kind': 'sequence', 'blocks': [{'kind': 'rnn', 'name': 'x', 'units': 2}, {'kind': 'rnn', 'name': 'x'}]}"), Error,
      MessageMatches(ContainsSubstring("'x.weight_ih' is declared twice")));
}

TEST_CASE("a path names one block, with parameters or without") {
  const auto named = [](const char* name) { return text("{'kind': 'delta', 'name': '", name, "'}"); };
  const auto side_by_side = [&](const char* one, const char* other) {
    return config(text("{'kind': 'sequence', 'blocks': [{'kind': 'concat', 'blocks': [", named(one), ", ", named(other),
                       "]}, {'kind': 'linear'}]}"));
  };
  CHECK_THROWS_WITH(Policy(side_by_side("a", "a"), vector_spec(3), 2), ContainsSubstring("two blocks are called '1.concat.a'"));
  CHECK_NOTHROW(Policy(side_by_side("a", "b"), vector_spec(3), 2));
}

TEST_CASE("sizes beyond reason are errors before memory is taken") {
  CHECK_THROWS_MATCHES(Policy(config("{'kind': 'sequence', 'blocks': [{'kind': 'linear', 'units': 16777216}, {'kind': 'linear'}]}"),
                              vector_spec(1000), 2),
                       Error, MessageMatches(StartsWith("policy: with ") && ContainsSubstring("make its layers smaller")));
  CHECK_THROWS_MATCHES(
      Policy(config("{'kind': 'concat', 'blocks': [{'kind': 'linear', 'units': 16777216}, {'kind': 'observation'}]}"),
             vector_spec(1), 2),
      Error, Message("policy: would hand over 16777217 values, at most 16777216 are allowed"));
  CHECK_THROWS_MATCHES(Policy(config("{'kind': 'rank', 'patch': 1, 'top': 16000000, 'values': ['content', 'position']}"),
                              image_spec(4000, 4000, 1), 2),
                       Error, MessageMatches(StartsWith("policy: would hand over 48000000 values")));
}

TEST_CASE("initial parameters of a block depend on the seed and its own path alone") {
  const auto initial = [](const std::string& blocks, std::uint64_t seed, const std::string& name) {
    Policy policy(config("{'kind': 'sequence', 'blocks': [" + blocks + "]}"), vector_spec(4), 3);
    policy.initialise(seed);
    return slice(policy, name);
  };
  const std::string first = "{'kind': 'linear', 'units': 4, 'name': 'first'}",
                    second = "{'kind': 'linear', 'units': 3, 'name': 'second'}";
  const auto alone = initial(second, 1, "second.weight");
  CHECK(initial(first + "," + second, 1, "second.weight") == alone);
  CHECK(initial(first + ",{'kind': 'rnn', 'units': 4}," + second, 1, "second.weight") == alone);
  CHECK(initial(second, 2, "second.weight") != alone);
  const auto other = initial(first + "," + second, 1, "first.weight");
  CHECK(other[0] != alone[0]);
}

TEST_CASE("initialise replaces all of the parameters") {
  Policy fresh(config(rank_and_state), image_spec(16, 16, 3, 5), 2), used(config(rank_and_state), image_spec(16, 16, 3, 5), 2);
  randomise(used, 1);
  used.initialise(9);
  fresh.initialise(9);
  CHECK(std::vector<float>(used.parameters().begin(), used.parameters().end()) ==
        std::vector<float>(fresh.parameters().begin(), fresh.parameters().end()));
}

TEST_CASE("parameters must have the right size and be finite") {
  Policy policy(config("{'kind': 'linear'}"), vector_spec(3), 2);
  randomise(policy, 1);
  const std::vector<float> before(policy.parameters().begin(), policy.parameters().end());
  CHECK_THROWS_MATCHES(policy.set_parameters(std::vector<float>(7)), Error, Message("policy: got 7 parameters, it has 8"));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> values(8);
    values[7] = bad;
    CHECK_THROWS_MATCHES(policy.set_parameters(values), Error,
                         MessageMatches(StartsWith("policy: parameter 2 of 'policy.bias' is ")));
  }
  CHECK(std::vector<float>(policy.parameters().begin(), policy.parameters().end()) == before);
}

TEST_CASE("observations that do not fit the spec are errors that name the difference") {
  const auto spec = image_spec(16, 16, 3, 5);
  Policy policy(config(rank_and_state), spec, 2);
  const auto refuse = [&](const ObservationSpec& other, const std::string& message) {
    const Frame frame(other, 1);
    CHECK_THROWS_MATCHES(policy.act(frame.observation()), Error, Message(message));
  };
  refuse(image_spec(16, 16, 3, 4), "policy: the observation's vector has 4 values, the policy was built for 5");
  refuse(vector_spec(5), "policy: the observation has 0 images, the policy was built for 1");
  refuse(image_spec(16, 17, 3, 5), "policy: image 'pixels' is 16 x 17 x 3 uint8, the policy was built for 16 x 16 x 3 uint8");
  refuse({{{"pixels", {16, 16, 3, PixelType::float32}}}, 5},
         "policy: image 'pixels' is 16 x 16 x 3 float32, the policy was built for 16 x 16 x 3 uint8");
  const Frame frame(spec, 1);
  const ImageView empty{spec.images[0].shape, nullptr};
  CHECK_THROWS_MATCHES(policy.act({{&empty, 1}, frame.vector()}), Error,
                       Message("policy: image 'pixels' of the observation has no pixels"));
  CHECK_NOTHROW(policy.act(frame.observation()));
}

TEST_CASE("a clone has the same parameters, acts the same, and shares nothing") {
  Policy policy(config(rank_and_state), image_spec(16, 16, 3, 5), 2);
  policy.initialise(3);
  act(policy, Frame(policy.observation(), 1));
  Policy copy = policy.clone();
  CHECK(copy.architecture() == policy.architecture());
  CHECK(copy.observation() == policy.observation());
  policy.reset();
  for (std::uint64_t step = 0; step < 5; ++step) {
    const Frame frame(policy.observation(), 50 + step);
    CHECK(act(policy, frame) == act(copy, frame));
  }
  const std::vector<float> before(copy.parameters().begin(), copy.parameters().end());
  policy.initialise(4);
  CHECK(std::vector<float>(copy.parameters().begin(), copy.parameters().end()) == before);
  Policy moved = std::move(copy);
  CHECK(moved.size() == before.size());
}

TEST_CASE("the summary lists every block with its own parameters, and the total") {
  const Policy policy(config(rank_and_state), image_spec(16, 16, 3, 5), 2);
  const std::string table = policy.summary();
  INFO(table);
  const auto row = [&](const std::string& path) {
    const auto begin = table.find(path);
    REQUIRE(begin != std::string::npos);
    return table.substr(begin, table.find('\n', begin) - begin);
  };
  CHECK(row("1.concat.1.rank").ends_with(" 6         768"));
  CHECK_THAT(row("1.concat.1.rank"), ContainsSubstring("kernel relu, patch 4, stride 4, L 16, d 8, top 3, values position"));
  CHECK(row("1.concat.2.observation").ends_with(" 5           0"));
  CHECK(row("memory").ends_with(" 6         " + std::to_string(4 * 6 * (11 + 6) + 48)));
  CHECK(row("3.linear").ends_with(" 2          14"));
  CHECK(row("total").ends_with(std::to_string(policy.size())));
}

TEST_CASE("the rows of a summary add up to its total, keys of another grid included") {
  const Policy policy(config("{'kind': 'cross', 'patch': 8, 'key_patch': 4, 'encoding': 'learned', 'top': 3}"),
                      image_spec(16, 16, 3, 0), 6);
  const std::string table = policy.summary();
  INFO(table);
  std::istringstream lines(table);
  std::size_t sum = 0;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line))
    if (!line.starts_with("total")) sum += std::stoul(line.substr(line.rfind(' ') + 1));
  CHECK(sum == policy.size());
}

TEST_CASE("there is nothing to see before the first act") {
  Policy policy(config(rank_and_state), image_spec(16, 16, 3, 5), 2);
  CHECK(policy.views().empty());
  policy.initialise(1);
  act(policy, Frame(policy.observation(), 1));
  REQUIRE(policy.views().size() == 1);
  CHECK(policy.views()[0].block == "1.concat.1.rank");
  CHECK(policy.views()[0].selected.size() == 3);
}

TEST_CASE("what every block handed over can be read after an action") {
  Policy policy(
      config("{'kind': 'sequence', 'blocks': [{'kind': 'concat', 'blocks': [{'kind': 'linear', 'units': 4, 'activation': "
             "'relu'}, {'kind': 'observation'}]}, {'kind': 'linear', 'units': 3, 'name': 'middle'}, {'kind': 'linear'}]}"),
      vector_spec(5), 2);
  randomise(policy, 1);
  CHECK(policy.outputs("middle").empty());
  const Frame frame(policy.observation(), 3);
  const auto action = act(policy, frame);
  const auto read = [&](const Policy& from, const char* path) {
    const auto values = from.outputs(path);
    return std::vector<double>(values.begin(), values.end());
  };
  // Each block's own sum, in double precision, from what the one before is said to have handed over.
  const std::vector<double> input(frame.vector().begin(), frame.vector().end());
  auto first = affine(slice(policy, "1.concat.1.linear.weight"), slice(policy, "1.concat.1.linear.bias"), input);
  for (double& value : first) value = std::max(value, 0.0);
  const auto close = [](const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) < 1e-5);
  };
  close(read(policy, "1.concat.1.linear"), first);
  CHECK(read(policy, "1.concat.2.observation") == input);
  std::vector<double> both = read(policy, "1.concat.1.linear");
  both.insert(both.end(), input.begin(), input.end());
  CHECK(read(policy, "1.concat") == both);
  close(read(policy, "middle"), affine(slice(policy, "middle.weight"), slice(policy, "middle.bias"), both));
  CHECK(read(policy, "3.linear") == std::vector<double>(action.begin(), action.end()));
  CHECK(read(policy, "policy") == read(policy, "3.linear"));
  // They move along, and a clone begins without.
  CHECK(policy.clone().outputs("middle").empty());
  const auto middle = read(policy, "middle");
  const Policy moved = std::move(policy);
  CHECK(read(moved, "middle") == middle);
  CHECK(moved.block("middle").outputs() == 3);
  CHECK_THROWS_MATCHES(moved.outputs("midle"), Error, Message("policy: there is no block 'midle'; did you mean 'middle'?"));
}

TEST_CASE("every block of the catalog can be read") {
  for (const auto& entry : block_catalog()) {
    INFO(entry.name);
    Config example = parse_json(entry.example, "test");
    example["kind"] = entry.name;
    Config tree;
    tree["kind"] = "sequence";
    tree["blocks"] = Config::List{example, config("{'kind': 'linear', 'units': 2}")};
    Policy policy(tree, image_spec(12, 16, 3, 4), 2);
    policy.initialise(1);
    act(policy, Frame(policy.observation(), 2));
    const auto visit = [&](const auto& self, const Block& block) -> void {
      INFO(block.path());
      CHECK(policy.outputs(block.path()).size() == static_cast<std::size_t>(block.outputs()));
      for (const auto& child : block.children()) self(self, *child);
    };
    visit(visit, policy.root());
  }
}
