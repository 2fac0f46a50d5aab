#pragma once
#include <string>
#include <vector>

#include "lua/lua.hpp"
import iap.core;
import iap.env;

namespace iap {

/// Reads the entry `spec` of an environment written in Lua, but for its name; its config holds `keys` (null where there are none).
/// @throws Error naming the file and entry.
EnvSpec read_script_spec(const std::string& file, const Config& entry);

/// Refuses a file that reads options of every environment as its own, which are not given and are filled in: `time_limit` where
/// there are `max_steps`, `keys` where the file has `keys`, `action_repeat`. @throws Error naming the file and the option.
void refuse_filled_in(lua::ScriptObject& script, int max_steps, const Config& keys);

/// A value of an entry for messages, in the words of Lua, where null is nil.
std::string describe_in_lua(const Config& value);

/// Option `state_names`: what the numbers of the observed vector are; none where it is left out. @throws Error.
std::vector<std::string> read_state_names(Options& options);

}  // namespace iap
