module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <string_view>

#include "lua/lua.hpp"
module iap.script;
import iap.core;

namespace iap {
namespace {

/// What a text may use up: a table of options takes a thousandth of it. Parsing may take the square of its length.
constexpr std::size_t most_memory = std::size_t{64} << 20, most_text = std::size_t{256} << 10;
constexpr double most_seconds = 5;
/// Enough for as many values and bytes of text as there may be; what computes without end meets the seconds before.
constexpr std::int64_t most_steps = 4'000'000'000;
constexpr std::size_t most_values = 1'000'000;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

int unknown_name(lua_State* state) {
  return luaL_error(state, "there is no '%s%s'; %s", lua_tostring(state, lua_upvalueindex(1)),
                    lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : "?", lua_tostring(state, lua_upvalueindex(2)));
}

/// What the table on top of the stack does not hold is an error: nil would be an option that nobody gave.
void refuse_unknown(lua_State* state, const char* prefix, const char* remedy) noexcept {
  lua_newtable(state);
  lua_pushstring(state, prefix);
  lua_pushstring(state, remedy);
  lua_pushcclosure(state, unknown_name, 2);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);
}

/// Nothing to call; the numbers of `math` are how infinity and its kin are written.
void open_plain(lua_State* state) noexcept {
  lua_pushglobaltable(state);
  lua_newtable(state);
  lua_pushnumber(state, std::numeric_limits<double>::infinity());
  lua_setfield(state, -2, "huge");
  lua_pushnumber(state, std::numbers::pi);
  lua_setfield(state, -2, "pi");
  lua_pushinteger(state, LUA_MAXINTEGER);
  lua_setfield(state, -2, "maxinteger");
  lua_pushinteger(state, LUA_MININTEGER);
  lua_setfield(state, -2, "mininteger");
  refuse_unknown(state, "math.", "a text has its numbers alone: huge, pi, maxinteger and mininteger");
  lua_setfield(state, -2, "math");
  refuse_unknown(state, "", "a text stands in quotes");
  lua_settop(state, 0);
}

struct Close {
  void operator()(lua_State* state) const { lua_close(state); }
};

/// Whether `text` is meant as JSON: a list in brackets, or an object, whose first key stands in quotes before a colon.
bool is_json(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  const auto skip = [&](std::size_t at) { return std::min(text.find_first_not_of(spaces, at), text.size()); };
  std::size_t at = skip(0);
  if (at == text.size() || text[at] != '{') return at < text.size() && text[at] == '[';
  at = skip(at + 1);
  if (at == text.size() || text[at] != '"') return false;
  while (++at < text.size() && text[at] != '"') at += text[at] == '\\';
  at = skip(at + 1);
  return at < text.size() && text[at] == ':';
}

}  // namespace

Config parse_table(std::string_view text, const std::string& source) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (is_json(text)) return parse_json(text, source);
  if (text.size() > most_text)
    throw Error(iap::text(source, ": the Lua text has ", text.size(), " bytes, at most ", most_text, " are taken; write JSON"));
  lua::Meter meter(source, {.steps = most_steps, .memory = most_memory, .string = most_memory, .seconds = most_seconds});
  const std::unique_ptr<lua_State, Close> state(lua::new_state(lua::Meter::allocate, &meter));
  if (!state) throw Error(source + ": no memory for a Lua state");
  lua::protect(state.get(), 0, 0, [&meter](lua_State* inner) noexcept {
    meter.begin(inner);
    open_plain(inner);
  });
  const std::string chunk = "return " + std::string(text), name = "=" + source;
  lua::reserve(state.get(), 1);
  // What Lua says begins with the name and the line, but for an exhausted stack.
  const auto told = [&](const std::string& message) {
    return Error(message.starts_with(source + ":") ? message : iap::text(source, ": ", message));
  };
  if (luaL_loadbufferx(state.get(), chunk.data(), chunk.size(), name.c_str(), "t") != LUA_OK)
    throw told(std::string(lua::string_at(state.get(), -1)));
  try {
    lua::call(state.get(), 0, 1);
    return lua::read_config(state.get(), -1, source, {.most_values = most_values, .most_bytes = most_memory});
  } catch (const lua::LuaError& error) {
    throw told(meter.past() ? "this takes too long, or too much memory, for a table of options" : error.what());
  }
}

}  // namespace iap
