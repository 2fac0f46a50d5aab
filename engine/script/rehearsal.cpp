module;
#include <filesystem>
#include <string_view>

#include "script/context.hpp"
#include "script/faces.hpp"
module iap.script;
import iap.core;
#include "script/impl.hpp"

namespace iap {
namespace {

/// Called with two functions, whether the script has trained and what ends it, and whether what it prints until then is printed.
/// Until the training, the script does what it always does.
constexpr std::string_view precautions = R"lua(
local has_trained, finish, aloud = ...
local iap = require "iap"
local function is_heard() return aloud and not has_trained() end
local shown = print
print = function(...) if is_heard() then return shown(...) end end
local file = getmetatable(io.stdout).__index
local write, output = file.write, io.output
file.write = function(self, ...)
  if self == io.stdout and not is_heard() then return self end
  if has_trained() and self ~= io.stderr then return finish() end
  return write(self, ...)
end
io.write = function(...) return file.write(output(), ...) end
os.exit = finish
local function replace(owner, names, stand_in)
  for _, name in ipairs(names) do
    local original = owner[name]
    owner[name] = function(...)
      if has_trained() then return stand_in() end
      return original(...)
    end
  end
end
replace(io, { "open", "popen", "output", "input", "lines", "tmpfile" }, finish)
replace(os, { "execute", "remove", "rename", "tmpname" }, finish)
local reports = {}
for name, report in pairs(iap.report) do
  if type(report) == "function" then table.insert(reports, name) end
end
replace(iap.report, reports, function() return "0" end) -- serves as a path and as a number
replace(iap, { "eval" }, function() return { mean = 0, standard_deviation = 0, low = 0, high = 0, episodes = {} } end)
)lua";

const RunContext& context_of(lua_State* state) {
  return *static_cast<const RunContext*>(lua_touserdata(state, lua_upvalueindex(1)));
}

int has_trained(lua_State* state) {
  lua_pushboolean(state, context_of(state).rehearsal->trainings > 0);
  return 1;
}

int finish(lua_State* state) {
  const RunContext& context = context_of(state);
  context.end_rehearsal(state);
  return luaL_error(state, "%s", context.last_words());
}

}  // namespace

Rehearsal Script::rehearse(const std::filesystem::path& path, bool aloud) {
  auto& context = impl_->context;
  context.rehearsal.emplace();
  impl_->prepare([&] {
    lua::protect(impl_->lua, 0, 0, [&context, aloud](lua_State* state) noexcept {
      if (luaL_loadbuffer(state, precautions.data(), precautions.size(), "=precautions") != LUA_OK) lua_error(state);
      for (const lua_CFunction function : {has_trained, finish}) {
        lua_pushlightuserdata(state, &context);
        lua_pushcclosure(state, function, 1);
      }
      lua_pushboolean(state, aloud);
      lua_call(state, 3, 0);
    });
  });
  try {
    impl_->run_file(path);
  } catch (const Error&) {
    // What it does with the result may well fail: there is none.
    if (context.rehearsal->trainings == 0) throw;
  }
  // It stays: the finalizers that run when the state closes must not write either.
  return *context.rehearsal;
}

}  // namespace iap
