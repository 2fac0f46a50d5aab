#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

extern "C" {
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
}
import iap.core;

namespace iap::lua {

/// A Lua error on its way through C++ frames. Its text already says where it happened.
class LuaError : public Error {
 public:
  using Error::Error;
};

/// Calls the function that lies below `arguments` values on the stack, as lua_call does. @throws LuaError.
void call(lua_State* state, int arguments, int results);

/// Makes room for `slots` values. @throws Error when Lua's stack is exhausted.
void reserve(lua_State* state, int slots);

/// Runs `body(state)` where Lua may raise: in a protected call of its own, which starts with the top `arguments` values as its
/// stack and leaves `results` values. The body holds trivially destructible objects only and is noexcept: a longjmp may end it
/// at any API call. @throws LuaError with the message that Lua raised.
template <typename Body>
void protect(lua_State* state, int arguments, int results, const Body& body) {
  static_assert(noexcept(body(state)), "a protected body may not throw: C++ exceptions must not cross Lua's frames");
  static_assert(std::is_trivially_destructible_v<Body>, "a protected body must be trivial: longjmp runs no destructor");
  reserve(state, LUA_MINSTACK);
  lua_pushcfunction(state, [](lua_State* inner) -> int {
    const auto* pending = static_cast<const Body*>(lua_touserdata(inner, 1));
    lua_remove(inner, 1);
    (*pending)(inner);
    return lua_gettop(inner);
  });
  lua_insert(state, -1 - arguments);
  lua_pushlightuserdata(state, const_cast<Body*>(std::addressof(body)));
  lua_insert(state, -1 - arguments);
  call(state, arguments + 1, results);
}

/// Takes the value at the top into the registry; returns its index there. @throws LuaError.
int keep(lua_State* state);

/// For hooks that found the user's interrupt: an error that no message handler sees. Lua would run one of xpcall inside of the
/// hook, with hooks off, where nothing ends its loops.
void raise_interrupted(lua_State* state);

/// The string at `index`, which must be a string: numbers are not converted, because that would change them in place.
std::string_view string_at(lua_State* state, int index);

/// `message` with "\0" for every NUL, where C's strings, which carry errors, would end.
std::string without_zeros(std::string_view message);

/// A short description of the value at `index` for messages: "nil", "a number (3)", "a table", "iap.env". Never raises.
std::string describe_value(lua_State* state, int index);

/// "file:line: " of the innermost Lua code that is running, or "". Never raises.
std::string where(lua_State* state);

}  // namespace iap::lua
