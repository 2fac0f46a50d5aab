#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lua/bounded.hpp"
#include "lua/meter.hpp"

// Lists may be objects whose metamethods are other C functions: what is moved is charged piece by piece or before.
namespace iap::lua {
namespace {

constexpr std::size_t bytes_a_step = 8, steps_a_move = 4;

std::uint64_t count_of(lua_Integer first, lua_Integer last) {
  return first > last ? 0 : static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + 1;
}

/// A count of moves may be near the largest number.
void charge_moves(lua_State* state, std::uint64_t count) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  charge(state, steps_a_move * std::min(count, most));
}

/// What indexing and taking a length makes sense of.
void check_list(lua_State* state, int argument) {
  if (lua_type(state, argument) == LUA_TTABLE) return;
  if (!luaL_getmetafield(state, argument, "__index")) luaL_typeerror(state, argument, "table");
  lua_pop(state, 1);
}

int concat(lua_State* state) {
  check_list(state, 1);
  const lua_Integer length = luaL_len(state, 1);
  std::size_t gap_size = 0;
  const char* gap = luaL_optlstring(state, 2, "", &gap_size);
  const lua_Integer first = luaL_optinteger(state, 3, 1), last = luaL_optinteger(state, 4, length);
  const std::uint64_t count = count_of(first, last);
  std::uint64_t bytes = 0;
  luaL_Buffer joined;
  luaL_buffinit(state, &joined);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t number = static_cast<std::uint64_t>(first) + i;
    const auto place = static_cast<lua_Integer>(number);
    lua_geti(state, 1, place);
    if (!lua_isstring(state, -1))
      luaL_error(state, "invalid value (%s) at index %I in table for 'concat'", luaL_typename(state, -1),
                 static_cast<LUAI_UACINT>(place));
    std::size_t size = 0;
    lua_tolstring(state, -1, &size);
    bytes += size + gap_size;
    charge(state, steps_a_move + (size + gap_size) / bytes_a_step);
    check_string(state, bytes - gap_size);
    luaL_addvalue(&joined);
    if (i + 1 < count) luaL_addlstring(&joined, gap, gap_size);
  }
  luaL_pushresult(&joined);
  return 1;
}

int insert(lua_State* state) {
  check_list(state, 1);
  const std::uint64_t next = static_cast<std::uint64_t>(luaL_len(state, 1)) + 1;
  const auto end = static_cast<lua_Integer>(next);
  const int arguments = lua_gettop(state);
  if (arguments != 2 && arguments != 3) return luaL_error(state, "wrong number of arguments to 'insert'");
  lua_Integer place = end;
  if (arguments == 3) {
    place = luaL_checkinteger(state, 2);
    luaL_argcheck(state, static_cast<std::uint64_t>(place) - 1 < static_cast<std::uint64_t>(end), 2, "position out of bounds");
    charge_moves(state, count_of(place, end));
    for (lua_Integer i = end; i > place; --i) {
      lua_geti(state, 1, i - 1);
      lua_seti(state, 1, i);
    }
  }
  lua_seti(state, 1, place);
  return 0;
}

int remove(lua_State* state) {
  check_list(state, 1);
  const lua_Integer length = luaL_len(state, 1);
  lua_Integer place = luaL_optinteger(state, 2, length);
  if (place != length)
    luaL_argcheck(state, static_cast<std::uint64_t>(place) - 1 <= static_cast<std::uint64_t>(length), 2, "position out of bounds");
  lua_geti(state, 1, place);
  charge_moves(state, count_of(place, length));
  for (; place < length; ++place) {
    lua_geti(state, 1, place + 1);
    lua_seti(state, 1, place);
  }
  lua_pushnil(state);
  lua_seti(state, 1, place);
  return 1;
}

int move(lua_State* state) {
  charge_moves(state, count_of(luaL_checkinteger(state, 2), luaL_checkinteger(state, 3)));
  return run_original(state);
}

int unpack(lua_State* state) {
  const lua_Integer first = luaL_optinteger(state, 2, 1);
  const lua_Integer last = lua_isnoneornil(state, 3) ? luaL_len(state, 1) : luaL_checkinteger(state, 3);
  charge(state, std::min(count_of(first, last), std::uint64_t{1} << 40));
  lua_settop(state, 1);
  lua_pushinteger(state, first);
  lua_pushinteger(state, last);
  return run_original(state);
}

int pack(lua_State* state) {
  charge(state, static_cast<std::uint64_t>(lua_gettop(state)));
  return run_original(state);
}

/// Whether one comes before the other, for the original sort: every comparison is charged. Upvalue: the order, or nil.
int compare(lua_State* state) {
  const bool ordered = lua_type(state, lua_upvalueindex(1)) != LUA_TNIL;
  const bool strings = lua_type(state, 1) == LUA_TSTRING && lua_type(state, 2) == LUA_TSTRING;
  const std::size_t bytes = strings ? std::min(lua_rawlen(state, 1), lua_rawlen(state, 2)) : 0;
  charge(state, steps_a_move + bytes / bytes_a_step);
  if (!ordered) {
    lua_pushboolean(state, lua_compare(state, 1, 2, LUA_OPLT));
    return 1;
  }
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, 2, 1);
  return 1;
}

int sort(lua_State* state) {
  check_list(state, 1);
  lua_settop(state, 2);
  if (!lua_isnil(state, 2)) luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_pushcclosure(state, compare, 1);
  return run_original(state);
}

}  // namespace

void bound_lists(lua_State* state) {
  lua_getglobal(state, LUA_TABLIBNAME);
  wrap_function(state, "concat", concat);
  wrap_function(state, "insert", insert);
  wrap_function(state, "move", move);
  wrap_function(state, "pack", pack);
  wrap_function(state, "remove", remove);
  wrap_function(state, "sort", sort);
  wrap_function(state, "unpack", unpack);
  lua_pop(state, 1);
}

}  // namespace iap::lua
