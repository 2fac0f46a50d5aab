#pragma once
#include <span>

#include "lua/object.hpp"

namespace iap::lua {

/// A function that fills a state and may raise; it holds nothing with a destructor.
using Opener = void (*)(lua_State* state);

/// Opener: pushes a table of functions whose full names are OWNER SEPARATOR name, and which answers an unknown key with an error
/// that names the nearest.
void push_functions(lua_State* state, const char* owner, const char* separator, std::span<const Function> functions);

/// Opener: adds one function to the table at the top of the stack.
void add_function(lua_State* state, const char* owner, const char* separator, const Function& function);

}  // namespace iap::lua
