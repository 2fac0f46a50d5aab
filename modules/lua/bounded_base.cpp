#include <cstddef>
#include <cstring>

#include "lua/bounded.hpp"
#include "lua/meter.hpp"

namespace iap::lua {
namespace {

/// What ends Lua for good passes through every protected call.
void pass_on(lua_State* state) {
  if (Meter::of(state)->over()) lua_error(state);
}

int finish_pcall(lua_State* state, int status, lua_KContext below) {
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(state) - static_cast<int>(below);
  pass_on(state);
  lua_pushboolean(state, 0);
  lua_insert(state, -2);
  return 2;
}

int protected_call(lua_State* state) {
  luaL_checkany(state, 1);
  lua_pushboolean(state, 1);
  lua_insert(state, 1);
  const int status = lua_pcallk(state, lua_gettop(state) - 2, LUA_MULTRET, 0, 0, finish_pcall);
  return finish_pcall(state, status, 0);
}

/// A message handler. Lua runs it with hooks off when a hook raised the error, where nothing would count it.
int handle(lua_State* state) {
  if (Meter::of(state)->over()) return 1;
  lua_settop(state, 1);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, 1, 1);
  return 1;
}

int protected_call_with_handler(lua_State* state) {
  const int arguments = lua_gettop(state);
  // What is missing is a table that says so when it is called.
  if (luaL_getmetafield(state, 2, "__call") != LUA_TNIL) {
    lua_pushvalue(state, 2);
    lua_call(state, 0, 0);
    lua_settop(state, arguments);
  }
  luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_pushvalue(state, 2);
  lua_pushcclosure(state, handle, 1);
  lua_replace(state, 2);
  lua_pushboolean(state, 1);
  lua_pushvalue(state, 1);
  lua_rotate(state, 3, 2);
  const int status = lua_pcallk(state, arguments - 2, LUA_MULTRET, 2, 2, finish_pcall);
  return finish_pcall(state, status, 2);
}

void refuse(lua_State* state, const char* what) {
  luaL_error(state, "%s is not available to Lua that comes out of a file%s", what, Meter::of(state)->remedy().c_str());
}

/// Upvalues: the original; the known metatables, whose mode the meter looks at before it collects.
int set_metatable(lua_State* state) {
  if (lua_type(state, 2) == LUA_TTABLE) {
    lua_pushliteral(state, "__gc");
    // A finalizer would run while the state is closed, when nothing can stop it.
    if (lua_rawget(state, 2) != LUA_TNIL) refuse(state, "a metatable with __gc");
    lua_pushliteral(state, "__mode");
    if (lua_rawget(state, 2) == LUA_TSTRING) {
      const char* mode = lua_tolstring(state, -1, nullptr);
      if (std::strchr(mode, 'k') && !std::strchr(mode, 'v')) refuse(state, "a table with weak keys (__mode = \"k\")");
    }
    lua_pop(state, 2);
    Meter& meter = *Meter::of(state);
    lua_pushvalue(state, 2);
    lua_pushboolean(state, 1);
    // Its keys are addresses.
    meter.allow_any_table(true);
    lua_rawset(state, lua_upvalueindex(2));
    meter.allow_any_table(false);
  }
  return run_original(state);
}

int to_number(lua_State* state) {
  constexpr std::size_t characters_a_step = 4;
  if (lua_type(state, 1) == LUA_TSTRING) charge(state, lua_rawlen(state, 1) / characters_a_step);
  return run_original(state);
}

int date(lua_State* state) {
  constexpr std::size_t steps_a_character = 100;
  if (lua_type(state, 1) == LUA_TSTRING) charge(state, lua_rawlen(state, 1) * steps_a_character);
  return run_original(state);
}

}  // namespace

void wrap_function(lua_State* state, const char* name, lua_CFunction function) {
  lua_getfield(state, -1, name);
  lua_pushcclosure(state, function, 1);
  lua_setfield(state, -2, name);
}

void bound_base(lua_State* state) {
  lua_pushglobaltable(state);
  wrap_function(state, "pcall", protected_call);
  wrap_function(state, "xpcall", protected_call_with_handler);
  wrap_function(state, "tonumber", to_number);
  lua_getfield(state, -1, "setmetatable");
  lua_rotate(state, -3, -1);
  lua_pushcclosure(state, set_metatable, 2);
  lua_setfield(state, -2, "setmetatable");
  lua_getfield(state, -1, LUA_OSLIBNAME);
  wrap_function(state, "date", date);
  lua_pop(state, 2);
}

}  // namespace iap::lua
