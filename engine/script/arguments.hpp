#pragma once
#include <string_view>

#include "lua/lua.hpp"

namespace iap {

/// What a constructor of blocks of `kind` was called with: one table, of named options or, for blocks that hold blocks, of these.
/// @throws Error that says what came instead and how to write it.
void check_block_arguments(const lua::Call& call, std::string_view kind);

/// The same for the table that iap.train takes: its entries `env`, `policy` and `optimizer`, each where it is given.
void check_training_arguments(const lua::Call& call);

}  // namespace iap
