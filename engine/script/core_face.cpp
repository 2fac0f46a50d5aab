#include <algorithm>
#include <string>
#include <vector>

#include "script/context.hpp"
#include "script/faces.hpp"
#include "script/kinds/script_kinds.hpp"
#include "script/run_folders.hpp"
import iap.core;
import iap.script;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

/// @lua function iap.threads
/// How many worker threads a run uses: `--threads`, else all cores of the machine. No result depends on it.
/// @return integer - at least 1
int threads(Call& call) {
  const auto* context = RunContext::of(call.state());
  const int wanted = context ? context->threads() : 0;
  return call.give(wanted > 0 ? wanted : hardware_threads());
}

/// @lua function iap.options
/// The script's own options: returns `defaults` as the command line sets them (`--set NAME=VALUE`; `--seed` and `--out` where there
/// are a
/// `seed` and an `out`). An override that neither the script nor iap.train has is refused here, before anything is computed, so
/// that the
/// call stands once and first.
/// @param defaults table - names with their defaults, which also say the types: numbers, strings, booleans, lists, tables (one
/// that is given for a table changes the entries that it names)
/// @param options table ? - about the script
/// @option training boolean = true - whether the script calls iap.train, which then gets the other overrides
/// @return table - the values
/// @example local settings = iap.options { episodes = 20, seed = 1 }
/// @see training.md#options-of-iaptrain
int options(Call& call) {
  if (call.absent(1)) call.refuse(1, "defaults", "a table of options with their defaults");
  Config values = call.config(1, "defaults");
  if (!values.map()) call.refuse(1, "defaults", "a table with named entries");
  const Config about = call.config(2, "about");
  Options reader(call.name(), about);
  const bool training = reader.boolean("training", true);
  reader.finish();
  if (auto* context = RunContext::of(call.state())) context->declare(values, training);
  return call.give(values);
}

/// @lua function iap.run_folder
/// Where a run belongs: `--out` for the script's first, else `default`, or `default-2`, `default-3` ... where a run stands.
/// With `--resume`, the unfinished run of this script whose settings differ least from those given, of equal ones that which was
/// worked on last.
/// @param default string - a folder such as "runs/dot"
/// @param options table ? - for scripts that keep several runs below one folder
/// @option shared string[] ? - options that runs in one folder may differ in; the other overrides become part of the folder's name,
/// with a number where that does not tell their values from others
/// @return string - the folder
/// @see training.md#stopping-and-going-on
int run_folder(Call& call) {
  const auto fallback = call.string(1, "default");
  const Config config = call.config(2, "options");
  Options options(call.name(), config);
  const bool keeps_several = options.has("shared");
  std::vector<std::string> shared;
  for (const auto& name : options.list("shared")) {
    if (!name.string()) call.fail(text("option 'shared' must be a list of names, got ", name.describe(), " in it"));
    shared.push_back(*name.string());
  }
  options.finish();
  if (auto* context = RunContext::of(call.state()))
    return call.give(context->run_folder(fallback, keeps_several ? &shared : nullptr).string());
  return call.give(keeps_several ? folder_with_settings(fallback, {}) : fresh_folder(fallback).string());
}

/// What the reference calls the value: the first upvalue of our functions is their name, tables and objects know theirs.
std::string name_of(Call& call) {
  lua_State* state = call.state();
  const int at = call.at(1);
  lua::reserve(state, 2);
  if (lua_type(state, at) == LUA_TSTRING) return std::string(lua::string_at(state, at));
  if (const auto found = lua::find_object(state, at); found.info) return found.info->name;
  if (lua_type(state, at) == LUA_TTABLE && lua_getmetatable(state, at)) {
    lua::push_entry(state, -1, "__name");
    if (lua_type(state, -1) == LUA_TSTRING) return std::string(lua::string_at(state, -1));
  }
  if (lua_iscfunction(state, at) && lua_getupvalue(state, at, 1) && lua_type(state, -1) == LUA_TSTRING)
    return std::string(lua::string_at(state, -1));
  call.refuse(1, "what", "a name such as \"iap.env.make\", or a function, table or object of iap");
}

/// @lua function iap.help
/// What this reference says, as a text. At the prompt it is `help`; on the command line, `iap help NAME`.
/// @param what any ? - a name ("iap.attention.rank", "rank", "env:step", "cheetah-run", an option such as "sigma"), or a function,
/// table or object; without it, the list of areas
/// @return string - at most 96 columns wide
/// @example print(iap.help(iap.attention.rank))
int help(Call& call) { return call.give(help_text(call.absent(1) ? std::string() : name_of(call))); }

constexpr lua::Function functions[] = {
    {"help", entry<help>},
    {"threads", entry<threads>},
    {"options", entry<options>},
    {"run_folder", entry<run_folder>},
};

}  // namespace

/// @lua table iap
/// Everything at the top of the module: training, evaluation, and what scripts need around them.

/// @lua value iap.version
/// The version of the engine.
/// @field version string - such as "0.2.0"

/// @lua class object
/// What all objects of iap have. tostring(object) describes it; objects may also stand in `local x <close> = ...`.
/// @page iap

/// @lua method object:close
/// Frees what the object holds at once, where the garbage collector would do it some time. Using it afterwards is an error.
/// @page iap
void open_core_face(lua_State* state) {
  for (const auto& function : functions) lua::add_function(state, "iap", ".", function);
  open_tolerance_face(state);
  lua_pushlstring(state, version().data(), version().size());
  lua_setfield(state, -2, "version");
}

}  // namespace iap
