#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "lua/lua.hpp"
import iap.core;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

void run(lua::State& state, std::string_view chunk) {
  state.load_text(chunk, "=chunk");
  lua::call(state, 0, 0);
}

}  // namespace

TEST_CASE("each call from C++ has all its steps, whatever calls before it took", "[lua][meter]") {
  auto state = lua::State::confined("some.iap", Config::Map{}, nullptr, {.steps = 1'000'000});
  for (int i = 0; i < 20; ++i) run(state, "for i = 1, 60000 do local x = i * i end");
  CHECK_THROWS_MATCHES(run(state, "for i = 1, 1e6 do local x = i * i end"), Error,
                       MessageMatches(ContainsSubstring("chunk:1: took more than 1 million steps in one call")));
}

TEST_CASE("processor time ends what steps do not see", "[lua][meter]") {
  auto state = lua::State::confined("some.iap", Config::Map{}, nullptr, {.seconds = 0.5});
  // Each comparison goes through sixteen million characters.
  CHECK_THROWS_MATCHES(run(state, "local s = ('x'):rep(8e6) local a, b = s .. 'y', s .. 'y' while true do local x = a == b end"),
                       Error, MessageMatches(ContainsSubstring("took more than 0.5 s of processor time in one call")));
  CHECK_THROWS_MATCHES(run(state, "return"), Error, MessageMatches(ContainsSubstring("of processor time")));
}

TEST_CASE("a state's garbage is collected, so that memory stays below its limit for ever", "[lua][meter]") {
  auto state = lua::State::confined("some.iap", Config::Map{}, nullptr, {.memory = std::size_t{8} << 20});
  for (int i = 0; i < 50; ++i) run(state, "kept = {} for i = 1, 5000 do kept[i % 100] = { i, { i } } end");
  const lua::Meter& meter = *lua::Meter::of(state);
  CHECK(meter.memory() < std::size_t{8} << 20);
  CHECK_FALSE(meter.past());
}

TEST_CASE("free states have no meter", "[lua][meter]") {
  lua::State state;
  CHECK(lua::Meter::of(state) == nullptr);
  run(state, "local s = ('x'):rep(2^25) assert(#s == 2^25 and getmetatable('').__index == string)");
}
