#include "lua/nested_options.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <set>

#include "lua/source_words.hpp"
#include "lua/tables.hpp"

namespace iap::lua {
namespace {

constexpr std::string_view watch_nested = R"(
local options, withheld = ...
local getmetatable, next, pairs, rawset, setmetatable, type = getmetatable, next, pairs, rawset, setmetatable, type
local missed, hidden, watches = {}, {}, {}
local left = 1000 -- tables that somebody wrote; more are data

local function reveal(values)
  local watch = watches[values]
  if not watch then return end
  for name, value in next, watch.hidden do rawset(values, name, value) end
  watch.hidden, watch.__pairs, watch.__newindex = {}, nil, nil
end

local function watch_inside(values, path)
  for key, value in next, values do
    if type(value) == "table" and left > 0 then
      left = left - 1
      local inside = path .. key .. "."
      watch_inside(value, inside)
      local watch = { hidden = {} }
      for name in next, withheld[inside] or {} do
        watch.hidden[name], value[name] = value[name], nil
      end
      function watch.__index(_, name)
        local found = watch.hidden[name]
        if found ~= nil then
          watch.hidden[name] = nil
          rawset(value, name, found)
          return found
        end
        if type(name) ~= "string" then return end
        missed[inside] = missed[inside] or {}
        missed[inside][name] = true
      end
      if next(watch.hidden) ~= nil then
        function watch.__pairs() reveal(value) return pairs(value) end
        function watch.__newindex(changed, name, new) -- a copy may have its metatable along
          if changed == value then watch.hidden[name] = nil end
          rawset(changed, name, new)
        end
      end
      watch.path, watches[value] = inside, watch
      setmetatable(value, watch)
    end
  end
end
watch_inside(options, "")

if next(withheld) ~= nil then
  for _, name in next, { "next", "rawget", "setmetatable" } do
    local original = _G[name]
    _G[name] = function(values, ...) reveal(values) return original(values, ...) end
  end
end

return function()
  for values, watch in next, watches do
    for name in next, watch.hidden do
      hidden[watch.path] = hidden[watch.path] or {}
      hidden[watch.path][name] = true
    end
    if getmetatable(values) == watch then setmetatable(values, nil) end
  end
  return missed, hidden
end
)";

/// Whether two names stand beside each other on purpose: "gain1" and "gain2", "hip_l" and "hip_r", "xpos" and "ypos", "kp" and
/// "kd", "damping" and "damping_y".
bool are_a_series(std::string_view a, std::string_view b) {
  constexpr std::size_t short_name = 3;
  const auto without_digits = [](std::string_view name) {
    std::string rest;
    std::ranges::copy_if(name, std::back_inserter(rest), [](char c) { return !std::isdigit(static_cast<unsigned char>(c)); });
    return rest;
  };
  const auto extends = [](std::string_view longer, std::string_view shorter) {
    return longer.size() > shorter.size() + 1 && longer.starts_with(shorter) && longer[shorter.size()] == '_';
  };
  if (std::min(a.size(), b.size()) <= short_name || without_digits(a) == without_digits(b)) return true;
  if (extends(a, b) || extends(b, a)) return true;
  return a.size() == b.size() && (a.substr(1) == b.substr(1) || a.substr(0, a.size() - 1) == b.substr(0, b.size() - 1));
}

/// Calls `take` with each table of names inside `options` and its path.
void each_table(const Config& options, const std::string& path, const auto& take) {
  const auto inside = [&](const std::string& key, const Config& value) {
    if (!value.map() && !value.list()) return;
    if (value.map()) take(*value.map(), path + key + ".");
    each_table(value, path + key + ".", take);
  };
  if (const auto* items = options.list())
    for (std::size_t i = 0; i < items->size(); ++i) inside(text(i + 1), (*items)[i]);
  if (const auto* entries = options.map())
    for (const auto& [key, value] : *entries) inside(key, value);
}

}  // namespace

void NestedOptions::watch(State& state, std::span<const Slip> withheld) {
  Config names = Config::Map{};
  for (const auto& slip : withheld) names[slip.table][slip.given] = true;
  state.load_text(watch_nested, "=options");
  reserve(state, 1);
  lua_pushvalue(state, -2);
  push_config(state, names);
  call(state, 2, 1);
  end_ = keep(state);
}

void NestedOptions::end(lua_State* state) {
  reserve(state, 1);
  lua_rawgeti(state, LUA_REGISTRYINDEX, end_);
  call(state, 0, 2);
  missed_ = read_config(state, -2, "options");
  hidden_ = read_config(state, -1, "options");
  lua_pop(state, 2);
  // It holds all the tables.
  protect(state, 0, 0, [reference = end_](lua_State* inner) noexcept { luaL_unref(inner, LUA_REGISTRYINDEX, reference); });
}

std::vector<Slip> NestedOptions::slips(const Config& options, std::span<const std::string_view> texts) const {
  constexpr std::size_t most_names = 100;  // of what somebody wrote; more are data
  std::set<std::string_view> words;
  for (const auto source : texts) words.merge(words_of(source));
  std::vector<Slip> found;
  each_table(options, "", [&](const Config::Map& table, const std::string& path) {
    if (table.size() > most_names) return;
    std::vector<std::string> known;
    if (const Config* in_vain = missed_.find(path))
      for (const auto& [name, yes] : *in_vain->map()) known.push_back(name);
    for (const auto& [name, value] : table)
      if (words.contains(name)) known.push_back(name);
    for (const auto& [name, value] : table) {
      if (value.is_null() || words.contains(name) || !std::ranges::all_of(name, is_word)) continue;
      if (const auto meant = nearest_name(name, known); !meant.empty() && !are_a_series(name, meant))
        found.push_back({path, name, meant});
    }
  });
  return found;
}

std::vector<Slip> NestedOptions::unread(std::span<const Slip> withheld) const {
  std::vector<Slip> left;
  for (const auto& slip : withheld)
    if (const Config* names = hidden_.find(slip.table); names && names->find(slip.given)) left.push_back(slip);
  return left;
}

}  // namespace iap::lua
