#pragma once
#include "lua/protect.hpp"

namespace iap::lua {

/// Opener: lets `pairs` of this state visit numbers first, by size, then false and true, then strings, byte by byte, then what else
/// there is, in no order that is promised. Lua hashes strings with a number that each state draws, and its own `pairs` follows the
/// hashes: sums would have other bits, and searches find other things, from worker to worker and from run to run. As Lua's own
/// otherwise: it heeds __pairs, and fields may be changed and removed on the way. `next` stays Lua's.
void order_pairs(lua_State* state);

}  // namespace iap::lua
