#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "lua/lua.hpp"
import iap.core;

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Loops end soon; what fills the memory may take a while.
lua::Allowance allowance(std::string_view expected) {
  return {.steps = expected == "STEPS" ? 3'000'000 : 100'000'000,
          .memory = std::size_t{100} << 20,
          .string = std::size_t{1} << 20,
          .program = std::size_t{64} << 10};
}

/// A function as the engine's are.
int give_number(lua::Call& call) { return call.give(call.number(1, "x")); }
constexpr lua::Function functions[] = {{"tolerance", lua::entry<give_number>}};
void open_library(lua_State* state) { lua::push_functions(state, "iap", ".", functions); }

Config read_cases() {
  const std::string folder = IAP_LUA_ESCAPES;
  lua::State state;
  state.load_text(read_file(folder + "/cases.lua"), "@" + folder + "/cases.lua");
  lua::push_string(state, folder);
  lua::call(state, 1, 1);
  return lua::read_config(state, -1, "cases");
}

struct Case {
  std::string name, expected, body, when;
  Config modules;
};

Case read_case(const Config& item) {
  const auto text_of = [&item](const char* key) {
    const Config* value = item.find(key);
    return value ? *value->string() : std::string();
  };
  const Config* modules = item.find("modules");
  return {text_of("name"), text_of("expected"), text_of("body"), text_of("when"), modules ? *modules : Config()};
}

std::string expected_text(const std::string& expected) {
  if (expected == "STEPS")
    return "took more than 3 million steps in one call, the most that Lua out of a file may; if you trust 'some.iap'";
  if (expected == "MEMORY") return "used more than 100 MiB of memory, the most that Lua out of a file may; if you trust 'some.iap'";
  if (expected == "STRING") return "made a string of more than 1 MiB, the most that Lua out of a file may; if you trust 'some.iap'";
  return expected;
}

std::string program_of(const Case& tried) {
  if (tried.when == "load") return tried.body;
  const std::string function = "(function()\n" + tried.body + "\nend)()";
  if (tried.when == "entry") return "return function() return { value = " + function + " } end";
  return "return function() return { forward = function() " + function + " return { 0 } end } end";
}

/// What it ends with; empty where nothing happens.
std::string message_of(const Case& tried) {
  const Config given = Config::Map{{"source", program_of(tried)}, {"loaded_from", "some.iap"}, {"required_modules", tried.modules}};
  try {
    Options options("escape", given);
    lua::ScriptObject object("block.lua", options, {.library = open_library, .allowance = allowance(tried.expected)});
    if (tried.when == "entry") return (void)object.entry("value"), "";
    const int forward = object.method("forward", true);
    const auto act = [&] {
      object.invoke(forward, "forward", 1, [](lua_State*) noexcept { return 0; });
      object.clear();
    };
    try {
      act();
    } catch (const Error& error) {
      const bool limit = expected_text(tried.expected) != tried.expected;
      // Past a limit once is past it for good.
      if (limit) CHECK_THROWS_AS(act(), Error);
      throw;
    }
    act();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("escapes and bombs end with one message, and nothing else is touched", "[lua][escapes]") {
  const Config cases = read_cases();
  CHECK(cases.list()->size() >= 140);
  for (const auto& item : *cases.list()) {
    const Case tried = read_case(item);
    CAPTURE(tried.name);
    const std::string message = message_of(tried);
    if (tried.expected.empty())
      CHECK(message.empty());
    else
      CHECK_THAT(message, ContainsSubstring(expected_text(tried.expected)));
    CHECK(message.find('\x1b') == std::string::npos);
    if (!message.empty()) CHECK_THAT(message, ContainsSubstring("some.iap"));
  }
}
