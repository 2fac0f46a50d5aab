#include "script/kinds/task_entries.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "script/kinds/script_spec.hpp"
import iap.core;

namespace iap {
namespace {

constexpr std::array plain{"model", "camera", "control_dt", "physics_steps", "max_steps", "state_names", "keys"};
constexpr std::initializer_list<const char*> functions{"reset", "reward", "terminated", "observe"};

}  // namespace

/// @lua options task.table
/// A MuJoCo task in one Lua file: the table that it returns, or that its function(options) returns. iap.env.make("FILE.lua",
/// options) makes the
/// environment, which takes the options of every MuJoCo task and those that the function reads. Its functions are taken once, when
/// it is made: one that is put in a function's place later is never called.
/// @option model string - path of the MJCF from the file's folder, or the MJCF itself as a text
/// @option reward fun(data:data):number - what a step pays; finite, asked after each step
/// @option reset fun(data:data,random:random) ? - writes where an episode begins; the model's initial state stands before
/// @option terminated fun(data:data):boolean ? - whether the episode ends by itself
/// @option observe fun(data:data):number[] = (qpos, then qvel) - what is seen as a vector, always as many numbers
/// @option state_names string[] = (of the joints, without observe) - what these numbers are
/// @option camera integer|string = 0 - index or name of the camera of the pictures
/// @option physics_steps integer 1..1e6 = 1 - physics steps in a control step
/// @option control_dt number 1e-9..1e9 ? - in place of `physics_steps`: seconds, a multiple of the model's timestep
/// @option max_steps integer 0.. = 1000 - time limit in control steps; 0: none
/// @option keys table ? - {KEY = action}: what a person's keys do in `iap play --live`
/// @example return { model = "pole.xml", reward = function(data) return data.body.pole.centre.z end }
/// @see tasks.md#the-table
TaskEntries read_task_entries(lua::ScriptObject& script) {
  Config given = Config::Map{};
  std::vector<std::string> known(plain.begin(), plain.end());
  known.insert(known.end(), functions.begin(), functions.end());
  for (const auto& key : script.keys()) {
    if (std::ranges::find(known, key) == known.end())
      throw Error(text(script.file(), ": a MuJoCo task has no entry '", key, "'", did_you_mean(key, known)));
    if (std::ranges::find(plain, std::string_view(key)) != plain.end()) given[key] = script.entry(key.c_str());
  }
  if (script.is_fresh()) script.refuse_misspelt(functions);
  for (const char* name : plain)
    if (script.inherits(name))
      throw Error(text(script.file(), ": entry '", name, "' comes through the table's metatable (__index), where only functions ",
                       "are looked for; write it into the table itself"));
  constexpr std::int64_t most_steps = 1'000'000'000, most_physics_steps = 1'000'000;
  Options options(script.file(), given);
  TaskEntries entries;
  entries.model = options.string("model");
  if (options.has("camera")) entries.camera = options.value("camera");
  if (!entries.camera.string() && !entries.camera.integer())
    options.fail(text("option 'camera' must be an index or a name, got ", entries.camera.describe()));
  if (options.has("control_dt") && options.has("physics_steps"))
    options.fail("control_dt and physics_steps say the same thing; give one of them");
  if (options.has("control_dt")) entries.control_dt = options.number_in("control_dt", 1e-9, 1e9);
  entries.physics_steps = static_cast<int>(options.integer_in("physics_steps", 1, most_physics_steps, 1));
  entries.max_steps = static_cast<int>(options.integer_in("max_steps", 0, most_steps, entries.max_steps));
  entries.state_names = read_state_names(options);
  entries.keys = options.value("keys");
  options.finish();
  return entries;
}

int physics_steps(const TaskEntries& entries, double timestep, const std::string& file) {
  if (entries.control_dt == 0) return entries.physics_steps;
  constexpr double most = 1e6, rounding = 1e-6;
  const double steps = entries.control_dt / timestep, whole = std::round(steps);
  if (whole < 1 || whole > most || std::abs(steps - whole) > rounding * whole)
    throw Error(text(file, ": control_dt = ", entries.control_dt, " is no multiple of the model's timestep of ", timestep,
                     " s (at least one, at most a million); change one of them, or give physics_steps"));
  return static_cast<int>(whole);
}

}  // namespace iap
