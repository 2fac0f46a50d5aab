#include <algorithm>
#include <string>
#include <vector>

#include "script/context.hpp"
#include "script/faces.hpp"
#include "script/kinds/script_kinds.hpp"
import iap.core;
import iap.script;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

/// iap.threads(): the number of threads a run uses.
int threads(Call& call) {
  const auto* context = RunContext::of(call.state());
  const int wanted = context ? context->threads() : 0;
  return call.give(wanted > 0 ? wanted : hardware_threads());
}

/// iap.options(defaults, {training = true}): the script's own options, overridden by --set, --seed and --out. An override that
/// neither the script nor iap.train has is refused here, before anything is computed; `training = false` says that the script does
/// not call iap.train.
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

/// iap.run_folder(default, {shared}): --out, or the default; default-2, default-3 ... where a run stands already. With --resume,
/// the run of the script that was worked on last and is not complete. With `shared`, a list of what --set may change within one
/// folder: the default with the other overrides in its name, for scripts that keep several runs below it and resume them by
/// themselves.
int run_folder(Call& call) {
  const auto fallback = call.string(1, "default");
  const Config config = call.config(2, "options");
  Options options(call.name(), config);
  const Config list = options.value("shared");
  options.finish();
  std::vector<std::string> shared;
  if (!list.is_null()) {
    if (!list.list()) call.fail(text("option 'shared' must be a list of names, got ", list.describe()));
    for (const auto& name : *list.list()) {
      if (!name.string()) call.fail(text("option 'shared' must be a list of names, got ", name.describe(), " in it"));
      shared.push_back(*name.string());
    }
  }
  auto* context = RunContext::of(call.state());
  return call.give(context ? context->run_folder(fallback, list.is_null() ? nullptr : &shared).string() : fallback);
}

constexpr lua::Function functions[] = {
    {"threads", entry<threads>},
    {"options", entry<options>},
    {"run_folder", entry<run_folder>},
};

}  // namespace

void open_core_face(lua_State* state) {
  for (const auto& function : functions) lua::add_function(state, "iap", ".", function);
  open_tolerance_face(state);
  lua_pushlstring(state, version().data(), version().size());
  lua_setfield(state, -2, "version");
}

}  // namespace iap
