#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "script/kinds/task_data.hpp"
#include "script/kinds/task_names.hpp"
#include "script/kinds/task_tables.hpp"
import iap.core;
import iap.sim;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

/// `data.qpos` and its kin. The first user value holds by name the place of a number, or a list. `data.body` and its kin have no
/// numbers of their own and look up what they lack.
struct Group {
  TaskValues flat;
  const char* kind;  ///< of MuJoCo's objects
};

const Group& group_at(lua_State* state) { return *static_cast<const Group*>(lua_touserdata(state, 1)); }

bool has_own_numbers(const Group& group) { return group.flat.at != nullptr; }

/// Pushes what the group has under the key at stack index 2 and returns its type.
int push_named(lua_State* state) noexcept {
  lua_getiuservalue(state, 1, 1);
  lua_pushvalue(state, 2);
  const int type = lua_rawget(state, -2);
  lua_replace(state, -2);
  return type;
}

/// "data.body.torso"
std::string path_of(lua_State* state) { return text(task_path(state, 1), ".", lua::string_at(state, 2)); }

/// Adds `name` to the table on top; several numbers become a list.
void add_values(lua_State* state, const TaskWorld& world, const char* path, const char* name, std::span<const double> values,
                bool fixed) {
  lua_pushfstring(state, "%s.%s", path, name);
  push_task_values(
      state, {.at = const_cast<double*>(values.data()), .count = static_cast<int>(values.size()), .fixed = fixed, .owner = &world},
      lua_tolstring(state, -1, nullptr));
  lua_setfield(state, -3, name);
  lua_pop(state, 1);
}

int write_place(Call& call) {
  lua_State* state = call.state();
  lua::reserve(state, 4);
  // A list among a place's fields may be written as a whole.
  if (lua_getiuservalue(state, 1, 1) == LUA_TTABLE && lua_type(state, 2) == LUA_TSTRING) {
    lua_pushvalue(state, 2);
    if (lua_rawget(state, -2) == LUA_TUSERDATA && is_task_userdata(state, -1, task_values_kind)) {
      const TaskValues values = *static_cast<const TaskValues*>(lua_touserdata(state, -1));
      set_task_values(state, values, path_of(state));
      return 0;
    }
  }
  refuse_computed(task_path(state, 1));
}

int no_such_field(Call& call) {
  lua_State* state = call.state();
  const std::string path = task_path(state, 1);
  if (lua_type(state, 2) != LUA_TSTRING) throw Error(text(path, " has named entries only, got ", lua::describe_value(state, 2)));
  std::vector<std::string> names;
  lua::reserve(state, 4);
  lua_getiuservalue(state, 1, 1);
  lua_pushnil(state);
  while (lua_next(state, -2)) {
    if (lua_type(state, -2) == LUA_TSTRING) names.emplace_back(lua::string_at(state, -2));
    lua_pop(state, 1);
  }
  const std::string key(lua::string_at(state, 2));
  throw Error(text(path, " has no '", key, "'", did_you_mean(key, names)));
}

int index_place(lua_State* state) { return push_named(state) == LUA_TNIL ? entry<no_such_field>(state) : 1; }

constexpr TaskKind place_kind{"data", index_place, entry<write_place>, nullptr};

void add_offset(lua_State* state, const TaskWorld& shared, const char* path, int geom) {
  const auto offset = std::as_const(shared.world).geom_offset(geom);
  lua_pushfstring(state, "%s.offset", path);
  push_task_values(state, {.at = const_cast<double*>(offset.data()), .count = 3, .owner = &shared, .offset_of = geom},
                   lua_tolstring(state, -1, nullptr));
  lua_setfield(state, -3, "offset");
  lua_pop(state, 1);
}

/// Opener: pushes a body, site or geom.
void push_place(lua_State* state, const TaskWorld& shared, const char* kind, int id, const char* path) {
  push_task_userdata(state, 1, place_kind);
  lua_pushstring(state, path);
  lua_setiuservalue(state, -2, 2);
  lua_getiuservalue(state, -1, 1);
  const MujocoWorld& world = shared.world;
  const std::string_view of = kind;
  const bool body = of == "body", site = of == "site";
  add_values(state, shared, path, "position",
             body   ? world.body_position(id)
             : site ? world.site_position(id)
                    : world.geom_position(id),
             true);
  add_values(state, shared, path, "rotation",
             body   ? world.body_rotation(id)
             : site ? world.site_rotation(id)
                    : world.geom_rotation(id),
             true);
  for (const int first : {3, 0}) {
    const char* name = first == 3 ? "velocity" : "angular_velocity";
    lua_pushfstring(state, "%s.%s", path, name);
    push_task_values(state, {.count = 3, .fixed = true, .owner = &shared, .place = {&shared, kind, id}, .first = first},
                     lua_tolstring(state, -1, nullptr));
    lua_setfield(state, -3, name);
    lua_pop(state, 1);
  }
  if (body) {
    add_values(state, shared, path, "centre", world.body_centre(id), true);
    add_values(state, shared, path, "subtree_centre", world.subtree_centre(id), true);
    lua_pushnumber(state, world.body_mass(id));
    lua_setfield(state, -2, "mass");
  } else {
    add_values(state, shared, path, "size", site ? world.site_size(id) : world.geom_size(id), true);
    if (!site) add_offset(state, shared, path, id);
  }
  lua_pop(state, 1);
}

/// Opener: pushes what there is to know about a joint.
void push_joint(lua_State* state, const MujocoWorld& world, int joint) {
  constexpr std::array types{"free", "ball", "slide", "hinge"};
  lua_createtable(state, 0, 4);
  set_task_table_kind(state, task_joint_kind);
  lua_pushstring(state, types[static_cast<std::size_t>(world.joint_type(joint))]);
  lua_setfield(state, -2, "type");
  lua_pushboolean(state, world.joint_limited(joint));
  lua_setfield(state, -2, "limited");
  if (!world.joint_limited(joint)) return;
  const auto [low, high] = world.joint_range(joint);
  lua_pushnumber(state, low);
  lua_setfield(state, -2, "low");
  lua_pushnumber(state, high);
  lua_setfield(state, -2, "high");
}

/// What a group of places has not met yet; any group's unknown name.
int look_up(Call& call) {
  lua_State* state = call.state();
  const Group& group = group_at(state);
  const std::string path = task_path(state, 1);
  if (lua_type(state, 2) != LUA_TSTRING)
    throw Error(has_own_numbers(group)
                    ? text(path, " has the numbers 1 to ", group.flat.count, " and names, got ", lua::describe_value(state, 2))
                    : text(path, " has named entries only, got ", lua::describe_value(state, 2)));
  const std::string key(lua::string_at(state, 2)), own = path_of(state);
  const MujocoWorld& world = group.flat.owner->world;
  const int id = find_task_name(state, world, group.kind, key);
  if (id < 0)
    throw Error(
        text("this model has no ", group.kind, " '", printable(key), "'", suggest_task_name(state, world, {group.kind}, key)));
  if (has_own_numbers(group)) throw Error(text(path, " does not have the ", group.kind, " '", key, "'"));
  lua::protect(state, 2, 1, [&group, &own, id](lua_State* inner) noexcept {
    lua_getiuservalue(inner, 1, 1);
    lua_pushvalue(inner, 2);
    if (std::strcmp(group.kind, "joint") == 0)
      push_joint(inner, group.flat.owner->world, id);
    else
      push_place(inner, *group.flat.owner, group.kind, id, own.c_str());
    lua_pushvalue(inner, -1);
    lua_replace(inner, 1);
    lua_rawset(inner, 3);
    lua_settop(inner, 1);
  });
  return 1;
}

int index_group(lua_State* state) {
  if (lua_type(state, 2) == LUA_TNUMBER) {
    const TaskValues& flat = group_at(state).flat;
    const int place = flat.at ? task_value_place(state, flat.count) : -1;
    if (place < 0) return entry<look_up>(state);
    if (place == flat.count)
      lua_pushnil(state);
    else
      lua_pushnumber(state, flat.at[place]);
    return 1;
  }
  const int type = push_named(state);
  if (type == LUA_TNIL) {
    lua_settop(state, 2);
    return entry<look_up>(state);
  }
  if (type == LUA_TNUMBER) lua_pushnumber(state, group_at(state).flat.at[lua_tointegerx(state, -1, nullptr)]);
  return 1;
}

int set_list(Call& call) {
  lua_State* state = call.state();
  const std::string path = path_of(state);
  lua::reserve(state, 2);
  if (push_named(state) != LUA_TUSERDATA) throw Error(text(path, " is no list"));
  const TaskValues values = *static_cast<const TaskValues*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  set_task_values(state, values, path);
  return 0;
}

int set_index_group(lua_State* state) {
  const Group& group = group_at(state);
  if (!has_own_numbers(group)) return entry<write_place>(state);
  if (lua_type(state, 2) == LUA_TNUMBER) {
    const int place = task_value_place(state, group.flat.count);
    return place < 0 || place == group.flat.count ? entry<look_up>(state) : set_task_value(state, group.flat, place);
  }
  const int type = push_named(state);
  const auto place = static_cast<int>(lua_tointegerx(state, -1, nullptr));
  lua_settop(state, 3);
  if (type == LUA_TNIL) return entry<look_up>(state);
  return type == LUA_TNUMBER ? set_task_value(state, group.flat, place) : entry<set_list>(state);
}

int length_of_group(lua_State* state) {
  lua_pushinteger(state, group_at(state).flat.count);
  return 1;
}

constexpr TaskKind group_kind{"data", index_group, set_index_group, length_of_group};

/// Opener: gives the table on top the part of `flat` that begins at `first` under `name`.
void add_part(lua_State* state, const Group& group, const char* path, const char* name, int first, int count) {
  if (*name == '\0') return;
  if (count == 1) {
    lua_pushinteger(state, first);
    return lua_setfield(state, -2, name);
  }
  add_values(state, *group.flat.owner, path, name, {group.flat.at + first, static_cast<std::size_t>(count)}, group.flat.fixed);
}

}  // namespace

void push_task_group(lua_State* state, const TaskWorld& shared, const char* name) {
  MujocoWorld& world = shared.world;
  const std::string_view of = name;
  const bool qpos = of == "qpos", qvel = of == "qvel", ctrl = of == "ctrl", sensor = of == "sensor";
  auto* group = static_cast<Group*>(push_task_userdata(state, sizeof(Group), group_kind));
  group->kind = qpos || qvel ? "joint" : ctrl ? "actuator" : name;
  group->flat.owner = &shared;
  lua_pushfstring(state, "data.%s", name);
  const char* path = lua_tolstring(state, -1, nullptr);
  lua_setiuservalue(state, -2, 2);
  if (!(qpos || qvel || ctrl || sensor)) return;
  const std::span<const double> all = qpos ? world.qpos() : qvel ? world.qvel() : ctrl ? world.ctrl() : world.sensordata();
  // A model without sensors still has a place for them.
  static double none = 0;
  group->flat.at = all.empty() ? &none : const_cast<double*>(all.data());
  group->flat.count = static_cast<int>(all.size());
  group->flat.fixed = sensor;
  lua_getiuservalue(state, -1, 1);
  const int count = world.count(group->kind);
  for (int i = 0; i < count; ++i) {
    const char* own = world.name(group->kind, i);
    if (ctrl) {
      add_part(state, *group, path, own, i, 1);
    } else if (sensor) {
      const auto values = world.sensor(i);
      add_part(state, *group, path, own, static_cast<int>(values.data() - all.data()), static_cast<int>(values.size()));
    } else {
      add_part(state, *group, path, own, qpos ? world.qpos_address(i) : world.qvel_address(i),
               qpos ? world.qpos_size(i) : world.qvel_size(i));
    }
  }
  lua_pop(state, 1);
}

}  // namespace iap
