#pragma once
#include <memory>

#include "lua/lua.hpp"
import iap.core;
import iap.env;
import iap.policy;

namespace iap {

/// Builds a block of kind "script"; as the rows of the catalog of blocks.
std::unique_ptr<Block> make_script_block(Options& options, const BlockContext& context, ParameterLayout& layout);

/// Builds an environment whose name ends in ".lua"; as the rows of the catalog of environments.
std::unique_ptr<Env> make_script_env(Options& options);

}  // namespace iap
