#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::size_t asked = 0, least_asked = 0;

/// A process that has 80 MiB for Lua.
void ask(std::size_t bytes) {
  if (asked + bytes > std::size_t{80} << 20) throw Error("nothing is left");
  asked += bytes;
  least_asked = std::min(least_asked, bytes);
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

TEST_CASE("processor time is kept to though each instruction takes long", "[lua][meter]") {
  // The comparison of a million zeros takes the C library some 16 ms.
  const std::string loop = " while true do" + [] {
    std::string compared;
    for (int i = 0; i < 100; ++i) compared += " x = a < b";
    return compared;
  }() + " end";
  const std::string strings = " a, b = ('\\0'):rep(1e6) .. 'a', ('\\0'):rep(1e6) .. 'b'";
  for (const std::string& chunk : {
           "local x, a, b" + strings + loop,
           // A thread that began before there were long strings.
           "local x, a, b local co = coroutine.create(function() coroutine.yield()" + loop + " end) coroutine.resume(co)" +
               strings + " assert(coroutine.resume(co))",
           // One that made them, and ends.
           "local x, a, b coroutine.wrap(function()" + strings + " end)()" + loop,
       }) {
    auto state = lua::State::confined("some.iap", Config::Map{}, nullptr, {.seconds = 0.5});
    const double began = processor_seconds();
    CHECK_THROWS_MATCHES(run(state, chunk), Error, MessageMatches(ContainsSubstring("took more than 0.5 s of processor time")));
    CHECK(processor_seconds() - began < 3);
  }
}

TEST_CASE("processor time is kept to though tables make instructions and functions slow", "[lua][meter]") {
  // Keys that all collide, in a table that is behind itself by __index: looking for one more takes some 60 ms.
  const std::string collisions = R"(
    local t, m = { last = 1 }, (1 << 14) - 1
    for i = 1, 1 << 13 do t["k" .. i] = i end
    for key in next, t do t[key] = nil end
    for i = 1, 8000 do t[i * m] = i end
    setmetatable(t, { __index = t })
    while true do pcall(function() return t[m << 30] end) end)";
  // The first value of an emptied list is looked for in all its 64 MiB.
  const std::string emptied = "local t = {} for i = 1, 1 << 22 do t[i] = i end for i = 1, 1 << 22 do t[i] = nil end ";
  // Every element is looked for in as many tables as Lua goes through.
  const std::string chain = R"(
    local t = {}
    for i = 1, 1900 do t = setmetatable({}, { __index = t }) end
    local list = setmetatable({}, { __len = function() return 10000000 end, __index = t }) )";
  for (const std::string& chunk : {
           collisions,
           emptied + "while true do next(t) end",
           emptied + "while true do pairs(t) end",
           chain + "table.move(t, 1, 10000000, 1, {})",
           chain + "table.unpack(t, 1, 250000)",
           chain + "table.insert(list, 1, 1)",
           chain + "table.remove(list, 1)",
       }) {
    CAPTURE(chunk);
    auto state = lua::State::confined("some.iap", Config::Map{}, nullptr, {.seconds = 0.3});
    const double began = processor_seconds();
    CHECK_THROWS_MATCHES(run(state, chunk), Error, MessageMatches(ContainsSubstring("s of processor time in one call")));
    CHECK(processor_seconds() - began < 3);
  }
}

TEST_CASE("neither lists nor strings of any size are taken for tables of many keys", "[lua][meter]") {
  auto state = lua::State::confined("some.iap", Config::Map{});
  // A hash part of 2^17 places has the size of a list of 1.5 * 2^17 values, and of 3 MiB of a string.
  constexpr std::size_t image = 256 * 256 * 3;
  const std::vector<float> values(image);
  CHECK_NOTHROW(lua::push_numbers(state, std::span<const float>(values)));
  CHECK(lua_rawlen(state, -1) == image);
  lua_pop(state, 1);
  CHECK_NOTHROW(lua::push_config(state, Config(Config::List(image, Config(1)))));
  lua_pop(state, 1);
  CHECK_NOTHROW(run(state, R"(
    local t = { ("x"):rep(196608):byte(1, -1) }
    assert(#t == 196608 and table.pack(table.unpack(t)).n == 196608))"));
  CHECK_NOTHROW(run(state, R"(
    local s = ("x"):rep(3 << 20)
    assert(#s:upper() == #s and #table.concat { s } == #s and #("%s"):format(s) == #s))"));
  CHECK_NOTHROW(run(state, "local kept = {} for i = 1, 70000 do kept[i] = setmetatable({}, {}) end"));
}

TEST_CASE("states share what the process has", "[lua][meter]") {
  constexpr std::size_t mib = std::size_t{1} << 20;
  // Some 18 MiB, without garbage.
  const char* fill = "kept = {} for i = 1, 250000 do kept[i] = {} end";
  asked = 0, least_asked = 80 * mib;
  lua::MemoryPool pool(ask);
  const auto open = [&pool] { return lua::State::confined("some.iap", Config::Map{}, nullptr, {.pool = &pool}); };
  std::vector<lua::State> states;
  for (int i = 0; i < 6; ++i) states.push_back(open());
  CHECK(asked == 16 * mib);
  int filled = 0;
  try {
    for (; filled < 6; ++filled) run(states.at(static_cast<std::size_t>(filled)), fill);
  } catch (const Error& error) {
    CHECK_THAT(error.what(), ContainsSubstring("nothing is left"));
  }
  CHECK(filled == 4);
  CHECK(least_asked == 16 * mib);
  // It stays past its limit; the others, and those that come when memory is given back, go on.
  CHECK_THROWS_MATCHES(run(states.at(static_cast<std::size_t>(filled)), "return"), Error,
                       MessageMatches(ContainsSubstring("nothing is left")));
  CHECK_NOTHROW(run(states.front(), "assert(#kept == 250000)"));
  states.clear();
  asked = 0;
  auto later = open();
  CHECK_NOTHROW(run(later, fill));
  CHECK(asked == 16 * mib);
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
