#include "lua/tables.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "lua/meter.hpp"
#include "lua/object.hpp"

namespace iap::lua {
namespace {

/// A value takes more memory here than in Lua, where many places may share one.
constexpr std::size_t steps_a_value = 500, steps_a_byte = 4;

/// Walks one value; `trail_` holds the tables that enclose it, `path_` their keys.
class TableReader {
 public:
  TableReader(lua_State* state, std::string_view owner, const TableRules& rules) : state_(state), owner_(owner), rules_(rules) {}

  Config value(int index) {
    count_value();
    switch (lua_type(state_, index)) {
      case LUA_TNIL: return {};
      case LUA_TBOOLEAN: return lua_toboolean(state_, index) != 0;
      case LUA_TNUMBER:
        if (lua_isinteger(state_, index)) return static_cast<std::int64_t>(lua_tointegerx(state_, index, nullptr));
        return lua_tonumberx(state_, index, nullptr);
      case LUA_TSTRING: count_bytes(lua_rawlen(state_, index)); return std::string(string_at(state_, index));
      case LUA_TTABLE: return table(index);
      case LUA_TUSERDATA:
        if (const auto found = find_object(state_, index); found.info && found.info->config) {
          if (!found.box->object) fail(text("this ", found.info->name, " is closed"));
          return found.info->config(found.box->object);
        }
        [[fallthrough]];
      default: fail(text("expected a plain value, a list or a table, got ", describe_value(state_, index)));
    }
  }

  Config table(int index) {
    constexpr std::size_t deepest = 64, most_tables = 1'000'000;
    if (++tables_ > most_tables) fail(text("there are more than ", most_tables, " tables", in_each_place));
    const void* self = lua_topointer(state_, index);
    if (std::ranges::find(trail_, self) != trail_.end()) fail("the table contains itself");
    if (trail_.size() >= deepest) fail(text("tables are nested deeper than ", deepest));
    trail_.push_back(self);
    reserve(state_, 3);
    Config::Map entries;
    std::map<lua_Integer, Config> items;
    lua_pushnil(state_);
    while (lua_next(state_, index)) {
      entry(entries, items, trail_.size() == 1 ? &rules_.skip : nullptr);
      lua_pop(state_, 1);
    }
    const bool may_have_names = items.empty() || !entries.empty() || (trail_.size() == 1 && !rules_.list_key.empty());
    if (may_have_names && !rules_.drops_inherited) refuse_inherited(index);
    trail_.pop_back();
    return join(std::move(entries), list(std::move(items)), trail_.empty() ? rules_.list_key : "");
  }

  [[noreturn]] void fail(std::string_view message) const {
    if (path_.empty()) throw Error(text(owner_, ": ", message));
    std::string joined;
    for (const auto& key : path_) joined += (joined.empty() ? "" : ".") + key;
    throw Error(text(owner_, ": option '", joined, "': ", message));
  }

 private:
  void count_value() {
    spend(state_, steps_a_value);
    if (++values_ > rules_.most_values) fail(text("there are more than ", rules_.most_values, " values", in_each_place));
  }

  void count_bytes(std::size_t bytes) {
    spend(state_, steps_a_byte * bytes);
    bytes_ += bytes;
    if (bytes_ > rules_.most_bytes) fail(text("there are more than ", rules_.most_bytes, " bytes of text", in_each_place));
  }

  void entry(Config::Map& entries, std::map<lua_Integer, Config>& items, const std::vector<std::string_view>* skip) {
    const int key_at = lua_gettop(state_) - 1, value_at = key_at + 1;
    if (lua_type(state_, key_at) == LUA_TSTRING) {
      const auto key = string_at(state_, key_at);
      count_bytes(key.size());
      if (skip && std::ranges::find(*skip, key) != skip->end()) return;
      path_.emplace_back(key);
      entries.emplace(key, value(value_at));
    } else if (lua_isinteger(state_, key_at)) {
      const lua_Integer position = lua_tointegerx(state_, key_at, nullptr);
      path_.push_back(text(position));
      items.emplace(position, value(value_at));
    } else {
      fail(text("a key must be a string or a list position, got ", describe_value(state_, key_at)));
    }
    path_.pop_back();
  }

  /// What a script reads of the table and the loop over its own entries does not meet. Who searches by a function is not known to
  /// have it.
  void refuse_inherited(int index) {
    constexpr int longest_chain = 64;
    const int top = lua_gettop(state_);
    reserve(state_, 4);
    lua_pushvalue(state_, index);
    for (int i = 0; i < longest_chain && lua_getmetatable(state_, -1); ++i) {
      push_entry(state_, -1, "__index");
      if (lua_type(state_, -1) != LUA_TTABLE) break;
      lua_replace(state_, top + 1);
      lua_settop(state_, top + 1);
      lua_rawgeti(state_, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
      const bool globals = lua_rawequal(state_, -1, top + 1) != 0;
      lua_pop(state_, 1);
      if (globals) break;  // the table is the environment of a text that was loaded with one of its own
      lua_pushnil(state_);
      for (; lua_next(state_, top + 1); lua_pop(state_, 1)) refuse_entry(index);
    }
    lua_settop(state_, top);
  }

  /// The key stands below the top of the stack, on which its value is. Methods and fields such as __index are those of a class.
  void refuse_entry(int index) {
    if (lua_type(state_, -2) != LUA_TSTRING) return;
    const std::string key(string_at(state_, -2));
    const bool asked_for = trail_.size() == 1 && std::ranges::find(rules_.skip, key) != rules_.skip.end();
    if (key.starts_with("__") || (lua_isfunction(state_, -1) && !asked_for)) return;
    push_entry(state_, index, key);
    const bool own = lua_type(state_, -1) != LUA_TNIL;
    lua_pop(state_, 1);
    if (own) return;
    path_.push_back(key);
    fail("it comes through the metatable (__index), where nobody looks; write it into the table itself");
  }

  Config::List list(std::map<lua_Integer, Config> items) const {
    Config::List values;
    for (auto& [position, item] : items) {
      if (position != static_cast<lua_Integer>(values.size()) + 1)
        fail(position < 1 ? text("a list starts at 1, got position ", position)
                          : text("the list has no value at ", values.size() + 1, "; a name that stands there may be misspelled"));
      values.push_back(std::move(item));
    }
    return values;
  }

  Config join(Config::Map entries, Config::List values, std::string_view list_key) const {
    if (!list_key.empty()) {
      if (!values.empty() && !entries.emplace(list_key, std::move(values)).second)
        fail(text("has list items and an entry '", list_key, "', which mean the same"));
      return entries;
    }
    if (values.empty()) return entries;
    if (!entries.empty()) fail(text("mixes list items with the named entry '", entries.begin()->first, "'"));
    return values;
  }

  static constexpr std::string_view in_each_place = "; what stands in several places counts in each of them";

  lua_State* state_;
  std::string_view owner_;
  const TableRules& rules_;
  std::size_t values_ = 0, bytes_ = 0, tables_ = 0;
  std::vector<const void*> trail_;
  std::vector<std::string> path_;
};

/// Runs inside `protect`: trivially destructible locals only.
void push_unprotected(lua_State* state, const Config& config) noexcept {
  luaL_checkstack(state, 3, "option table");
  if (const auto* flag = config.boolean()) {
    lua_pushboolean(state, *flag);
  } else if (const auto* string = config.string()) {
    lua_pushlstring(state, string->data(), string->size());
  } else if (const auto* items = config.list()) {
    create_list(state, items->size());
    for (std::size_t i = 0; i < items->size(); ++i) {
      push_unprotected(state, (*items)[i]);
      lua_rawseti(state, -2, static_cast<lua_Integer>(i) + 1);
    }
  } else if (const auto* entries = config.map()) {
    lua_createtable(state, 0, static_cast<int>(entries->size()));
    for (const auto& [key, value] : *entries) {
      lua_pushlstring(state, key.data(), key.size());
      push_unprotected(state, value);
      lua_rawset(state, -3);
    }
  } else if (config.is_null()) {
    lua_pushnil(state);
  } else if (config.type_name() == "an integer") {
    lua_pushinteger(state, *config.integer());
  } else {
    lua_pushnumber(state, *config.number());
  }
}

template <typename Number>
void push_list(lua_State* state, std::span<const Number> values) {
  protect(state, 0, 1, [values](lua_State* inner) noexcept {
    create_list(inner, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      lua_pushnumber(inner, static_cast<lua_Number>(values[i]));
      lua_rawseti(inner, -2, static_cast<lua_Integer>(i) + 1);
    }
  });
}

}  // namespace

Config read_config(lua_State* state, int index, std::string_view owner, const TableRules& rules) {
  const Meter::Call metered(state);
  TableReader reader(state, owner, rules);
  index = lua_absindex(state, index);
  const int top = lua_gettop(state);
  try {
    return lua_type(state, index) == LUA_TTABLE ? reader.table(index) : reader.value(index);
  } catch (...) {
    lua_settop(state, top);
    throw;
  }
}

void check_storable(const Config& value, const std::string& what) {
  if (parse_json(to_json(value), what) != value)
    throw Error(text(what, " is ", value.number() ? general_text(*value.number(), 6) : value.describe(),
                     ", which no policy file can hold; give finite numbers and text in UTF-8 (1e300 for without end)"));
}

std::vector<double> read_numbers(lua_State* state, int index, std::string_view owner) {
  index = lua_absindex(state, index);
  reserve(state, 1);
  // A table of some keys far apart can say any length: room is made for what is there.
  const std::size_t length = lua_rawlen(state, index);
  std::vector<double> values;
  for (std::size_t i = 0; i < length; ++i) {
    spend(state, 1);
    const bool is_number = lua_rawgeti(state, index, static_cast<lua_Integer>(i) + 1) == LUA_TNUMBER;
    const std::string got = is_number ? "" : describe_value(state, -1);
    values.push_back(is_number ? lua_tonumberx(state, -1, nullptr) : 0);
    lua_pop(state, 1);
    if (!is_number) throw Error(text(owner, ": element ", i + 1, " must be a number, got ", got));
  }
  return values;
}

void push_entry(lua_State* state, int index, std::string_view key) {
  index = lua_absindex(state, index);
  reserve(state, 3);
  lua_pushnil(state);
  while (lua_next(state, index)) {
    spend(state, 1);
    if (lua_type(state, -2) == LUA_TSTRING && string_at(state, -2) == key) {
      lua_remove(state, -2);
      return;
    }
    lua_pop(state, 1);
  }
  lua_pushnil(state);
}

void set_entry(lua_State* state, std::string_view key) {
  reserve(state, 1);
  lua_pushvalue(state, -2);
  lua_insert(state, -2);
  protect(state, 2, 0, [key](lua_State* inner) noexcept {
    lua_pushlstring(inner, key.data(), key.size());
    lua_insert(inner, -2);
    lua_rawset(inner, 1);
    lua_settop(inner, 0);
  });
}

void set_item(lua_State* state, std::int64_t position) {
  reserve(state, 1);
  lua_pushvalue(state, -2);
  lua_insert(state, -2);
  protect(state, 2, 0, [position](lua_State* inner) noexcept {
    lua_rawseti(inner, 1, position);
    lua_settop(inner, 0);
  });
}

void push_string(lua_State* state, std::string_view string) {
  protect(state, 0, 1, [string](lua_State* inner) noexcept { lua_pushlstring(inner, string.data(), string.size()); });
}

void push_config(lua_State* state, const Config& config) {
  protect(state, 0, 1, [&config](lua_State* inner) noexcept { push_unprotected(inner, config); });
}

void push_numbers(lua_State* state, std::span<const float> values) { push_list(state, values); }
void push_numbers(lua_State* state, std::span<const double> values) { push_list(state, values); }

}  // namespace iap::lua
