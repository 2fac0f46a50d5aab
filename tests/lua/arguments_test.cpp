#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <string>
#include <vector>

#include "fixture.hpp"
import iap.core;

using namespace iap;
using namespace iap::lua;

namespace {

/// Counts its living instances: a longjmp over one would leave the count above zero.
struct Witness {
  inline static int alive = 0;
  std::string payload = std::string(100, 'x');
  Witness() { ++alive; }
  ~Witness() { --alive; }
};

int add(Call& call) {
  const Witness witness;
  return call.give(call.number(1, "a") + call.number(2, "b", 0.5));
}

int repeat_text(Call& call) {
  const Witness witness;
  std::string repeated;
  const auto text = call.string(1, "text");
  for (auto left = call.integer(2, "count", 0, 10, 1); left > 0; --left) repeated += text;
  return call.give(repeated);
}

int call_back(Call& call) {
  const Witness witness;
  call.function(1, "f");
  lua_pushvalue(call.state(), call.at(1));
  lua::call(call.state(), 0, 1);
  return 1;
}

int fail_hard(Call& call) {
  const Witness witness;
  const std::vector<Witness> many(3);
  if (call.absent(1)) throw Error("broken: 'x' is missing; set x");
  throw 42;
}

int exhaust(Call& call) {
  const Witness witness;
  const std::string huge(std::size_t{64} << 20, 'x');
  return call.give(huge);
}

int sum(Call& call) {
  double total = 0;
  for (const double value : call.numbers(1, "values")) total += value;
  return call.give(total);
}

constexpr Function functions[] = {
    {"add", entry<add>},
    {"repeat_text", entry<repeat_text>},
    {"call_back", entry<call_back>},
    {"fail_hard", entry<fail_hard>},
    {"exhaust", entry<exhaust>},
    {"sum", entry<sum>},
};

struct Fixture {
  State state;
  Fixture() { install(state, "t", functions); }
  ~Fixture() { CHECK(Witness::alive == 0); }
};

/// An allocator with a budget, to run out of memory where we choose.
struct Budget {
  std::size_t left = std::numeric_limits<std::size_t>::max();
};

void* allocate(void* context, void* block, std::size_t old_size, std::size_t size) {
  auto& budget = *static_cast<Budget*>(context);
  if (size == 0) {
    std::free(block);
    return nullptr;
  }
  const std::size_t growth = block && size <= old_size ? 0 : size - (block ? old_size : 0);
  if (growth > budget.left) return nullptr;
  void* result = std::realloc(block, size);
  if (result) budget.left -= growth;
  return result;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "arguments arrive with their types and defaults") {
  CHECK(run(state, "assert(t.add(1, 2) == 3)") == "");
  CHECK(run(state, "assert(t.add(1.25) == 1.75)") == "");
  CHECK(run(state, "assert(t.repeat_text('ab', 3) == 'ababab' and t.repeat_text('a\\0b') == 'a\\0b')") == "");
  CHECK(run(state, "assert(t.sum{1, 2, 3.5} == 6.5 and t.sum{} == 0)") == "");
  CHECK(run(state, "local s = t.sum{1, 0/0}; assert(s ~= s)") == "");
}

TEST_CASE_METHOD(Fixture, "a wrong argument is an error with place, function, argument, expected and got") {
  CHECK(run(state, "\n\nt.add('x')") == "chunk:3: t.add: argument 1 'a': expected a number, got the string 'x'");
  CHECK(run(state, "t.add()") == "chunk:1: t.add: argument 1 'a': expected a number, got nothing");
  // A string that looks like a number stays a string.
  CHECK(run(state, "t.add('1')") == "chunk:1: t.add: argument 1 'a': expected a number, got the string '1'");
  CHECK(run(state, "t.repeat_text('x', 11)") ==
        "chunk:1: t.repeat_text: argument 2 'count': expected an integer in [0, 10], got a number (11)");
  CHECK(run(state, "t.repeat_text('x', 1.5)") ==
        "chunk:1: t.repeat_text: argument 2 'count': expected an integer, got a number (1.5)");
  CHECK(run(state, "t.sum{1, 2, 'c'}") == "chunk:1: t.sum: argument 1 'values': element 3 must be a number, got the string 'c'");
  CHECK(run(state, "t.sum(t)") == "");
  CHECK(run(state, "t.sum(7)") == "chunk:1: t.sum: argument 1 'values': expected a list of numbers, got a number (7)");
}

TEST_CASE_METHOD(Fixture, "an unknown function names the nearest") {
  CHECK(run(state, "t.repeat_test()") == "chunk:1: t has no 'repeat_test'; did you mean 'repeat_text'?");
  CHECK(run(state, "t.qqqqqqqqqq()") ==
        "chunk:1: t has no 'qqqqqqqqqq'; known: add, call_back, exhaust, fail_hard, repeat_text, sum");
  CHECK(run(state, "return t[1]") == "chunk:1: t has named entries only, not a number (1)");
}

TEST_CASE_METHOD(Fixture, "exceptions become Lua errors after every destructor ran") {
  CHECK(run(state, "t.fail_hard()") == "chunk:1: broken: 'x' is missing; set x");
  CHECK(run(state, "t.fail_hard(1)") == "out of memory or an unknown exception");
  CHECK(Witness::alive == 0);
  CHECK(run(state, "for i = 1, 1000 do assert(not pcall(t.fail_hard)) end") == "");
  CHECK(Witness::alive == 0);
}

TEST_CASE_METHOD(Fixture, "an error raised in a callback passes through C++ frames unchanged") {
  CHECK(run(state, "\nt.call_back(function() error('inside') end)") == "chunk:2: inside");
  CHECK(run(state, "t.call_back(function() t.call_back(function() local x = nil + 1 end) end)").starts_with("chunk:1: attempt"));
  CHECK(run(state, "\nt.call_back(function() error({}) end)") ==
        "chunk:2: raised no text but a table; raise one, such as error(\"what is wrong\"), or a table with __tostring");
  CHECK(run(state, "t.call_back(function() coroutine.yield() end)") == "attempt to yield from outside a coroutine");
  CHECK(run(state, "local co = coroutine.wrap(function() t.call_back(coroutine.yield) end) co()").find("yield across") !=
        std::string::npos);
  CHECK(Witness::alive == 0);
}

TEST_CASE_METHOD(Fixture, "unbounded recursion through C++ is an error") {
  const auto message = run(state, "local function f() return t.call_back(f) end f()");
  CHECK(message.find("overflow") != std::string::npos);
  CHECK(Witness::alive == 0);
}

TEST_CASE("running out of memory at any allocation of a call leaves no C++ object behind", "[memory]") {
  Budget budget;
  lua_State* raw = lua_newstate(allocate, &budget);
  REQUIRE(raw);
  push_functions(raw, "t", ".", functions);
  lua_setglobal(raw, "t");
  const std::string chunk = "t.repeat_text('abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz', 9)";
  bool failed = false, succeeded = false;
  for (std::size_t left = 0; left < 20000 && !succeeded; left += 50) {
    budget.left = std::numeric_limits<std::size_t>::max();
    lua_gc(raw, LUA_GCCOLLECT);
    REQUIRE(luaL_loadbufferx(raw, chunk.data(), chunk.size(), "=chunk", "t") == LUA_OK);
    lua_gc(raw, LUA_GCSTOP);
    budget.left = left;
    const int status = lua_pcall(raw, 0, 0, 0);
    CHECK(Witness::alive == 0);
    (status == LUA_OK ? succeeded : failed) = true;
    if (status != LUA_OK) CHECK(string_at(raw, -1) == "not enough memory");
    lua_settop(raw, 0);
    lua_gc(raw, LUA_GCRESTART);
  }
  CHECK(failed);
  CHECK(succeeded);
  budget.left = std::size_t{1} << 20;
  REQUIRE(luaL_loadstring(raw, "t.exhaust()") == LUA_OK);
  CHECK(lua_pcall(raw, 0, 0, 0) != LUA_OK);
  CHECK(Witness::alive == 0);
  budget.left = std::numeric_limits<std::size_t>::max();
  lua_close(raw);
}
