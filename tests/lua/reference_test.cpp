// The reference says of options what their readers say: reference_options.lua builds everything that takes some, and compares.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lua/lua.hpp"
#include "script/faces.hpp"
import iap.core;
import iap.script;
#include "core/option_log.hpp"

using namespace iap;

namespace iap::embedded {
extern const std::string_view reference_reference_lua, reference_lookup_lua;
}

namespace {

std::vector<OptionRead> option_reads;

Config end_of(double value) { return std::isfinite(value) ? Config(value) : Config(); }

Config row_of(const OptionRead& read) {
  Config::Map row{{"owner", read.owner}, {"key", read.key}, {"type", std::string(read.type)}};
  if (!read.fallback.is_null()) row["fallback"] = read.fallback;
  if (!end_of(read.low).is_null()) row["low"] = read.low;
  if (!end_of(read.high).is_null()) row["high"] = read.high;
  if (!read.names.empty()) row["names"] = Config::List(read.names.begin(), read.names.end());
  return row;
}

/// take_reads() -> {{owner, key, type, fallback, low, high, names}, ...}: what was asked of options since the last call
int take_reads(lua::Call& call) {
  Config::List rows;
  for (const OptionRead& read : option_reads) rows.push_back(row_of(read));
  option_reads.clear();
  return call.give(Config(std::move(rows)));
}

constexpr lua::Function functions[] = {{"take_reads", lua::entry<take_reads>}};

/// Runs a chunk that returns one value, which stays on the stack.
void load(lua::State& state, std::string_view chunk, const std::string& name) {
  state.load_text(chunk, name);
  lua::call(state, 0, 1);
}

}  // namespace

TEST_CASE("the reference says of options what their readers say") {
  lua::State state;
  state.provide([](lua_State* inner) { open_iap(inner); });
  lua::protect(state, 0, 0, [](lua_State* inner) noexcept {
    lua::push_functions(inner, "test", ".", functions);
    lua_setglobal(inner, "test");
  });
  load(state, embedded::reference_lookup_lua, "=lookup.lua");
  load(state, embedded::reference_reference_lua, "=reference.lua");
  lua::call(state, 1, 1);
  lua::protect(state, 1, 0, [](lua_State* inner) noexcept { lua_setglobal(inner, "reference"); });
  state.search(IAP_LUA_SCRIPTS);
  option_reads.clear();
  log_options(&option_reads);
  state.load_text(read_file(std::string(IAP_LUA_SCRIPTS) + "/reference_options.lua"), "@reference_options.lua");
  try {
    lua::call(state, 0, 1);
  } catch (const lua::LuaError& error) {
    FAIL(error.what());
  }
  log_options(nullptr);
  CHECK(lua::string_at(state, -1) == "");
}
