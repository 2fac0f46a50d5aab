#pragma once
#include <string>
#include <string_view>

import iap.core;

namespace iap {

/// The constructor of a kind of block in Lua: "iap.attention.rank", "iap.policy.linear".
std::string block_constructor(std::string_view kind);

/// `config` as a Lua expression that gives it back; blocks appear as their constructors, one per line.
std::string to_lua(const Config& config);

/// The call that makes the optimizer `config`: "iap.optim.es { sigma = 0.1 }".
std::string optimizer_to_lua(const Config& config);

}  // namespace iap
