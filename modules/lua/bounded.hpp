#pragma once
#include "lua/protect.hpp"

namespace iap::lua {

/// Openers: put in the place of library functions those that charge the state's meter for what no hook counts, and that let no
/// error swallow a limit. They take and give what the originals do.
///
/// `bound_base`: pcall, xpcall, setmetatable, tonumber; os.date. The table of known metatables is
/// on top of the stack and taken off.
void bound_base(lua_State* state);
/// coroutine.create, wrap, resume, close.
void bound_coroutines(lua_State* state);
/// string and utf8, but for patterns; math.max and min, which compare strings, too.
void bound_strings(lua_State* state);
/// string.find, match, gmatch, gsub.
void bound_patterns(lua_State* state);
/// table.
void bound_lists(lua_State* state);

/// Opener: gives the library table on top `function` under `name`, with the function that stood there as its upvalue.
void wrap_function(lua_State* state, const char* name, lua_CFunction function);
/// Besides what a function gives that fills the stack: whoever takes it needs little more, for which Lua would double the stack.
constexpr int stack_to_spare = 100;
/// The original of the function that runs, to be called in its place, with its arguments.
inline int run_original(lua_State* state) { return lua_tocfunction(state, lua_upvalueindex(1))(state); }

}  // namespace iap::lua
