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

/// iap.options(defaults): the script's own options, overridden by --set and --seed.
int options(Call& call) {
  if (call.absent(1)) call.refuse(1, "defaults", "a table of options with their defaults");
  Config values = call.config(1, "defaults");
  if (!values.map()) call.refuse(1, "defaults", "a table with named entries");
  if (auto* context = RunContext::of(call.state())) context->apply_to_script_options(values);
  return call.give(values);
}

/// iap.run_folder(default): --out, or the default.
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
