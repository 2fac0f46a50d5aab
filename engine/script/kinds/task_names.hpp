#pragma once
#include <initializer_list>
#include <string>

#include "lua/lua.hpp"
import iap.core;
import iap.sim;

namespace iap {

// A model out of a file may have any number of names, and each as long as the file: who looks for one pays for it.

/// The index of the object of MuJoCo's `kind` called `wanted`, or -1. What has no name is not found. @throws LuaError past a limit.
int find_task_name(lua_State* state, const MujocoWorld& world, const char* kind, const std::string& wanted);

/// What did_you_mean says of `wanted` among the names of these kinds, of which very many or very long ones are left out. @throws
/// LuaError past a limit.
std::string suggest_task_name(lua_State* state, const MujocoWorld& world, std::initializer_list<const char*> kinds,
                              const std::string& wanted);

}  // namespace iap
