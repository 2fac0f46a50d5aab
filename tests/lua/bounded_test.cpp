#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>

#include "lua/lua.hpp"
import iap.core;

using namespace iap;

namespace {

/// What the file returns, as a text.
std::string result_of(lua::State& state, const std::string& file) {
  const std::string path = std::string(IAP_LUA_BOUNDED) + "/" + file;
  state.load_text(read_file(path), "@" + path);
  lua::call(state, 0, 1);
  std::string result(lua::string_at(state, -1));
  lua_pop(state, 1);
  return result;
}

}  // namespace

TEST_CASE("bounded functions do in confined states what Lua's own do in free ones", "[lua][meter]") {
  constexpr lua::Allowance ample{.steps = 3'000'000'000};
  for (const char* file : {"patterns.lua", "functions.lua"}) {
    lua::State free, confined = lua::State::confined("some.iap", Config::Map{}, nullptr, ample);
    const std::string expected = result_of(free, file), got = result_of(confined, file);
    CHECK(expected.size() > 2000);
    int line = 1;
    for (std::size_t at = 0; at < expected.size(); ++line) {
      const std::size_t end = std::min(expected.find('\n', at), expected.size());
      CAPTURE(file, line);
      REQUIRE(got.substr(std::min(at, got.size()), end - at) == expected.substr(at, end - at));
      at = end + 1;
    }
    CHECK(got == expected);
  }
}
