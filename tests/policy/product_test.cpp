#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<float> products(const std::string& options, const std::vector<float>& in, int outputs) {
  Policy policy(config("{'kind': 'product'" + options + "}"), vector_spec(static_cast<int>(in.size())), outputs);
  CHECK(policy.size() == 0);
  Frame frame(policy.observation(), 1);
  frame.vector() = in;
  return act(policy, frame);
}

Policy built(const std::string& options, int inputs, int outputs) {
  return Policy(config("{'kind': 'product'" + options + "}"), vector_spec(inputs), outputs);
}

}  // namespace

TEST_CASE("product hands over its input, then every two inputs multiplied") {
  const std::vector<float> in{2, 3, 5, 7};
  CHECK(products("", in, 10) == std::vector<float>{2, 3, 5, 7, 6, 10, 14, 15, 21, 35});
  CHECK(products(", 'keep': false", in, 6) == std::vector<float>{6, 10, 14, 15, 21, 35});
  CHECK(products(", 'keep': false, 'squares': true", in, 10) == std::vector<float>{6, 10, 14, 15, 21, 35, 4, 9, 25, 49});
  CHECK(products(", 'scale': 2.5", in, 10) == std::vector<float>{2, 3, 5, 7, 15, 25, 35, 37.5F, 52.5F, 87.5F});
}

TEST_CASE("product multiplies across groups, never within one") {
  const std::vector<float> in{2, 3, 5, 7};
  CHECK(products(", 'keep': false, 'groups': [2, 2]", in, 4) == std::vector<float>{10, 14, 15, 21});
  CHECK(products(", 'keep': false, 'groups': [1, 3]", in, 3) == std::vector<float>{6, 10, 14});
  CHECK(products(", 'keep': false, 'groups': [1, 2, 1]", in, 5) == std::vector<float>{6, 10, 14, 21, 35});
  CHECK(products(", 'keep': false, 'groups': [4], 'squares': true", in, 4) == std::vector<float>{4, 9, 25, 49});
}

TEST_CASE("a linear layer behind product gives the torque of a force at a place") {
  const std::vector<float> place{0.3F, -0.2F}, force{-0.5F, 0.8F};
  Policy policy(config("{'kind': 'sequence', 'blocks': [{'kind': 'product', 'groups': [2, 2], 'keep': false}, "
                       "{'kind': 'linear', 'units': 1, 'bias': false}]}"),
                vector_spec(4), 1);
  policy.set_parameters(std::vector<float>{0, 1, -1, 0});
  Frame frame(policy.observation(), 1);
  frame.vector() = {place[0], place[1], force[0], force[1]};
  CHECK(act(policy, frame)[0] == place[0] * force[1] - place[1] * force[0]);
}

TEST_CASE("product stays finite for any input") {
  constexpr float most = std::numeric_limits<float>::max();
  for (const float value : products(", 'squares': true, 'scale': 1e6", {most, -most, most, 0}, 14)) CHECK(std::isfinite(value));
}

TEST_CASE("product refuses groups that are not its inputs, and having nothing to hand over") {
  CHECK_THROWS_WITH(built(", 'groups': [2, 3]", 4, 1), ContainsSubstring("add up to the 4 inputs") && ContainsSubstring("[2,3]"));
  CHECK_THROWS_WITH(built(", 'groups': [2, 1]", 4, 1), ContainsSubstring("add up to the 4 inputs"));
  CHECK_THROWS_WITH(built(", 'groups': [4, 0]", 4, 1), ContainsSubstring("sizes of at least 1"));
  CHECK_THROWS_WITH(built(", 'groups': [4], 'keep': false", 4, 1), ContainsSubstring("nothing to hand over"));
  CHECK_THROWS_WITH(built(", 'keep': false", 1, 1), ContainsSubstring("nothing to hand over"));
}

TEST_CASE("product's policy files say what it multiplies") {
  const Policy policy = built("", 3, 6);
  const Config& architecture = policy.architecture();
  CHECK(to_json(*architecture.find("groups")) == "[1,1,1]");
  CHECK(*architecture.find("keep")->boolean());
  CHECK_FALSE(*architecture.find("squares")->boolean());
}
