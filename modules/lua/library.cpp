#include "lua/library.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "lua/call.hpp"
#include "lua/meter.hpp"

namespace iap::lua {
namespace {

/// A library whose table Lua enlarged is not searched in full.
constexpr std::size_t most_names = 1000, longest_name = 200;
/// Comparing names: pairs of letters that take as long as an instruction.
constexpr std::size_t letters_a_step = 4;

/// __index of a library: its first upvalue is the library's name. REPL completion and `pairs` do not come here.
int unknown_name(Call& call) {
  lua_State* state = call.state();
  const std::string library(string_at(state, lua_upvalueindex(1)));
  if (lua_type(state, 2) != LUA_TSTRING) throw Error(text(library, " has named entries only, not ", describe_value(state, 2)));
  const std::string key(string_at(state, 2));
  std::vector<std::string> names;
  if (lua_type(state, 1) == LUA_TTABLE) {
    reserve(state, 3);
    lua_pushnil(state);
    for (std::size_t seen = 0; lua_next(state, 1); lua_pop(state, 1)) {
      if (++seen > most_names) {
        lua_pop(state, 2);
        break;
      }
      if (lua_type(state, -2) != LUA_TSTRING) continue;
      const auto name = string_at(state, -2);
      if (name.size() > longest_name) continue;
      spend(state, 1 + name.size() * std::min(key.size(), longest_name) / letters_a_step);
      names.emplace_back(name);
    }
  }
  std::ranges::sort(names);
  throw Error(text(library, " has no '", key, "'", did_you_mean(key, names)));
}

}  // namespace

void add_function(lua_State* state, const char* owner, const char* separator, const Function& function) {
  luaL_checkstack(state, 3, owner);
  lua_pushfstring(state, "%s%s%s", owner, separator, function.name);
  lua_pushcclosure(state, function.entry, 1);
  lua_setfield(state, -2, function.name);
}

void push_functions(lua_State* state, const char* owner, const char* separator, std::span<const Function> functions) {
  luaL_checkstack(state, 5, owner);
  lua_createtable(state, 0, static_cast<int>(functions.size()));
  for (const auto& function : functions) add_function(state, owner, separator, function);
  lua_createtable(state, 0, 2);
  lua_pushstring(state, owner);
  lua_pushcclosure(state, entry<unknown_name>, 1);
  lua_setfield(state, -2, "__index");
  lua_pushstring(state, owner);
  lua_setfield(state, -2, "__name");
  lua_setmetatable(state, -2);
}

}  // namespace iap::lua
