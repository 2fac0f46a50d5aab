#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>

#include "fixture.hpp"
import iap.core;

using namespace iap;
using namespace iap::lua;

namespace {

struct Counter {
  static constexpr const char* class_name = "counter";
  inline static int alive = 0;
  int value;
  explicit Counter(int start) : value(start) { ++alive; }
  ~Counter() { --alive; }
  std::string describe() const { return text("counter at ", value); }
  Config config() const { return Config::Map{{"start", value}}; }
};

struct Other {
  static constexpr const char* class_name = "other";
  std::string describe() const { return "other"; }
};

int make_counter(Call& call) {
  auto counter = std::make_unique<Counter>(static_cast<int>(call.integer(1, "start", -100, 100, 0)));
  return call.give(std::move(counter), 4096);
}
int make_other(Call& call) { return call.give(std::make_unique<Other>()); }
int throw_late(Call& call) {
  call.give(std::make_unique<Counter>(1));
  throw Error("after the object");
}
int increase(Call& call) {
  auto& counter = call.self<Counter>();
  counter.value += static_cast<int>(call.integer(1, "by", 1, 10, 1));
  return call.give(counter.value);
}
/// As bodies do that allocate in Lua before they are done with their object: finalizers may run there.
int during(Call& call) {
  auto& counter = call.self<Counter>();
  call.function(1, "f");
  lua_pushvalue(call.state(), call.at(1));
  lua::call(call.state(), 0, 0);
  return call.give(++counter.value);
}

constexpr Function library[] = {{"counter", entry<make_counter>}, {"other", entry<make_other>}, {"throw_late", entry<throw_late>}};
constexpr Function methods[] = {{"increase", entry<increase>}, {"during", entry<during>}};

struct Fixture {
  State state;
  Fixture() {
    define_class(state, ClassOf<Counter>::info, methods);
    define_class(state, ClassOf<Other>::info, {});
    install(state, "t", library);
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "methods work, objects print themselves") {
  CHECK(run(state, "local c = t.counter(3); assert(c:increase() == 4 and c:increase(2) == 6 and tostring(c) == 'counter at 6')") ==
        "");
}

TEST_CASE_METHOD(Fixture, "the receiver is checked") {
  CHECK(run(state, "local c = t.counter(); c.increase()") ==
        "chunk:1: counter:increase: expected an object of type counter before the colon, got nothing");
  CHECK(run(state, "local c = t.counter(); c.increase(t.other())") ==
        "chunk:1: counter:increase: expected an object of type counter before the colon, got an object of type other");
  CHECK(run(state, "local c = t.counter(); c.increase(io.stdout)") ==
        "chunk:1: counter:increase: expected an object of type counter before the colon, got a userdata");
  CHECK(run(state, "local c = t.counter(); c:increase('x')") ==
        "chunk:1: counter:increase: argument 1 'by': expected an integer, got the string 'x'");
  CHECK(run(state, "t.counter():increas()") == "chunk:1: counter has no 'increas'; did you mean 'increase'?");
  CHECK(run(state, "t.counter().value = 3") != "");
}

TEST_CASE_METHOD(Fixture, "the collector destroys objects once, closing destroys them early") {
  CHECK(run(state, "for i = 1, 100 do t.counter() end collectgarbage() collectgarbage()") == "");
  CHECK(Counter::alive == 0);
  CHECK(run(state, "kept = t.counter(1)") == "");
  CHECK(Counter::alive == 1);
  CHECK(run(state, "do local c <close> = t.counter(2) end") == "");
  CHECK(Counter::alive == 1);
  CHECK(run(state, "pcall(function() local c <close> = t.counter(2) error('x') end)") == "");
  CHECK(Counter::alive == 1);
  CHECK(run(state, "kept:close() kept:close()") == "");
  CHECK(Counter::alive == 0);
  CHECK(run(state, "assert(tostring(kept) == 'counter (closed)') kept:increase()") ==
        "chunk:1: counter:increase: this counter is closed");
  CHECK(run(state, "kept = nil collectgarbage() assert(not pcall(t.throw_late)) collectgarbage()") == "");
  CHECK(Counter::alive == 0);
}

TEST_CASE_METHOD(Fixture, "an object that is closed while a call uses it is destroyed when the call ends") {
  CHECK(run(state,
            "local c = t.counter(3) assert(c:during(function() c:close() end) == 4 and tostring(c) == 'counter (closed)')") == "");
  CHECK(Counter::alive == 0);
  CHECK(run(state, "local c = t.counter(3) c:during(function() c:close() c:increase() end)") ==
        "chunk:1: counter:increase: this counter is closed");
  CHECK(Counter::alive == 0);
  CHECK(run(state, "local c = t.counter(3) c:during(function() c:during(function() c:close() error('inside') end) end)") ==
        "chunk:1: inside");
  CHECK(Counter::alive == 0);
  CHECK(
      run(state,
          "local c = t.counter(3) c:during(function() c:during(function() c:close() end) assert(not pcall(c.increase, c)) end)") ==
      "");
  CHECK(Counter::alive == 0);
  CHECK(run(state,
            "local c = t.counter(3) local function leave() setmetatable({}, { __gc = function() c:close() end }) end leave() "
            "assert(c:during(function() collectgarbage() assert(tostring(c) == 'counter (closed)') end) == 4)") == "");
  CHECK(Counter::alive == 0);
}

TEST_CASE_METHOD(Fixture, "native memory drives the collector") {
  CHECK(run(state, "collectgarbage() for i = 1, 100000 do t.counter() end") == "");
  CHECK(Counter::alive < 50000);
}

TEST_CASE_METHOD(Fixture, "finalizers cannot be reached or misused") {
  CHECK(run(state, "local c = t.counter(); assert(not pcall(function() return c.__gc end))") == "");
  CHECK(run(state, "assert(getmetatable(t.counter()) == 'iap.counter')") == "");
  CHECK(run(state, "assert(not pcall(setmetatable, t.counter(), {}))") == "");
  // Even a finalizer fetched through the debug library touches nothing but its own kind.
  CHECK(run(state, "local gc = debug.getmetatable(t.counter()).__gc; gc(io.stdout) gc(12) gc() gc({}) io.stdout:write('')") == "");
  CHECK(
      run(state,
          "local c = t.counter(5); local gc = debug.getmetatable(c).__gc; gc(c) gc(c) assert(tostring(c) == 'counter (closed)')") ==
      "");
  CHECK(run(state, "collectgarbage()") == "");
  CHECK(Counter::alive == 0);
}

TEST_CASE("closing a state destroys what it held") {
  {
    Fixture fixture;
    CHECK(run(fixture.state, "a = t.counter() b = {t.counter()}") == "");
    CHECK(Counter::alive == 2);
  }
  CHECK(Counter::alive == 0);
}

TEST_CASE("a class that a state does not know is an error, and the object is not lost") {
  State state;
  install(state, "t", library);
  CHECK(run(state, "t.counter()").find("class counter is not defined") != std::string::npos);
  CHECK(Counter::alive == 0);
}
