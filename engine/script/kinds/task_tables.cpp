#include "script/kinds/task_tables.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "script/kinds/task_values.hpp"
import iap.core;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

constexpr std::array coordinates{"x", "y", "z"};
constexpr int coordinate_count = coordinates.size();
constexpr std::array contact_names{"geom1", "geom2", "body1", "body2", "position", "distance", "force"};
constexpr std::array joint_names{"type", "limited", "low", "high"};

const TaskTableKind& kind_of_index(lua_State* state) {
  return *static_cast<const TaskTableKind*>(lua_touserdata(state, lua_upvalueindex(2)));
}

int no_such_entry(Call& call) {
  lua_State* state = call.state();
  const TaskTableKind& kind = kind_of_index(state);
  const bool list = kind.names.empty();
  if (lua_type(state, 2) != LUA_TSTRING)
    throw Error(
        text(kind.what, list ? " has the numbers 1 to 3, got " : " has named entries only, got ", lua::describe_value(state, 2)));
  const auto names = list ? std::span<const char* const>(coordinates) : kind.names;
  const std::string key(lua::string_at(state, 2));
  throw Error(text(kind.what, " has no '", key, "'", did_you_mean(key, std::vector<std::string>(names.begin(), names.end()))));
}

/// Upvalues: the name for messages; the kind.
int index_table(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  const auto names = kind_of_index(state).names;
  if (names.empty()) {
    const int place = task_value_place(state, coordinate_count);
    if (place < 0) return entry<no_such_entry>(state);
    lua_rawgeti(state, 1, place + 1);
    return 1;
  }
  if (lua_type(state, 2) != LUA_TSTRING) return entry<no_such_entry>(state);
  const std::string_view key = lua::string_at(state, 2);
  if (std::ranges::find(names, key) == names.end()) return entry<no_such_entry>(state);
  lua_pushnil(state);
  return 1;
}

}  // namespace

const TaskTableKind task_contact_kind{"a contact of data.contacts", contact_names};
const TaskTableKind task_contact_position_kind{"the position of a contact", {}};
const TaskTableKind task_joint_kind{"data.joint.NAME", joint_names};

void set_task_table_kind(lua_State* state, const TaskTableKind& kind) {
  if (lua_rawgetp(state, LUA_REGISTRYINDEX, &kind) != LUA_TTABLE) {
    lua_pop(state, 1);
    lua_createtable(state, 0, 2);
    lua_pushstring(state, "data");
    lua_pushlightuserdata(state, const_cast<TaskTableKind*>(&kind));
    lua_pushcclosure(state, index_table, 2);
    lua_setfield(state, -2, "__index");
    lua_pushboolean(state, 0);
    lua_setfield(state, -2, "__metatable");
    lua_pushvalue(state, -1);
    lua_rawsetp(state, LUA_REGISTRYINDEX, &kind);
  }
  lua_setmetatable(state, -2);
}

}  // namespace iap
