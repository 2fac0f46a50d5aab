#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "lua/bounded.hpp"
#include "lua/meter.hpp"

// Every element is charged by itself, though their number is known before: lists may be objects whose metamethods are other C
// functions, one element may be looked for in thousands of tables, and one that is stored may rehash a large one.
namespace iap::lua {
namespace {

constexpr std::size_t bytes_a_step = 8, steps_a_move = 4;

std::uint64_t count_of(lua_Integer first, lua_Integer last) {
  return first > last ? 0 : static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + 1;
}

/// Ends at once what could not end well. A count of moves may be near the largest number.
void foresee_moves(lua_State* state, std::uint64_t count) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  if (Meter* meter = Meter::of(state)) meter->foresee(state, steps_a_move * std::min(count, most));
}

void move_one(lua_State* state, int from, lua_Integer source, int to, lua_Integer target) {
  charge(state, steps_a_move);
  lua_geti(state, from, source);
  lua_seti(state, to, target);
}

/// What is done with a list, and what stands in for it where something else is given.
constexpr const char *reads = "__index", *writes = "__newindex", *measures = "__len";

void check_list(lua_State* state, int argument, std::initializer_list<const char*> uses) {
  if (lua_type(state, argument) == LUA_TTABLE) return;
  for (const char* use : uses) {
    if (luaL_getmetafield(state, argument, use) == LUA_TNIL) luaL_typeerror(state, argument, "table");
    lua_pop(state, 1);
  }
}

int concat(lua_State* state) {
  check_list(state, 1, {reads, measures});
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
  check_list(state, 1, {reads, writes, measures});
  const std::uint64_t next = static_cast<std::uint64_t>(luaL_len(state, 1)) + 1;
  const auto end = static_cast<lua_Integer>(next);
  const int arguments = lua_gettop(state);
  if (arguments != 2 && arguments != 3) return luaL_error(state, "wrong number of arguments to 'insert'");
  lua_Integer place = end;
  if (arguments == 3) {
    place = luaL_checkinteger(state, 2);
    luaL_argcheck(state, static_cast<std::uint64_t>(place) - 1 < static_cast<std::uint64_t>(end), 2, "position out of bounds");
    foresee_moves(state, count_of(place, end));
    for (lua_Integer i = end; i > place; --i) move_one(state, 1, i - 1, 1, i);
  }
  lua_seti(state, 1, place);
  return 0;
}

int remove(lua_State* state) {
  check_list(state, 1, {reads, writes, measures});
  const lua_Integer length = luaL_len(state, 1);
  lua_Integer place = luaL_optinteger(state, 2, length);
  if (place != length)
    luaL_argcheck(state, static_cast<std::uint64_t>(place) - 1 <= static_cast<std::uint64_t>(length), 2, "position out of bounds");
  lua_settop(state, 2);
  lua_geti(state, 1, place);
  foresee_moves(state, count_of(place, length));
  for (; place < length; ++place) move_one(state, 1, place + 1, 1, place);
  lua_pushnil(state);
  lua_seti(state, 1, place);
  return 1;
}

int move(lua_State* state) {
  const lua_Integer first = luaL_checkinteger(state, 2), last = luaL_checkinteger(state, 3), place = luaL_checkinteger(state, 4);
  const int target = lua_isnoneornil(state, 5) ? 1 : 5;
  check_list(state, 1, {reads});
  check_list(state, target, {writes});
  lua_settop(state, 5);
  if (last >= first) {
    luaL_argcheck(state, first > 0 || last < LUA_MAXINTEGER + first, 3, "too many elements to move");
    const lua_Integer count = last - first + 1;
    luaL_argcheck(state, place <= LUA_MAXINTEGER - count + 1, 4, "destination wrap around");
    foresee_moves(state, static_cast<std::uint64_t>(count));
    // In the order in which nothing is overwritten before it is read.
    const bool forwards = place > last || place <= first || (target != 1 && !lua_compare(state, 1, target, LUA_OPEQ));
    for (lua_Integer i = 0; i < count; ++i) {
      const lua_Integer at = forwards ? i : count - 1 - i;
      move_one(state, 1, first + at, target, place + at);
    }
  }
  lua_pushvalue(state, target);
  return 1;
}

int unpack(lua_State* state) {
  const lua_Integer first = luaL_optinteger(state, 2, 1);
  const lua_Integer last = lua_isnoneornil(state, 3) ? luaL_len(state, 1) : luaL_checkinteger(state, 3);
  if (first > last) return 0;
  const std::uint64_t more = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  foresee_moves(state, more);
  charge(state, std::min(more, std::uint64_t{1} << 40));
  lua_settop(state, 1);
  if (more >= INT_MAX - stack_to_spare || !lua_checkstack(state, static_cast<int>(more) + stack_to_spare))
    return luaL_error(state, "too many results to unpack");
  const int count = static_cast<int>(more) + 1;
  for (int i = 0; i < count; ++i) {
    charge(state, steps_a_move);
    lua_geti(state, 1, first + i);
  }
  return count;
}

int pack(lua_State* state) {
  const int count = lua_gettop(state);
  charge(state, static_cast<std::uint64_t>(count));
  create_list(state, static_cast<std::size_t>(count), 1);
  lua_insert(state, 1);
  for (int i = count; i > 0; --i) lua_seti(state, 1, i);
  lua_pushinteger(state, count);
  lua_setfield(state, 1, "n");
  return 1;
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
  check_list(state, 1, {reads, writes, measures});
  lua_settop(state, 2);
  // The original refuses what is no function, where there is anything to sort.
  if (lua_isnil(state, 2) || lua_isfunction(state, 2)) lua_pushcclosure(state, compare, 1);
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
