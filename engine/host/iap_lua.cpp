#include "script/faces.hpp"

/// What `require "iap"` calls in a stock interpreter, which brings its own Lua.
extern "C" __attribute__((visibility("default"))) int luaopen_iap(lua_State* state) { return iap::open_iap(state); }
