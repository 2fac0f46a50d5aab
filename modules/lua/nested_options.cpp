#include "lua/nested_options.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "core/nested_names.hpp"
#include "lua/likely_slip.hpp"
#include "lua/source_words.hpp"
#include "lua/tables.hpp"

namespace iap::lua {
namespace {

/// The file cannot see the watch: it may ask whether a table is a plain one. What it prints would come twice.
constexpr std::string_view watch_nested = R"(
local options, tables = ...
local getmetatable, ipairs, next, pairs, rawget, rawset, setmetatable, type =
  getmetatable, ipairs, next, pairs, rawget, rawset, setmetatable, type
local most_missed = 100
local watches, watched = {}, {}
for place, one in ipairs(tables) do
  local values = options
  for _, key in ipairs(one.path) do values = values[key] end
  watched[place] = values
end

local function reveal(values)
  local watch = watches[values]
  if not watch then return end
  for name, value in next, watch.hidden do rawset(values, name, value) end
  watch.hidden, watch.__pairs = {}, nil
end

for place, values in ipairs(watched) do
  local watch, count = { hidden = {}, missed = {} }, 0
  for _, name in ipairs(tables[place].names) do
    watch.hidden[name], values[name] = values[name], nil
  end
  function watch.__index(_, name)
    local found = watch.hidden[name]
    if found ~= nil then
      watch.hidden[name] = nil
      rawset(values, name, found)
      return found
    end
    if type(name) == "string" and not watch.missed[name] and count < most_missed then
      count = count + 1
      watch.missed[name] = true
    end
  end
  function watch.__newindex(_, name, value)
    watch.hidden[name] = nil
    rawset(values, name, value)
  end
  function watch.__pairs()
    reveal(values)
    return pairs(values)
  end
  watches[values] = watch
  setmetatable(values, watch)
end

local function replace(library, name, stand_in)
  if type(library) == "table" and rawget(library, name) then library[name] = stand_in(library[name]) end
end
local function revealing(original)
  return function(values, ...)
    reveal(values)
    return original(values, ...)
  end
end
local function unseen(original)
  return function(values, ...)
    local found = original(values, ...)
    if found ~= nil and found == watches[values] then return nil end
    return found
  end
end
for _, name in ipairs { "next", "rawget", "rawset", "setmetatable" } do replace(_G, name, revealing) end
replace(_G, "getmetatable", unseen)
replace(_G, "print", function() return function() end end)
local debug, io = rawget(_G, "debug"), rawget(_G, "io")
replace(debug, "getmetatable", unseen)
replace(debug, "setmetatable", revealing)
replace(io, "write", function() return function() return io.output() end end)

return function()
  local unread, missed = {}, {}
  for place, values in ipairs(watched) do
    unread[place], missed[place] = {}, {}
    for name in next, watches[values].hidden do unread[place][name] = true end
    for name in next, watches[values].missed do missed[place][name] = true end
  end
  return unread, missed
end
)";

/// Calls `take(table, path, place)` with each table of names inside `options`, the keys and positions that lead there, and its
/// place with a point behind it.
void each_table(const Config& options, Config::List& path, const std::string& place, const auto& take) {
  const auto inside = [&](auto key, const auto& part, const Config& value) {
    if (!value.map() && !value.list()) return;
    const std::string deeper = text(place, part, ".");
    path.emplace_back(std::move(key));
    if (value.map()) take(*value.map(), path, deeper);
    each_table(value, path, deeper, take);
    path.pop_back();
  };
  if (const auto* items = options.list())
    for (std::size_t i = 0; i < items->size(); ++i) inside(static_cast<std::int64_t>(i) + 1, i + 1, (*items)[i]);
  if (const auto* entries = options.map())
    for (const auto& [key, value] : *entries) inside(key, key, value);
}

/// The keys of each of the tables in the list at `index`.
std::vector<std::vector<std::string>> read_names(lua_State* state, int index) {
  std::vector<std::vector<std::string>> all;
  const Config tables = read_config(state, index, "options");
  for (const Config& table : *tables.list()) {
    auto& names = all.emplace_back();
    if (const auto* entries = table.map())
      for (const auto& [name, yes] : *entries) names.push_back(name);
  }
  return all;
}

/// Whether `text` has a name that is no word, and not only as a part of a longer one.
bool stands_whole(std::string_view text, std::string_view name) {
  const auto is_letter = [](char c) { return is_word(c) || static_cast<unsigned char>(c) >= 0x80; };
  const auto part = [&](char inside, std::string_view around, std::size_t at) {
    return is_letter(inside) && at < around.size() && is_letter(around[at]);
  };
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    if (!part(name.front(), text, at - 1) && !part(name.back(), text, at + name.size())) return true;
  return false;
}

/// What stands in a file's texts, as far as names of options are concerned.
class Written {
 public:
  explicit Written(std::span<const std::string_view> texts) : texts_(texts) {}

  bool has(const std::string& name) const {
    if (std::ranges::all_of(name, is_word)) return words().contains(name);
    return std::ranges::any_of(texts_, [&](std::string_view text) { return stands_whole(text, name); });
  }

  /// Whether there is a name for which `name` may be a slip.
  bool may_mean(const std::string& name) const {
    if (names_.empty()) {
      std::set<std::string_view> all = words();
      for (const auto text : texts_) all.merge(texts_of(text));
      names_.assign(all.begin(), all.end());
    }
    return !likely_meant(name, names_).empty();
  }

 private:
  const std::set<std::string_view>& words() const {
    if (words_.empty())
      for (const auto text : texts_) words_.merge(words_of(text));
    return words_;
  }

  std::span<const std::string_view> texts_;
  mutable std::set<std::string_view> words_;
  mutable std::vector<std::string> names_;
};

}  // namespace

NestedOptions::NestedOptions(Config options, std::span<const std::string_view> texts, bool all) : options_(std::move(options)) {
  constexpr std::size_t most_names = 1000;
  const Written written(texts);
  std::size_t count = 0;
  Config::List path;
  each_table(options_, path, "", [&](const Config::Map& entries, const Config::List& keys, const std::string& place) {
    if (count > most_names) return;
    Table table{.path = keys, .place = place, .entries = &entries, .names = {}};
    for (const auto& [name, value] : entries)
      if ((all || is_set_place(place + name)) && !written.has(name)) table.names.emplace_back(name);
    count += table.names.size();
    if (!table.names.empty()) tables_.push_back(std::move(table));
  });
  if (count > most_names) tables_.clear();
  for (auto& table : tables_)
    std::erase_if(table.names, [&](const Config& name) {
      return !is_set_place(table.place + *name.string()) && !written.may_mean(*name.string());
    });
  std::erase_if(tables_, [](const Table& table) { return table.names.empty(); });
}

void NestedOptions::watch(State& state) {
  Config::List tables;
  for (const auto& table : tables_) tables.push_back(Config::Map{{"path", table.path}, {"names", table.names}});
  state.load_text(watch_nested, "=options");
  reserve(state, 1);
  lua_pushvalue(state, -2);
  push_config(state, tables);
  call(state, 2, 1);
  end_ = keep(state);
}

void NestedOptions::end(lua_State* state) {
  reserve(state, 1);
  lua_rawgeti(state, LUA_REGISTRYINDEX, end_);
  call(state, 0, 2);
  auto unread = read_names(state, -2), missed = read_names(state, -1);
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    tables_[i].unread.insert(unread[i].begin(), unread[i].end());
    tables_[i].missed = std::move(missed[i]);
  }
}

std::vector<Slip> NestedOptions::slips() const {
  std::vector<Slip> found;
  for (const auto& table : tables_)
    for (const auto& kept : table.names) {
      const std::string& name = *kept.string();
      if (!table.unread.contains(name) && !table.entries->at(name).is_null()) continue;
      std::vector<std::string> known = table.missed;
      if (is_set_place(table.place + name))
        for (const auto& [other, value] : *table.entries)
          if (!value.is_null() && !table.unread.contains(other)) known.push_back(other);
      if (auto meant = likely_meant(name, known); !meant.empty()) found.push_back({table.place, name, std::move(meant)});
    }
  return found;
}

}  // namespace iap::lua
