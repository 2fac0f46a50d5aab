#include "script/kinds/task_values.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iap {
namespace {

using lua::Call;
using lua::entry;

using Names = std::span<const char* const>;

// What the numbers of a list of `count` are called.
Names names_of(int count) noexcept {
  static constexpr std::array xyz{"x", "y", "z"};
  static constexpr std::array quaternion{"w", "x", "y", "z"};
  static constexpr std::array velocity{"vx", "vy", "vz", "wx", "wy", "wz"};
  static constexpr std::array pose{"x", "y", "z", "qw", "qx", "qy", "qz"};
  static constexpr std::array matrix{"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"};
  switch (count) {
    case 3: return xyz;
    case 4: return quaternion;
    case 6: return velocity;
    case 7: return pose;
    case 9: return matrix;
    default: return {};
  }
}

const TaskValues& values_at(lua_State* state, int index) { return *static_cast<const TaskValues*>(lua_touserdata(state, index)); }

int no_such_value(Call& call) {
  lua_State* state = call.state();
  const TaskValues& values = values_at(state, 1);
  const Names names = names_of(values.count);
  const std::vector<std::string> known(names.begin(), names.end());
  const std::string path = task_path(state, 1);
  if (lua_type(state, 2) == LUA_TSTRING && !known.empty()) {
    const std::string key(lua::string_at(state, 2));
    throw Error(text(path, " has no '", key, "'", did_you_mean(key, known)));
  }
  throw Error(text(path, " has the numbers 1 to ", values.count, ", got ", lua::describe_value(state, 2)));
}

int index_values(lua_State* state) {
  const TaskValues& values = values_at(state, 1);
  const int place = task_value_place(state, values.count);
  if (place < 0) return entry<no_such_value>(state);
  if (place == values.count)
    lua_pushnil(state);
  else
    lua_pushnumber(state, values.get(place));
  return 1;
}

int set_index_values(lua_State* state) {
  const TaskValues& values = values_at(state, 1);
  const int place = task_value_place(state, values.count);
  if (place < 0 || place == values.count) return entry<no_such_value>(state);
  return set_task_value(state, values, place);
}

int length_of_values(lua_State* state) {
  lua_pushinteger(state, values_at(state, 1).count);
  return 1;
}

// An offset that is written counts from then on.
void touch(const TaskValues& values) {
  if (values.offset_of >= 0) values.owner->world.geom_offset(values.offset_of);
}

// Why `set_task_value` could not write: the userdata at 1 is a list, or a group of lists.
int refuse_value(Call& call) {
  lua_State* state = call.state();
  std::string path = task_path(state, 1);
  if (lua_type(state, 2) == LUA_TSTRING) path += text(".", lua::string_at(state, 2));
  check_writable(values_at(state, 1), path);
  throw Error(text(path, " must become a finite number, got ", lua::describe_value(state, 3)));
}

int describe(Call& call) {
  lua_State* state = call.state();
  if (!is_task_userdata(state, 1, task_values_kind)) return call.give(task_path(state, 1));
  const TaskValues& values = values_at(state, 1);
  std::string shown = "{";
  for (int i = 0; i < values.count; ++i) shown += text(i == 0 ? "" : ", ", values.get(i));
  return call.give(shown + "}");
}

void set_method(lua_State* state, const char* key, const char* name, lua_CFunction function) {
  if (!function) return;
  lua_pushstring(state, name);
  lua_pushcclosure(state, function, 1);
  lua_setfield(state, -2, key);
}

}  // namespace

const TaskKind task_values_kind{"data", index_values, set_index_values, length_of_values};

void* push_task_userdata(lua_State* state, std::size_t size, const TaskKind& kind) {
  void* content = std::memset(lua_newuserdatauv(state, size, 2), 0, size);
  if (lua_rawgetp(state, LUA_REGISTRYINDEX, &kind) != LUA_TTABLE) {
    lua_pop(state, 1);
    lua_createtable(state, 0, 6);
    set_method(state, "__index", kind.name, kind.index);
    set_method(state, "__newindex", kind.name, kind.set_index);
    set_method(state, "__len", kind.name, kind.length);
    set_method(state, "__tostring", kind.name, entry<describe>);
    lua_pushstring(state, kind.name);
    lua_setfield(state, -2, "__name");
    lua_pushboolean(state, 0);
    lua_setfield(state, -2, "__metatable");
    lua_pushvalue(state, -1);
    lua_rawsetp(state, LUA_REGISTRYINDEX, &kind);
  }
  lua_setmetatable(state, -2);
  lua_createtable(state, 0, 0);
  lua_setiuservalue(state, -2, 1);
  return content;
}

bool is_task_userdata(lua_State* state, int index, const TaskKind& kind) {
  if (lua_type(state, index) != LUA_TUSERDATA || !lua_checkstack(state, 2) || !lua_getmetatable(state, index)) return false;
  lua_rawgetp(state, LUA_REGISTRYINDEX, &kind);
  const bool same = lua_rawequal(state, -1, -2) != 0;
  lua_pop(state, 2);
  return same;
}

std::string task_path(lua_State* state, int index) {
  lua::reserve(state, 1);
  std::string path = "data";
  if (lua_getiuservalue(state, index, 2) == LUA_TSTRING) {
    // It ends in names of the model's; messages copy it and look through it.
    lua::spend(state, lua_rawlen(state, -1));
    path = lua::string_at(state, -1);
  }
  lua_pop(state, 1);
  return path;
}

void push_task_values(lua_State* state, const TaskValues& values, const char* path) {
  void* content = push_task_userdata(state, sizeof(TaskValues), task_values_kind);
  std::memcpy(content, &values, sizeof values);
  lua_pushstring(state, path);
  lua_setiuservalue(state, -2, 2);
}

int task_value_place(lua_State* state, int count) noexcept {
  const int type = lua_type(state, 2);
  if (type == LUA_TNUMBER) {
    int whole = 0;
    const lua_Integer number = lua_tointegerx(state, 2, &whole);
    return whole && number >= 1 && number <= count + 1 ? static_cast<int>(number) - 1 : -1;
  }
  if (type != LUA_TSTRING) return -1;
  const char* key = lua_tolstring(state, 2, nullptr);
  const Names names = names_of(count);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (std::strcmp(names[i], key) == 0) return static_cast<int>(i);
  return -1;
}

int set_task_value(lua_State* state, const TaskValues& values, int place) {
  const bool is_number = lua_type(state, 3) == LUA_TNUMBER;
  const double value = is_number ? lua_tonumberx(state, 3, nullptr) : NAN;
  if (values.fixed || !values.owner->writable || !std::isfinite(value)) return entry<refuse_value>(state);
  touch(values);
  values.at[place] = value;
  return 0;
}

void refuse_computed(const std::string& path) {
  throw Error(text(path, " is computed and cannot be written; write data.qpos, data.qvel or data.ctrl"));
}

void check_writable(const TaskValues& values, const std::string& path) {
  if (values.fixed) refuse_computed(path);
  if (!values.owner->writable)
    throw Error(text(path, " can be written in reset alone: elsewhere the simulation goes its way under the actions"));
}

void set_task_values(lua_State* state, const TaskValues& values, const std::string& path) {
  check_writable(values, path);
  const bool is_list = lua_type(state, 3) == LUA_TTABLE, is_view = is_task_userdata(state, 3, task_values_kind);
  const std::size_t count = is_list ? lua_rawlen(state, 3) : is_view ? static_cast<std::size_t>(values_at(state, 3).count) : 0;
  if ((!is_list && !is_view) || count != static_cast<std::size_t>(values.count))
    throw Error(text(path, " must become a list of ", values.count, " numbers, got ",
                     is_list || is_view ? text(count, " values") : lua::describe_value(state, 3)));
  std::vector<double> numbers(count);
  lua::reserve(state, 1);
  for (int i = 0; i < values.count; ++i) {
    double& number = numbers[static_cast<std::size_t>(i)];
    if (is_view) {
      number = values_at(state, 3).get(i);
      continue;
    }
    number = lua_rawgeti(state, 3, i + 1) == LUA_TNUMBER ? lua_tonumberx(state, -1, nullptr) : NAN;
    if (!std::isfinite(number))
      throw Error(text(path, " must become finite numbers, got ", lua::describe_value(state, -1), " at ", i + 1));
    lua_pop(state, 1);
  }
  touch(values);
  std::memcpy(values.at, numbers.data(), numbers.size() * sizeof(double));
}

}  // namespace iap
