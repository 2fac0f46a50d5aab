#pragma once
#include <string>

import iap.core;
import iap.env;

namespace iap {

/// Reads the entry `spec` of an environment written in Lua, but for its name and config. @throws Error naming the file and entry.
EnvSpec read_script_spec(const std::string& file, const Config& entry);

}  // namespace iap
