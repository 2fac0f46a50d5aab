#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "fixture.hpp"
import iap.core;

using namespace iap;
using namespace iap::lua;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

struct Part {
  static constexpr const char* class_name = "part";
  std::string describe() const { return "part"; }
  Config config() const { return Config::Map{{"kind", "part"}}; }
};

int part(Call& call) { return call.give(std::make_unique<Part>()); }
int json(Call& call) { return call.give(to_json(call.config(1, "options"))); }
int blocks(Call& call) { return call.give(to_json(call.config(1, "options", {.list_key = "blocks", .skip = {"on_iteration"}}))); }
int few(Call& call) { return call.give(to_json(call.config(1, "options", {.most_values = 6, .most_bytes = 10}))); }
int echo(Call& call) { return call.give(call.config(1, "options")); }

constexpr Function library[] = {
    {"json", entry<json>}, {"blocks", entry<blocks>}, {"few", entry<few>}, {"echo", entry<echo>}, {"part", entry<part>}};

struct Fixture {
  State state;
  Fixture() {
    define_class(state, ClassOf<Part>::info, {});
    install(state, "t", library);
  }
  std::string json_of(const std::string& table) {
    REQUIRE(run(state, "result = t.json(" + table + ")") == "");
    lua_getglobal(state, "result");
    std::string result(string_at(state, -1));
    lua_pop(state, 1);
    return result;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "tables become lists, maps and plain values") {
  CHECK(json_of("{a = 1, b = 1.5, c = 'x', d = true, e = {1, 2, {3}}, f = {g = {}}}") ==
        R"({"a":1,"b":1.5,"c":"x","d":true,"e":[1,2,[3]],"f":{"g":{}}})");
  CHECK(json_of("{1.0, 2}") == "[1.0,2]");
  CHECK(json_of("{a = 0/0, b = math.huge}") == R"({"a":"nan","b":"inf"})");
  CHECK(json_of("nil") == "{}");
  CHECK(json_of("{t.part(), t.part()}") == R"([{"kind":"part"},{"kind":"part"}])");
  CHECK(json_of("t.part()") == R"({"kind":"part"})");
  CHECK(json_of("{big = math.maxinteger}") == R"({"big":9223372036854775807})");
}

TEST_CASE_METHOD(Fixture, "a list key gathers positional items, a skipped key is left out") {
  CHECK(run(state, "assert(t.blocks{t.part(), top = 3, on_iteration = print} == '{\"blocks\":[{\"kind\":\"part\"}],\"top\":3}')") ==
        "");
  CHECK(run(state, "t.blocks{1, blocks = 2}") == "chunk:1: t.blocks: has list items and an entry 'blocks', which mean the same");
  CHECK(run(state, "t.blocks{a = {on_iteration = print}}") ==
        "chunk:1: t.blocks: option 'a.on_iteration': expected a plain value, a list or a table, got a function");
}

TEST_CASE_METHOD(Fixture, "what no Config can hold is refused with its path") {
  CHECK(run(state, "t.json{env = {reward = {1, print}}}") ==
        "chunk:1: t.json: option 'env.reward.2': expected a plain value, a list or a table, got a function");
  CHECK(run(state, "t.json{a = io.stdout}") ==
        "chunk:1: t.json: option 'a': expected a plain value, a list or a table, got a userdata");
  CHECK(run(state, "t.json{a = {1, 2, x = 3}}") == "chunk:1: t.json: option 'a': mixes list items with the named entry 'x'");
  CHECK(run(state, "t.json{a = {1, nil, 3}}") ==
        "chunk:1: t.json: option 'a': the list has no value at 2; a name that stands there may be misspelled");
  CHECK(run(state, "t.json{a = {[0] = 1}}") == "chunk:1: t.json: option 'a': a list starts at 1, got position 0");
  CHECK(run(state, "t.json{[1.5] = 1}") == "chunk:1: t.json: a key must be a string or a list position, got a number (1.5)");
  CHECK(run(state, "t.json{[true] = 1}") == "chunk:1: t.json: a key must be a string or a list position, got true");
  CHECK(run(state, "t.json(3)") == "chunk:1: t.json: argument 1 'options': expected a table, got a number (3)");
  CHECK(run(state, "local p = t.part() p:close() t.json{a = p}") == "chunk:1: t.json: option 'a': this part is closed");
}

TEST_CASE_METHOD(Fixture, "cycles and depth are errors, shared tables are not") {
  CHECK(run(state, "local a = {} a.b = {c = a} t.json(a)") == "chunk:1: t.json: option 'b.c': the table contains itself");
  CHECK(run(state, "local a = {1} assert(t.json{x = a, y = a} == '{\"x\":[1],\"y\":[1]}')") == "");
  CHECK(run(state, "local a = {} for i = 1, 63 do a = {a} end t.json(a)") == "");
  CHECK(run(state, "local a = {} for i = 1, 100000 do a = {a} end t.json(a)").find("nested deeper than 64") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "what stands in many places counts in each of them") {
  CHECK(run(state, "local a = {1, 2} assert(t.few{a, a} == '[[1,2],[1,2]]')") == "");
  CHECK(run(state, "local a = {1, 2} t.few{a, a, 3}") ==
        "chunk:1: t.few: option '3': there are more than 6 values; what stands in several places counts in each of them");
  CHECK(run(state, "local a = {} for i = 1, 40 do a = {a, a} end t.few(a)").find("more than 6 values") != std::string::npos);
  CHECK(run(state, "local a = {} for i = 1, 50 do a = {a, a} end t.json(a)").find("more than 1000000 tables") != std::string::npos);
  CHECK(run(state, "local a = 'abcd' assert(t.few{x = a, y = a} == '{\"x\":\"abcd\",\"y\":\"abcd\"}')") == "");
  CHECK(run(state, "local a = 'abcd' t.few{a, a, a}") ==
        "chunk:1: t.few: option '3': there are more than 10 bytes of text; what stands in several places counts in each of them");
  CHECK(run(state, "t.few{abcdefghijk = 1}").find("more than 10 bytes of text") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "metamethods are not run") {
  CHECK(run(state,
            "local hidden = setmetatable({a = 1}, {__index = error, __pairs = error, __len = error}) assert(t.json(hidden) == "
            "'{\"a\":1}')") == "");
}

TEST_CASE_METHOD(Fixture, "what a table would inherit is refused, methods of its class are not") {
  CHECK(
      run(state, "t.json(setmetatable({a = 1}, {__index = {b = 2}}))") ==
      "chunk:1: t.json: option 'b': it comes through the metatable (__index), where nobody looks; write it into the table itself");
  CHECK(run(state, "t.json{x = setmetatable({}, {__index = setmetatable({}, {__index = {b = false}})})}").find("option 'x.b'") !=
        std::string::npos);
  CHECK(run(state, "t.blocks(setmetatable({1}, {__index = {top = 2}}))").find("option 'top'") != std::string::npos);
  CHECK(run(state, "t.blocks(setmetatable({}, {__index = {on_iteration = print}}))").find("option 'on_iteration'") !=
        std::string::npos);
  CHECK(run(state, "t.blocks(setmetatable({on_iteration = print}, {__index = {on_iteration = print}}))") == "");
  CHECK(run(state, R"(
    local Class = {method = print, name = 'class'} Class.__index = Class
    assert(t.json(setmetatable({1, 2}, Class)) == '[1,2]')
    assert(t.json(setmetatable({name = 'own'}, Class)) == '{"name":"own"}')
    Class.__index = Class.__index.__index
    local loop = {} setmetatable(loop, {__index = loop}) assert(t.json(loop) == '{}')
    local own = setmetatable({a = 1}, {__index = _G}) assert(t.json(own) == '{"a":1}'))") == "");
}

TEST_CASE_METHOD(Fixture, "Config comes back to Lua as it went") {
  CHECK(run(state, R"(
    local r = t.echo{a = {1, 2.5, 'x'}, b = {c = true}, n = 0/0, i = 3, f = 3.0}
    assert(r.a[1] == 1 and r.a[2] == 2.5 and r.a[3] == 'x' and #r.a == 3 and r.b.c == true and r.n ~= r.n)
    assert(math.type(r.i) == 'integer' and math.type(r.f) == 'float'))") == "");
}

TEST_CASE("numbers keep every bit on the way through a state") {
  State state;
  const double values[] = {0.1, -0.0, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::infinity(), 1e308};
  push_numbers(state, std::span<const double>(values));
  const auto back = read_numbers(state, -1, "test");
  REQUIRE(back.size() == 5);
  for (std::size_t i = 0; i < back.size(); ++i) {
    CHECK(back[i] == values[i]);
    CHECK(std::signbit(back[i]) == std::signbit(values[i]));
  }
}

TEST_CASE("a list of some numbers far apart takes no room for what is missing between them") {
  State state;
  REQUIRE(run(state,
              "far = {1, 1, 1, 1, 1, 1, 1, 1, 1} far[17] = 1 for k = 4, 40 do far[1 << k] = 1 end assert(#far == 1 << 40)") == "");
  lua_getglobal(state, "far");
  CHECK_THROWS_MATCHES(read_numbers(state, -1, "test"), Error,
                       MessageMatches(ContainsSubstring("test: element 10 must be a number, got nil")));
}
