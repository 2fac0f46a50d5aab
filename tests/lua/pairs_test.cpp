#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <string_view>

#include "lua/lua.hpp"
import iap.core;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// What a chunk returns, as text.
std::string result_of(lua::State& state, std::string_view chunk) {
  state.load_text(chunk, "=chunk");
  lua::call(state, 0, 1);
  std::string result(lua::string_at(state, -1));
  lua_pop(state, 1);
  return result;
}

void check_in_both(std::string_view chunk, std::string_view expected) {
  lua::State free, confined = lua::State::confined("some.iap", Config::Map{});
  CHECK(result_of(free, chunk) == expected);
  CHECK(result_of(confined, chunk) == expected);
}

/// The keys of `t` in the order of pairs.
constexpr std::string_view visit = R"(
  local seen = {}
  for key, value in pairs(t) do
    assert(rawequal(t[key], value))
    seen[#seen + 1] = type(key) == "table" and "table" or tostring(key)
  end
  return table.concat(seen, " ")
)";

}  // namespace

TEST_CASE("pairs visits strings in the same order in every state, however they came into the table", "[lua][pairs]") {
  std::string forwards = "local t = {} ", backwards = "local t = {} ", expected;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    forwards += text("t.", letter, letter, " = 1 ");
    expected += text(letter == 'a' ? "" : " ", letter, letter);
  }
  for (char letter = 'z'; letter >= 'a'; --letter) backwards += text("t.", letter, letter, " = 2 ");
  check_in_both(forwards + std::string(visit), expected);
  check_in_both(backwards + std::string(visit), expected);
  // Strings of more than 40 characters are hashed otherwise.
  check_in_both(
      "local t = {} for i = 9, 1, -1 do t[('x'):rep(50) .. i] = i end local s = 0 for _, v in pairs(t) do s = 10 * s + v end "
      "return s",
      "123456789");
}

TEST_CASE("pairs visits numbers first, then booleans, strings and the rest", "[lua][pairs]") {
  check_in_both(
      "local t = { 'a', 'b', x = 1, [true] = 1, [false] = 1, [-3] = 1, [2.5] = 1, [{}] = 1, ['10'] = 1, ['\\xff'] = 1, [''] = 1 }" +
          std::string(visit),
      "-3 1 2 2.5 false true  10 x \xff table");
  check_in_both("local t = { [math.maxinteger] = 1, [math.maxinteger - 1] = 1, s = 1, [math.huge] = 1 }" + std::string(visit),
                "9223372036854775806 9223372036854775807 inf s");
  // Numbers alone, too, however they came into the table.
  check_in_both("local t = {} for i = 10, 40, 10 do t[i] = i end" + std::string(visit), "10 20 30 40");
  check_in_both("local t = {} for i = 40, 10, -10 do t[i] = i end" + std::string(visit), "10 20 30 40");
  check_in_both(
      "local t = { 1, 2, [-1] = 1, [0.5] = 1, [1e300] = 1, [1 << 53] = 1, [(1 << 53) + 1] = 1, [true] = 1 }" + std::string(visit),
      "-1 0.5 1 2 9007199254740992 9007199254740993 1e+300 true");
  check_in_both("local t = {}" + std::string(visit), "");
  check_in_both("local t = { 5, 6, nil, 7 }" + std::string(visit), "1 2 4");
}

TEST_CASE("pairs is Lua's in everything else", "[lua][pairs]") {
  // What is removed on the way is not met, and what is changed is met as it is then.
  check_in_both(
      "local t, s = { a = 1, b = 2, c = 3, d = 4 }, '' for k, v in pairs(t) do t.b, t.d = nil, 9 s = s .. k .. v end return s",
      "a1c3d9");
  check_in_both(
      "local t = setmetatable({ a = 1 }, { __pairs = function(t) return function(_, k) if not k then return 'own', 2 end end, t "
      "end })"
      " for k, v in pairs(t) do return k .. v end",
      "own2");
  check_in_both(
      "local f, t, first = pairs { b = 2, a = 1 } local k, v = f(t, first) local again = f(t, nil) return k .. v .. again", "a1a");
  check_in_both(
      "local f, t = pairs { b = 2, a = 1 } local k = f(t) k = f(t, k) k = f(t, k) return tostring(k) .. tostring(f(t, 'b'))",
      "nilnil");
  // The iterator goes on from the key that it is given.
  check_in_both("local f, s = pairs { a = 1, b = 2, c = 3 } f(s, nil) f(s, 'a') local k, v = f(s, 'a') return k .. v", "b2");
  check_in_both("local f, s = pairs { a = 1, b = 2, c = 3 } local k, v = f(s, 'b') return k .. v .. tostring(f(s, 'c'))", "c3nil");
  check_in_both("local f, s = pairs { [2] = 1, a = 2 } local k, v = f(s, 2.0) return k .. v", "a2");
  check_in_both("local f, s = pairs { a = 1, b = 2 } return tostring(select(2, pcall(f, s, 'x')))", "invalid key to 'next'");
  check_in_both("return tostring(select(2, pcall(function() for k in pairs(nil) do end end)))",
                "chunk:1: bad argument #1 to 'for iterator' (table expected, got nil)");
  check_in_both("return tostring(select(2, pcall(pairs)))", "bad argument #1 to 'pairs' (value expected)");
}

TEST_CASE("what is collected while pairs begins takes entries out and puts some in", "[lua][pairs]") {
  lua::State state;
  CHECK(result_of(state, R"(
    collectgarbage("incremental", 1, 1000, 10)
    for n = 8, 400, 8 do
      local t, finalized = setmetatable({}, { __mode = "v" }), { x = 1, y = 2 }
      local function leave() setmetatable({}, { __gc = function() for i = 1, 50 do finalized[i .. ""] = i end end }) end
      for i = 1, n do t["k" .. i] = {} end
      leave()
      for key, value in pairs(t) do assert(type(key) == "string" and type(value) == "table") end
      for key in pairs(finalized) do assert(type(key) == "string") end
    end
    return "fine")") == "fine");
}

TEST_CASE("pairs of a stranger's text is counted", "[lua][pairs]") {
  auto state = lua::State::confined("some.iap", Config::Map{}, nullptr, {.steps = 10'000'000});
  CHECK_THROWS_MATCHES(result_of(state, "local t = {} for i = 1, 10000 do t['k' .. i] = i end while true do pairs(t) end"), Error,
                       MessageMatches(ContainsSubstring("steps in one call")));
}
