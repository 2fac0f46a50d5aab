#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lua/bounded.hpp"
#include "lua/call.hpp"
#include "lua/meter.hpp"
#include "lua/ordered_pairs.hpp"
#include "lua/state.hpp"
#include "lua/tables.hpp"

namespace iap::lua {
namespace {

/// Takes away what reaches beyond the state and puts refusals in its place. Whatever it needs later it holds in locals, out of
/// reach of the code that runs afterwards.
constexpr std::string_view confine = R"(
local modules, advice, print_safely, load, library = ...
local error, next, setmetatable, type = error, next, setmetatable, type

-- What calls or looks into the result is refused; to mention it is not.
local function refusal(name)
  local function refuse() error(name .. advice, 2) end
  return setmetatable({}, { __call = refuse, __index = refuse, __newindex = refuse, __metatable = false })
end
local function missing_library(name)
  local function look_up(_, key) return refusal(name .. "." .. (type(key) == "string" and key or "?")) end
  return setmetatable({}, { __index = look_up, __metatable = false })
end
local function keep_only(library, prefix, names)
  local kept = {}
  for name in names:gmatch("%g+") do kept[name] = true end
  for name in next, library do
    if not kept[name] then library[name] = refusal(prefix .. name) end
  end
end

getmetatable("").__metatable = setmetatable({}, { __index = { __index = string }, __newindex = refusal("the metatable of strings"),
  __metatable = false })

keep_only(os, "os.", "clock date difftime time")
string.dump = refusal("string.dump")
keep_only(_G, "", [[_G _VERSION assert error getmetatable ipairs next pairs pcall rawequal rawget rawlen rawset select setmetatable
  tonumber tostring type xpcall coroutine math os string table utf8]])
print = print_safely
io, debug, package = missing_library("io"), missing_library("debug"), missing_library("package")
-- Programs that extend the search path may: it leads nowhere.
package.path, package.cpath = "", ""

local loaded = { _G = _G, coroutine = coroutine, debug = debug, io = io, math = math, os = os, package = package, string = string,
  table = table, utf8 = utf8, iap = library }
function require(name)
  if type(name) ~= "string" then error("require: expected the name of a module, got a " .. type(name), 2) end
  if loaded[name] ~= nil then return loaded[name] end
  local text = modules[name]
  if not text then error("the module '" .. name .. "', which the file does not hold," .. advice, 2) end
  local path = name .. ".lua"
  local chunk, problem = load(text, path)
  if not chunk then error(problem, 0) end
  local module = chunk(name, path)
  if module == nil then module = true end
  loaded[name] = module
  return module, path
end
)";

int write_line(Call& call) {
  const std::string line = printable(string_at(call.state(), 1)) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  return 0;
}

/// print: to the standard error, because a program's output is not a stranger's to write; terminals obey control characters.
int print_safely(lua_State* state) {
  constexpr std::uint64_t steps_a_character = 1000;  // 300 000 characters a call
  const int count = lua_gettop(state);
  luaL_Buffer line;
  luaL_buffinit(state, &line);
  for (int i = 1; i <= count; ++i) {
    if (i > 1) luaL_addchar(&line, '\t');
    std::size_t length = 0;
    luaL_tolstring(state, i, &length);
    charge(state, (1 + length) * steps_a_character);
    luaL_addvalue(&line);
  }
  luaL_pushresult(&line);
  lua_replace(state, 1);
  return entry<write_line>(state);
}

/// The text of a module, its path -> the chunk, or nil and what is wrong. Text only: malformed bytecode can crash the interpreter.
int load_module(Call& call) {
  lua_State* state = call.state();
  const std::string chunk = call.string(1, "text"), path = call.string(2, "path");
  Meter::of(state)->charge_program(path, chunk.size());
  reserve(state, 2);
  if (luaL_loadbufferx(state, chunk.data(), chunk.size(), ("@" + path).c_str(), "t") == LUA_OK) return 1;
  lua_pushnil(state);
  lua_insert(state, -2);
  return 2;
}

void push_named_function(lua_State* state, const char* name, lua_CFunction function) {
  protect(state, 0, 1, [name, function](lua_State* inner) noexcept {
    lua_pushstring(inner, name);
    lua_pushcclosure(inner, function, 1);
  });
}

void open_harmless_libraries(lua_State* state) {
  constexpr luaL_Reg libraries[] = {
      {LUA_GNAME, luaopen_base},        {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
      {LUA_STRLIBNAME, luaopen_string}, {LUA_MATHLIBNAME, luaopen_math},    {LUA_UTF8LIBNAME, luaopen_utf8},
      {LUA_OSLIBNAME, luaopen_os},
  };
  for (const auto& library : libraries) {
    luaL_requiref(state, library.name, library.func, 1);
    lua_pop(state, 1);
  }
}

}  // namespace

State State::confined(const std::string& loaded_from, const Config& modules, Opener library, const Allowance& allowance) {
  auto owned = std::make_unique<Meter>(loaded_from, allowance);
  Meter* meter = owned.get();
  State state(new_state(Meter::allocate, meter), std::move(owned));
  protect(state, 0, 0, [meter](lua_State* inner) noexcept {
    open_harmless_libraries(inner);
    meter->begin(inner);
    bound_base(inner);
    order_pairs(inner);
    bound_coroutines(inner);
    bound_strings(inner);
    bound_patterns(inner);
    bound_lists(inner);
  });
  state.load_text(confine, "=confined");
  push_config(state, modules);
  push_string(state, text(" is not available to Lua that comes out of a file", meter->remedy()));
  push_named_function(state, "print", print_safely);
  push_named_function(state, "require", entry<load_module>);
  if (library) {
    protect(state, 0, 1, [library](lua_State* inner) noexcept {
      library(inner);
      if (!lua_getmetatable(inner, -1)) return;
      lua_pushboolean(inner, 0);
      lua_setfield(inner, -2, "__metatable");
      lua_pop(inner, 1);
    });
  }
  call(state, library ? 5 : 4, 0);
  return state;
}

}  // namespace iap::lua
