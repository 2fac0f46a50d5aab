#include "script/show.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>
import iap.core;

namespace iap {
namespace {

constexpr std::size_t most_entries = 12;
constexpr int deepest = 3;

std::string show_nested(lua_State* state, int index, int depth);

bool is_plain_table(lua_State* state, int index) {
  if (lua_type(state, index) != LUA_TTABLE) return false;
  lua::reserve(state, 1);
  if (!lua_getmetatable(state, index)) return true;
  lua_pop(state, 1);
  return false;
}

/// Pushes a list of the keys of the table at `index`, without 1 to `length`. Lua raises where a walk meets a key that has gone, as
/// it may while values are shown.
void push_keys(lua_State* state, int index, lua_Integer length) {
  lua_pushvalue(state, index);
  lua::protect(state, 1, 1, [length](lua_State* inner) noexcept {
    lua_newtable(inner);
    lua_pushnil(inner);
    for (lua_Integer count = 0; lua_next(inner, 1);) {
      lua_pop(inner, 1);
      const lua_Integer position = lua_isinteger(inner, -1) ? lua_tointeger(inner, -1) : 0;
      if (position >= 1 && position <= length) continue;
      lua_pushvalue(inner, -1);
      lua_rawseti(inner, 2, ++count);
    }
    lua_remove(inner, 1);
  });
}

std::string show_table(lua_State* state, int index, int depth) {
  if (depth >= deepest) return "{...}";
  lua::reserve(state, 4);
  std::vector<std::string> items;
  std::vector<std::pair<std::string, std::string>> entries;
  const auto length = static_cast<lua_Integer>(lua_rawlen(state, index));
  for (lua_Integer i = 1; i <= std::min<lua_Integer>(length, most_entries); ++i) {
    lua_rawgeti(state, index, i);
    items.push_back(show_nested(state, lua_gettop(state), depth + 1));
    lua_pop(state, 1);
  }
  if (length > static_cast<lua_Integer>(most_entries)) items.push_back(text("... (", length, " values)"));
  push_keys(state, index, length);
  const int keys = lua_gettop(state), key = keys + 1;
  const auto count = static_cast<lua_Integer>(lua_rawlen(state, keys));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(state, keys, i);
    lua_pushvalue(state, key);
    lua_rawget(state, index);
    auto name = lua_type(state, key) == LUA_TSTRING ? std::string(lua::string_at(state, key))
                                                    : "[" + show_nested(state, key, depth + 1) + "]";
    entries.emplace_back(std::move(name), show_nested(state, key + 1, depth + 1));
    lua_pop(state, 2);
  }
  lua_pop(state, 1);
  std::ranges::sort(entries);
  for (std::size_t i = 0; i < std::min(entries.size(), most_entries); ++i)
    items.push_back(entries[i].first + " = " + entries[i].second);
  if (entries.size() > most_entries) items.push_back(text("... (", entries.size(), " entries)"));
  if (items.empty()) return "{}";
  std::string joined;
  for (const auto& item : items) joined += (joined.empty() ? "" : ", ") + item;
  return "{ " + joined + " }";
}

std::string show_nested(lua_State* state, int index, int depth) {
  if (lua_type(state, index) == LUA_TSTRING) return "\"" + std::string(lua::string_at(state, index)) + "\"";
  if (is_plain_table(state, index)) return show_table(state, index, depth);
  return show(state, index);
}

}  // namespace

std::string show(lua_State* state, int index) {
  index = lua_absindex(state, index);
  if (is_plain_table(state, index)) return show_table(state, index, 0);
  lua::reserve(state, 1);
  lua_pushvalue(state, index);
  lua::protect(state, 1, 1, [](lua_State* inner) noexcept {
    luaL_tolstring(inner, 1, nullptr);
    lua_remove(inner, 1);
  });
  std::string shown(lua::string_at(state, -1));
  lua_pop(state, 1);
  return shown;
}

}  // namespace iap
