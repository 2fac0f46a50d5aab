#pragma once
#include "lua/lua.hpp"
import iap.core;
import iap.sim;

namespace iap {

/// What all values of one task's `data` share.
struct TaskWorld {
  MujocoWorld& world;
  bool writable = false;  ///< whether Lua may write now
};

/// A kind of userdata: how it is read and written. `length` may be null.
struct TaskKind {
  const char* name;
  lua_CFunction index, set_index, length;
};

/// Opener: pushes new userdata of `size` zeroed bytes with two user values: a table of what it has by name, and nil, its path for
/// messages. What it holds needs no destructor.
void* push_task_userdata(lua_State* state, std::size_t size, const TaskKind& kind);
/// Whether the value at `index` is of the kind.
bool is_task_userdata(lua_State* state, int index, const TaskKind& kind);
/// "data.qpos" of the userdata at `index`, which has been given a path. @throws LuaError past a limit.
std::string task_path(lua_State* state, int index);

/// What a place's velocity is computed for when somebody looks.
struct TaskPlace {
  const TaskWorld* owner = nullptr;
  const char* kind = nullptr;  ///< "body", "site" or "geom"
  int id = 0;
};

/// Numbers of the simulation, read where they stand. In Lua a list: v[1], v.x, #v, ipairs(v).
struct TaskValues {
  double* at = nullptr;  ///< null: `place`'s velocity
  int count = 0;
  bool fixed = false;  ///< whether Lua may never write
  const TaskWorld* owner = nullptr;
  TaskPlace place;
  int offset_of = -1;  ///< the geom whose offset this is
  int first = 0;       ///< of the six numbers of a velocity

  double get(int index) const {
    if (at) return at[index];
    return owner->world.velocity(place.kind, place.id)[static_cast<std::size_t>(first) + static_cast<std::size_t>(index)];
  }
};

extern const TaskKind task_values_kind;
/// Opener: pushes them; `path` names them in messages.
void push_task_values(lua_State* state, const TaskValues& values, const char* path);

/// The place, counted from 0, that the key at stack index 2 means: `count` right behind the last one, -1 for none.
int task_value_place(lua_State* state, int count) noexcept;
/// Writes the value at stack index 3 to number `place`, for __newindex, or raises.
int set_task_value(lua_State* state, const TaskValues& values, int place);
/// Writes the list of numbers at stack index 3 to `values`. @throws Error.
void set_task_values(lua_State* state, const TaskValues& values, const std::string& path);
/// @throws Error: what stands at `path` follows from the rest.
[[noreturn]] void refuse_computed(const std::string& path);
/// @throws Error unless `values` may be written now.
void check_writable(const TaskValues& values, const std::string& path);

}  // namespace iap
