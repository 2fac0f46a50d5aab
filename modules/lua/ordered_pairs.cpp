#include "lua/ordered_pairs.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lua/bounded.hpp"
#include "lua/meter.hpp"

namespace iap::lua {
namespace {

constexpr std::size_t steps_a_key = 8, bytes_a_step = 8;

struct Key {
  enum Kind : std::uint8_t { number, no, yes, string, other };
  Kind kind = other;
  lua_Number value = 0;
  lua_Integer integer = 0;  ///< what tells integers apart that one floating-point number stands for
  const char* text = "";
  std::size_t size = 0;
  lua_Integer place = 0;  ///< in the list of keys as Lua finds them
};

bool operator<(const Key& a, const Key& b) {
  if (a.kind != b.kind) return a.kind < b.kind;
  if (a.kind == Key::number) return a.value != b.value ? a.value < b.value : a.integer < b.integer;
  if (a.kind == Key::string) return std::string_view(a.text, a.size) < std::string_view(b.text, b.size);
  return a.place < b.place;
}

Key key_at(lua_State* state, int index, lua_Integer place) {
  Key key{.place = place};
  switch (lua_type(state, index)) {
    case LUA_TNUMBER:
      key.kind = Key::number;
      key.value = lua_tonumber(state, index);
      if (lua_isinteger(state, index)) key.integer = lua_tointeger(state, index);
      break;
    case LUA_TBOOLEAN: key.kind = lua_toboolean(state, index) ? Key::yes : Key::no; break;
    case LUA_TSTRING:
      key.kind = Key::string;
      key.text = lua_tolstring(state, index, &key.size);
      break;
    default: break;
  }
  return key;
}

/// Where the key that stands at 2 is among the keys in order. Raises, as Lua's `next` does, where it is not.
lua_Integer place_of_key(lua_State* state) {
  const std::size_t bytes = lua_type(state, 2) == LUA_TSTRING ? lua_rawlen(state, 2) : 0;
  for (lua_Integer place = 1;; ++place) {
    charge(state, 1 + bytes / bytes_a_step);
    if (lua_rawgeti(state, lua_upvalueindex(1), place) == LUA_TNIL) break;
    if (lua_rawequal(state, -1, 2)) return place;
    lua_pop(state, 1);
  }
  lua_pushliteral(state, "invalid key to 'next'");
  return lua_error(state);
}

/// Upvalues: the keys in order; the place of the last one that was given.
int next_in_order(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 2);
  lua_Integer place = 0;
  if (!lua_isnil(state, 2)) {
    place = lua_tointeger(state, lua_upvalueindex(2));
    lua_rawgeti(state, lua_upvalueindex(1), place);
    if (!lua_rawequal(state, -1, 2)) place = place_of_key(state);
  }
  bool removed = false;
  do {
    charge(state, 1);
    lua_settop(state, 2);
    lua_rawgeti(state, lua_upvalueindex(1), ++place);
    if (lua_isnil(state, -1)) return 1;
    lua_pushvalue(state, -1);
    removed = lua_rawget(state, 1) == LUA_TNIL;
  } while (removed);
  lua_pushinteger(state, place);
  lua_replace(state, lua_upvalueindex(2));
  return 2;
}

int pairs(lua_State* state) {
  if (lua_type(state, 1) != LUA_TTABLE) return run_original(state);
  if (luaL_getmetafield(state, 1, "__pairs") != LUA_TNIL) {
    lua_settop(state, 1);
    return run_original(state);
  }
  lua_settop(state, 1);
  std::size_t count = 0, bytes = 0;
  // Whether Lua's own order is the right one. That of strings may be by chance, and another in the next state.
  bool in_order = true;
  Key last;
  for (lua_pushnil(state); lua_next(state, 1) != 0; lua_pop(state, 1)) {
    ++count;
    if (lua_type(state, -2) == LUA_TSTRING) bytes += lua_rawlen(state, -2);
    if (!in_order) continue;
    const Key key = key_at(state, -2, 0);
    in_order = key.kind <= Key::yes && (count == 1 || last < key);
    last = key;
  }
  charge(state, count * steps_a_key + bytes / bytes_a_step * std::bit_width(count));
  // How many places without a value were walked over nobody knows.
  check_time(state);
  if (in_order || count == 1) return run_original(state);

  constexpr int found = 2, sorted = 4;
  create_list(state, count);
  // Memory of Lua's, as an error would leave no other behind.
  auto* keys = static_cast<Key*>(lua_newuserdatauv(state, count * sizeof(Key), 0));
  // To make these may have collected garbage, which takes entries out of weak tables; and finalizers may have put some in.
  std::size_t kept = 0;
  for (lua_pushnil(state); kept < count && lua_next(state, 1) != 0; lua_pop(state, 1)) {
    const auto place = static_cast<lua_Integer>(kept) + 1;
    lua_pushvalue(state, -2);
    lua_rawseti(state, found, place);
    keys[kept++] = key_at(state, -2, place);
  }
  lua_settop(state, sorted - 1);
  std::sort(keys, keys + kept);
  create_list(state, kept);
  for (std::size_t i = 0; i < kept; ++i) {
    lua_rawgeti(state, found, keys[i].place);
    lua_rawseti(state, sorted, static_cast<lua_Integer>(i) + 1);
  }
  lua_pushinteger(state, 0);
  lua_pushcclosure(state, next_in_order, 2);
  lua_pushvalue(state, 1);
  lua_pushnil(state);
  return 3;
}

}  // namespace

void order_pairs(lua_State* state) {
  lua_pushglobaltable(state);
  wrap_function(state, "pairs", pairs);
  lua_pop(state, 1);
}

}  // namespace iap::lua
