#pragma once
#include <string>
#include <vector>

import iap.core;
import iap.env;

namespace iap {

/// Reads the entry `spec` of an environment written in Lua, but for its name; its config holds `keys` (null where there are none).
/// @throws Error naming the file and entry.
EnvSpec read_script_spec(const std::string& file, const Config& entry);

/// Option `state_names`: what the numbers of the observed vector are; none where it is left out. @throws Error.
std::vector<std::string> read_state_names(Options& options);

}  // namespace iap
