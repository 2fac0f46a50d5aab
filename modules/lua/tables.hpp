#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lua/protect.hpp"
import iap.core;

namespace iap::lua {

/// How a table becomes a Config.
struct TableRules {
  /// Where the list part of the outermost table goes when it also has named entries, or is a list: {a, b, top = 3} with "blocks"
  /// becomes {blocks = {a, b}, top = 3}. Empty: such a mixture is an error.
  std::string_view list_key;
  /// Entries of the outermost table that are left out (callbacks, objects without a config).
  std::vector<std::string_view> skip;
  /// How many values may come of it, and how many bytes of strings and keys: what stands in many places of a table is one value in
  /// Lua, and many in a Config.
  std::size_t most_values = std::numeric_limits<std::size_t>::max();
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
  /// Whether what a table has through its metatable (__index) alone is left out; otherwise it is an error, as functions that nobody
  /// asks for are not.
  bool drops_inherited = false;
};

/// The value at `index` as a Config: booleans, numbers (NaN too), strings, lists, tables with string keys, and objects that have a
/// config. @throws Error "OWNER: option 'a.b.2': ..." for functions, holes, mixtures of list and map, cycles, tables nested
/// deeper than 64, more than a million of them, entries through __index, and more than `rules` allow.
Config read_config(lua_State* state, int index, std::string_view owner, const TableRules& rules = {});

/// @throws Error that begins with `what` for a value that would come back from a policy file or a checkpoint as another.
void check_storable(const Config& value, const std::string& what);

/// The table at `index` as numbers. @throws Error "OWNER: element I ..." for anything else in it.
std::vector<double> read_numbers(lua_State* state, int index, std::string_view owner);

/// Pushes the entry `key` of the table at `index` without metamethods, nil if there is none.
void push_entry(lua_State* state, int index, std::string_view key);

/// Takes the value at the top and makes it entry `key` (item `position`) of the table below it. @throws LuaError.
void set_entry(lua_State* state, std::string_view key);
void set_item(lua_State* state, std::int64_t position);

/// Push one value each. @throws LuaError when memory runs out.
void push_string(lua_State* state, std::string_view string);
void push_config(lua_State* state, const Config& config);
void push_numbers(lua_State* state, std::span<const float> values);
void push_numbers(lua_State* state, std::span<const double> values);

}  // namespace iap::lua
