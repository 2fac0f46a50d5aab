#include <cctype>
#include <cstdio>
#include <string>
#include <string_view>

#include "lua/state.hpp"
#include "lua/tables.hpp"

namespace iap::lua {
namespace {

/// Takes away what reaches beyond the state and puts refusals in its place. Whatever it needs later it holds in locals, out of
/// reach of the code that runs afterwards.
constexpr std::string_view confine = R"(
local modules, advice, print_safely, library = ...
local error, load, next, rawget, setmetatable, type = error, load, next, rawget, setmetatable, type

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

keep_only(os, "os.", "clock date difftime time")
string.dump = refusal("string.dump")
keep_only(_G, "", [[_G _VERSION assert error getmetatable ipairs next pairs pcall rawequal rawget rawlen rawset select tonumber
  tostring type xpcall coroutine math os string table utf8]])
print = print_safely
io, debug, package = missing_library("io"), missing_library("debug"), missing_library("package")
-- Programs that extend the search path may: it leads nowhere.
package.path, package.cpath = "", ""

-- A finalizer would run while the state is closed, when nothing can stop it.
function _G.setmetatable(object, metatable)
  if type(metatable) == "table" and rawget(metatable, "__gc") ~= nil then error("a metatable with __gc" .. advice, 2) end
  return setmetatable(object, metatable)
end

local loaded = { _G = _G, coroutine = coroutine, debug = debug, io = io, math = math, os = os, package = package, string = string,
  table = table, utf8 = utf8, iap = library }
function require(name)
  if type(name) ~= "string" then error("require: expected the name of a module, got a " .. type(name), 2) end
  if loaded[name] ~= nil then return loaded[name] end
  local text = modules[name]
  if not text then error("the module '" .. name .. "', which the file does not hold," .. advice, 2) end
  local path = name .. ".lua"
  local chunk, problem = load(text, "@" .. path, "t")
  if not chunk then error(problem, 0) end
  local module = chunk(name, path)
  if module == nil then module = true end
  loaded[name] = module
  return module, path
end
)";

/// print: to the standard error, because a program's output is not a stranger's to write; terminals obey control characters.
int print_safely(lua_State* state) {
  const int count = lua_gettop(state);
  for (int i = 1; i <= count; ++i) {
    std::size_t length = 0;
    const char* shown = luaL_tolstring(state, i, &length);
    if (i > 1) std::fputc('\t', stderr);
    for (std::size_t at = 0; at < length; ++at) {
      const auto c = static_cast<unsigned char>(shown[at]);
      std::fputc(std::iscntrl(c) && c != '\n' && c != '\t' ? '?' : c, stderr);
    }
    lua_pop(state, 1);
  }
  std::fputc('\n', stderr);
  return 0;
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

State State::confined(const std::string& loaded_from, const Config& modules, Opener library) {
  State state(luaL_newstate());
  protect(state, 0, 0, [](lua_State* inner) noexcept { open_harmless_libraries(inner); });
  state.load_text(confine, "=confined");
  push_config(state, modules);
  push_string(state, text(" is not available to Lua that comes out of a file; if you trust '", loaded_from,
                          "', pass --trust (trust = true in Lua, iap_policy_load_trusted in C)"));
  reserve(state, 1);
  lua_pushcfunction(state, print_safely);
  if (library) protect(state, 0, 1, [library](lua_State* inner) noexcept { library(inner); });
  call(state, library ? 4 : 3, 0);
  return state;
}

}  // namespace iap::lua
