#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <vector>
import iap.core;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;

TEST_CASE("slices follow one another without gaps") {
  ParameterLayout layout;
  CHECK(layout.size() == 0);
  CHECK(layout.add("rank.query", {48, 8}) == 0);
  CHECK(layout.add("rank.key", {48, 8}) == 384);
  CHECK(layout.add("linear.bias", {6}) == 768);
  CHECK(layout.size() == 774);
  REQUIRE(layout.slices().size() == 3);
  CHECK(layout.slices()[1].name == "rank.key");
  CHECK(layout.slices()[1].shape == std::vector{48, 8});
  CHECK(layout.slices()[1].offset == 384);
  CHECK(layout.slices()[1].size == 384);
}

TEST_CASE("more than 2^28 parameters are an error, however large the slices are, and change nothing") {
  ParameterLayout layout;
  layout.add("a", {1 << 20, 1 << 8});
  for (const auto& shape : {std::vector{1}, std::vector{1 << 20, 1 << 13}, std::vector{1 << 30, 1 << 30, 1 << 30}})
    CHECK_THROWS_MATCHES(layout.add("b", shape), Error,
                         MessageMatches(ContainsSubstring("with 'b' it needs more than the 268435456")));
  CHECK(layout.size() == std::size_t{1} << 28);
}

TEST_CASE("a taken name or an empty shape is an error and changes nothing") {
  ParameterLayout layout;
  layout.add("weight", {2, 3});
  CHECK_THROWS_MATCHES(layout.add("weight", {4}), Error, MessageMatches(ContainsSubstring("'weight' is declared twice")));
  CHECK_THROWS_MATCHES(layout.add("bias", {3, 0}), Error, Message("parameter 'bias': every size must be positive, got 0"));
  CHECK_THROWS_MATCHES(layout.add("bias", {-1}), Error, Message("parameter 'bias': every size must be positive, got -1"));
  CHECK(layout.size() == 6);
  CHECK(layout.slices().size() == 1);
}

TEST_CASE("more than 2^14 arrays are an error that changes nothing") {
  ParameterLayout layout;
  constexpr std::size_t most = std::size_t{1} << 14;
  for (std::size_t i = 0; i < most; ++i) layout.add(text("p", i), {1});
  CHECK_THROWS_MATCHES(layout.add("last", {1}), Error,
                       MessageMatches(ContainsSubstring("with 'last' it has more than the 16384 arrays of parameters")));
  CHECK(layout.size() == most);
}
