#include <string>
#include <string_view>

#include "lua/state.hpp"
#include "lua/tables.hpp"

namespace iap::lua {
namespace {

/// Comes before Lua's own search and gives the same modules; what it needs later it holds in locals, which scripts cannot replace.
constexpr std::string_view keep_texts = R"(
local texts = ...
local search_path, open, package = package.searchpath, io.open, package
local error, load, next, type = error, load, next, type
local gmatch, gsub, sub = string.gmatch, string.gsub, string.sub

local function find(name)
  if type(package.path) ~= "string" then return nil, "" end
  return search_path(name, package.path)
end

-- The text of the file, without a byte order mark and a first line for the shell; nothing for bytecode, which is left to Lua.
local function read(name, path)
  local file = open(path, "rb")
  local text = file and file:read("a")
  if file then file:close() end
  if not text or sub(text, 1, 1) == "\27" then return end
  texts[name] = gsub(gsub(text, "^\xEF\xBB\xBF", ""), "^#[^\n]*", "")
  return texts[name]
end

table.insert(package.searchers, 2, function(name)
  local path, reasons = find(name)
  if not texts[name] and not (path and read(name, path)) then return reasons end
  path = path or gsub(name, "%.", "/") .. ".lua"
  local chunk, problem = load(texts[name], "@" .. path, "t")
  if not chunk then error("error loading module '" .. name .. "':\n\t" .. problem, 0) end
  return chunk, path
end)

return function(source)
  local pending = { source }
  for _, text in next, texts do pending[#pending + 1] = text end
  while #pending > 0 do
    local text = pending[#pending]
    pending[#pending] = nil
    for _, name in gmatch(text, "require%s*%(?%s*([\"'])([^\"'\\\n]+)%1") do
      local path = not texts[name] and not package.loaded[name] and find(name)
      pending[#pending + 1] = path and read(name, path) or nil
    end
  end
  return texts
end
)";

}  // namespace

void State::keep_modules(const Config& modules) {
  load_text(keep_texts, "=modules");
  push_config(state_, modules);
  call(state_, 1, 1);
  collect_ = keep(state_);
}

Config State::kept_modules(std::string_view source) {
  reserve(state_, 1);
  lua_rawgeti(state_, LUA_REGISTRYINDEX, collect_);
  push_string(state_, source);
  call(state_, 1, 1);
  Config modules = read_config(state_, -1, "modules");
  lua_pop(state_, 1);
  return modules;
}

}  // namespace iap::lua
