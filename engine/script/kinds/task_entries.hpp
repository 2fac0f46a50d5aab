#pragma once
#include <string>
#include <vector>

#include "lua/lua.hpp"
import iap.core;

namespace iap {

/// The plain entries of a MuJoCo task in Lua.
struct TaskEntries {
  std::string model;      ///< path of an MJCF, or its text
  Config camera = 0;      ///< index or name
  double control_dt = 0;  ///< seconds; 0 where `physics_steps` is given
  int physics_steps = 1;  ///< a control step
  int max_steps = 1000;   ///< 0 for no limit
  std::vector<std::string> state_names;
  Config keys;  ///< a person's, as the option `keys`; null where there are none
};

/// Reads them. @throws Error naming the file and entry, an unknown one with the nearest name.
TaskEntries read_task_entries(lua::ScriptObject& script);

/// How many physics steps of `timestep` seconds a control step has. @throws Error naming the file where it is no whole number.
int physics_steps(const TaskEntries& entries, double timestep, const std::string& file);

}  // namespace iap
