#pragma once
#include <string>

#include "lua/lua.hpp"

namespace iap {

/// The value at `index` as the prompt shows it: objects by their tostring, plain tables by their first entries. @throws LuaError
/// if a tostring fails.
std::string show(lua_State* state, int index);

}  // namespace iap
