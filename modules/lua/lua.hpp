#pragma once
/// The binding layer over plain C Lua 5.4: typed arguments, option tables as Config, C++ objects as userdata.
///
/// Lua raises its errors with longjmp, which runs no destructor, and C++ exceptions must not cross Lua's C frames. Three rules
/// keep both true everywhere:
///
/// 1. Every C++ function that Lua calls is an `entry<body>`. The body runs inside `try`; a failure is copied into a plain buffer,
///    every C++ scope is left, and only then, in a frame that holds nothing but that buffer, the Lua error is raised.
/// 2. A body calls only those API functions that cannot raise: `lua_type`, `lua_rawlen`, `lua_rawgeti`, `lua_rawgetp`,
///    `lua_next`, `lua_getmetatable`, `lua_touserdata`, `lua_tonumberx` on a number, `lua_tolstring` on a string,
///    `lua_checkstack`, `lua_pushvalue` and its kin, `lua_settop`. Raising ones allocate (running out of memory is an error) or
///    may run metamethods; they stand in a `protect` block: a protected call whose own frames are trivial, and whose failure
///    comes back as the C++ exception `LuaError`. Arguments are never read with `luaL_check*`. What allocates may also collect
///    garbage, and finalizers may close any object: one that `Call` handed out lives until the call ends.
/// 3. A function of type `Opener` (module tables, metatables) may raise freely, because it holds no C++ object with a destructor.
///    It is itself only run through `protect` or `require`.
///
/// Include this header after the standard headers and before other imports; it imports iap.core.
#include "lua/call.hpp"
#include "lua/library.hpp"
#include "lua/meter.hpp"
#include "lua/object.hpp"
#include "lua/protect.hpp"
#include "lua/script_object.hpp"
#include "lua/state.hpp"
#include "lua/tables.hpp"
