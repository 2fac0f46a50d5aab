#include "lua/bounded.hpp"
#include "lua/meter.hpp"

namespace iap::lua {
namespace {

/// A new thread counts its instructions anew, so that its first ones are paid for when it is made.
constexpr unsigned steps_a_thread = 2000;

/// Lua counts the C stack's levels along resumes, but not along closes: a closed coroutine goes on counting where it once yielded,
/// and what it closes in turn may close others. Each of these may take Lua's 200 levels.
constexpr int most_closes = 5;
thread_local int closes = 0;  // inside one another, on this C stack

/// Closes the variables of `thread`, which then holds nothing but their error, if any. @return as lua_resetthread.
int reset(lua_State* state, lua_State* thread) {
  if (closes == most_closes) luaL_error(state, "C stack overflow (coroutines that close coroutines)");
  ++closes;
  Meter& meter = *Meter::of(state);
  meter.enter(thread);
  const int status = lua_resetthread(thread);
  meter.enter(state);
  --closes;
  return status;
}

/// Resumes `thread` with the top `arguments` values of `state`. Returns how many results stand on top, or -1 for the error alone.
int resume(lua_State* state, lua_State* thread, int arguments) {
  Meter& meter = *Meter::of(state);
  meter.check(state);
  if (!lua_checkstack(thread, arguments)) {
    lua_pushliteral(state, "too many arguments to resume");
    return -1;
  }
  lua_xmove(state, thread, arguments);
  int results = 0;
  meter.enter(thread);
  const int status = lua_resume(thread, state, arguments, &results);
  meter.enter(state);
  const bool ran = status == LUA_OK || status == LUA_YIELD;
  if (ran && !lua_checkstack(state, results + 1)) {
    lua_pop(thread, results);
    lua_pushliteral(state, "too many results to resume");
    return -1;
  }
  lua_xmove(thread, state, ran ? results : 1);
  // The error of what ends Lua for good goes on through the one that resumed.
  if (!ran && meter.over()) lua_error(state);
  return ran ? results : -1;
}

int create(lua_State* state) {
  charge(state, steps_a_thread);
  return run_original(state);
}

int resume_thread(lua_State* state) {
  lua_State* thread = lua_tothread(state, 1);
  luaL_argexpected(state, thread, 1, "coroutine");
  const int results = resume(state, thread, lua_gettop(state) - 1);
  lua_pushboolean(state, results >= 0);
  lua_insert(state, results >= 0 ? -(results + 1) : -2);
  return results >= 0 ? results + 1 : 2;
}

/// The function that coroutine.wrap gives; its upvalue is the thread.
int resume_wrapped(lua_State* state) {
  lua_State* thread = lua_tothread(state, lua_upvalueindex(1));
  const int results = resume(state, thread, lua_gettop(state));
  if (results >= 0) return results;
  const int status = lua_status(thread);
  if (status != LUA_OK && status != LUA_YIELD) {
    reset(state, thread);
    lua_xmove(thread, state, 1);
    lua_remove(state, -2);
  }
  if (status != LUA_ERRMEM && lua_type(state, -1) == LUA_TSTRING) {
    luaL_where(state, 1);
    lua_insert(state, -2);
    lua_concat(state, 2);
  }
  return lua_error(state);
}

int wrap(lua_State* state) {
  charge(state, steps_a_thread);
  luaL_checktype(state, 1, LUA_TFUNCTION);
  lua_State* thread = lua_newthread(state);
  lua_pushvalue(state, 1);
  lua_xmove(state, thread, 1);
  lua_pushcclosure(state, resume_wrapped, 1);
  return 1;
}

int close(lua_State* state) {
  lua_State* thread = lua_tothread(state, 1);
  luaL_argexpected(state, thread, 1, "coroutine");
  lua_Debug frame;
  const bool at_work = lua_status(thread) == LUA_OK && lua_getstack(thread, 0, &frame) != 0;
  if (thread == state || at_work) return luaL_error(state, "cannot close a %s coroutine", thread == state ? "running" : "normal");
  const bool closed = reset(state, thread) == LUA_OK;
  lua_pushboolean(state, closed);
  if (closed) return 1;
  lua_xmove(thread, state, 1);
  if (Meter::of(state)->over()) return lua_error(state);
  return 2;
}

}  // namespace

void bound_coroutines(lua_State* state) {
  lua_getglobal(state, LUA_COLIBNAME);
  wrap_function(state, "create", create);
  wrap_function(state, "resume", resume_thread);
  wrap_function(state, "wrap", wrap);
  wrap_function(state, "close", close);
  lua_pop(state, 1);
}

}  // namespace iap::lua
