#pragma once
#include <map>
#include <memory>
#include <string>

#include "script/kinds/task_values.hpp"
import iap.core;
import iap.sim;

namespace iap {

/// What tasks in Lua know as `data` and `random`: a simulation whose values are read and written by name, and the episode's stream
/// of random numbers. Lua's objects point into this one, which must outlive the state.
class TaskData {
 public:
  /// Makes them in `state`. @throws LuaError.
  TaskData(lua_State* state, MujocoWorld& world);
  TaskData(const TaskData&) = delete;
  TaskData& operator=(const TaskData&) = delete;

  /// Pushes `data`; pushes `random`. Do not raise.
  void push_data(lua_State* state) const noexcept { lua_rawgeti(state, LUA_REGISTRYINDEX, data_); }
  void push_random(lua_State* state) const noexcept { lua_rawgeti(state, LUA_REGISTRYINDEX, random_); }
  /// Whether Lua may write.
  void set_writable(bool writable) { shared_.writable = writable; }
  /// Begins `random` anew.
  void set_random(const Random& random) { stream_ = random; }

 private:
  TaskWorld shared_;
  Random stream_{0};
  int data_ = LUA_NOREF, random_ = LUA_NOREF;
};

/// Opener: makes the class of `random` known to `state`.
void define_task_random(lua_State* state);
/// Pushes an object for `random`, which must outlive the state. @throws LuaError.
void push_task_random(lua_State* state, Random& random);
/// The stream that argument `argument` holds. @throws Error.
Random& task_random(const lua::Call& call, int argument);

/// Opener: pushes `data.qpos`, `qvel`, `ctrl` or `sensor`, filled with what `world` has by name; `data.body`, `site`, `geom` or
/// `joint`, which fills itself.
void push_task_group(lua_State* state, const TaskWorld& world, const char* kind);
/// Opener: pushes `data.contacts`' functions: adds the methods of `data` to the table at the top of the stack.
void add_task_methods(lua_State* state);
/// The world of the `data` that a method was called on. @throws Error.
TaskWorld& task_world(const lua::Call& call);
/// Pushes what touches, as a list of tables. @throws LuaError.
void push_task_contacts(lua_State* state, const MujocoWorld& world);

extern const TaskKind task_data_kind;

}  // namespace iap
