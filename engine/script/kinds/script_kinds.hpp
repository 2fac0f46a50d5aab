#pragma once
#include <memory>

#include "lua/lua.hpp"
import iap.core;
import iap.env;
import iap.policy;

namespace iap {

/// Builds a block of kind "script"; as the rows of the catalog of blocks.
std::unique_ptr<Block> make_script_block(Options& options, const BlockContext& context, ParameterLayout& layout);

/// Builds an environment whose name ends in ".lua": one that is all Lua, or a MuJoCo task; as the rows of the catalog of
/// environments.
std::unique_ptr<Env> make_script_env(Options& options);
/// Builds the MuJoCo task that `script` returned: a table with `model`.
std::unique_ptr<Env> make_script_task(lua::ScriptObject script, Options& options);

/// Opener: adds `tolerance` to the `iap` table at the top of the stack.
void open_tolerance_face(lua_State* state);
/// Opener: pushes what `require "iap"` gives to environments and blocks in Lua.
void open_task_library(lua_State* state);

}  // namespace iap
