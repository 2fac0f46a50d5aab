#include <algorithm>
#include <string>

#include "script/context.hpp"
#include "script/faces.hpp"
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

/// iap.run_folder(default): --out, or the default; default-2, default-3 ... where a run stands already and --resume is not given.
int run_folder(Call& call) {
  const auto fallback = call.string(1, "default");
  auto* context = RunContext::of(call.state());
  return call.give(context ? context->run_folder(fallback).string() : fallback);
}

constexpr lua::Function functions[] = {
    {"threads", entry<threads>},
    {"options", entry<options>},
    {"run_folder", entry<run_folder>},
};

}  // namespace

void open_core_face(lua_State* state) {
  for (const auto& function : functions) lua::add_function(state, "iap", ".", function);
  lua_pushlstring(state, version().data(), version().size());
  lua_setfield(state, -2, "version");
}

}  // namespace iap
