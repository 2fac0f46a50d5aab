#include "script/kinds/task_data.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
import iap.core;
import iap.sim;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

/// `data` itself; its first user value holds the groups and methods.
struct Data {
  TaskWorld* shared;
};

constexpr std::array groups{"qpos", "qvel", "ctrl", "sensor", "body", "site", "geom", "joint"};
constexpr const char* time_key = "time";
constexpr const char* contacts_key = "contacts";

TaskWorld& world_at(lua_State* state) { return *static_cast<Data*>(lua_touserdata(state, 1))->shared; }

std::string key_of(lua_State* state) {
  if (lua_type(state, 2) != LUA_TSTRING) throw Error(text("data has named entries only, got ", lua::describe_value(state, 2)));
  return std::string(lua::string_at(state, 2));
}

/// What is computed when it is asked for, and what there is not.
int look_up(Call& call) {
  lua_State* state = call.state();
  const std::string key = key_of(state);
  if (key == time_key) return call.give(world_at(state).world.time());
  constexpr std::uint64_t steps_a_contact = 500;
  lua::spend(state, steps_a_contact * static_cast<std::uint64_t>(world_at(state).world.contacts()));
  if (key == contacts_key) {
    push_task_contacts(state, world_at(state).world);
    return 1;
  }
  std::vector<std::string> names(groups.begin(), groups.end());
  for (const char* other : {time_key, contacts_key, "touching", "forward", "step", "randomize_joints"}) names.emplace_back(other);
  throw Error(text("data has no '", key, "'", did_you_mean(key, names)));
}

int index_data(lua_State* state) {
  lua_getiuservalue(state, 1, 1);
  lua_pushvalue(state, 2);
  if (lua_rawget(state, -2) != LUA_TNIL) return 1;
  lua_settop(state, 2);
  return entry<look_up>(state);
}

int set_field(Call& call) {
  lua_State* state = call.state();
  const std::string key = key_of(state);
  if (key != time_key)
    throw Error(text("data.", key, " cannot be replaced; write single values, such as data.qpos.NAME = 0.5 or data.time = 0"));
  TaskWorld& shared = world_at(state);
  check_writable({.owner = &shared}, "data.time");
  const double seconds = lua_type(state, 3) == LUA_TNUMBER ? lua_tonumberx(state, 3, nullptr) : NAN;
  if (!std::isfinite(seconds)) throw Error(text("data.time must become a finite number, got ", lua::describe_value(state, 3)));
  shared.world.set_time(seconds);
  return 0;
}

}  // namespace

const TaskKind task_data_kind{"data", index_data, entry<set_field>, nullptr};

TaskWorld& task_world(const Call& call) {
  if (!is_task_userdata(call.state(), call.at(0), task_data_kind)) call.refuse(0, "self", "data");
  return *static_cast<Data*>(lua_touserdata(call.state(), call.at(0)))->shared;
}

/// @lua class data
/// The simulation, in a MuJoCo task's functions. Views stand where MuJoCo has the numbers and show the present. Lists have v[1],
/// #v, ipairs
/// and names: x y z; w x y z (quaternion); xx xy ... zz (rotation, by rows). What is written is written in `reset`.
/// @page task
/// @field qpos table - qpos.JOINT: a number (slide, hinge) or a list of 7 (free: x y z qw qx qy qz) or 4 (ball); qpos[i]: all in
/// order; written in reset
/// @field qvel table - qvel.JOINT: a number or a list of 6 (free: vx vy vz wx wy wz) or 3 (ball); qvel[i]; written in reset
/// @field ctrl table - ctrl.ACTUATOR, in the actuator's own range; written in reset
/// @field sensor table - sensor.NAME: a number or a list
/// @field body table{task.place} - body.NAME
/// @field site table{task.place} - site.NAME
/// @field geom table{task.place} - geom.NAME
/// @field joint table{task.joint} - joint.NAME
/// @field contacts table[] - {geom1, geom2, body1, body2, position, distance, force} of each; force in N, along the normal; made
/// anew each time
/// @field time number - seconds; written in reset
/// @see tasks.md#data

/// @lua options task.place
/// A body, site or geom in `data`.
/// @field position number[] - x y z, metres
/// @field rotation number[] - xx xy ... zz; zz is how upright
/// @field velocity number[] - x y z along the world's axes, m/s
/// @field angular_velocity number[] - x y z, rad/s
/// @field centre number[] ? - of a body: its centre of mass
/// @field subtree_centre number[] ? - of a body: the centre of mass of all that hangs on it
/// @field mass number ? - of a body, kg
/// @field size number[] ? - of a site or geom
/// @field offset number[] ? - of a geom: where it sits in its body; written in reset, for the episode

/// @lua options task.joint
/// A joint in `data`.
/// @field type "free"|"ball"|"slide"|"hinge" - its kind
/// @field limited boolean - whether it has limits
/// @field low number ? - where it has
/// @field high number ? - likewise
TaskData::TaskData(lua_State* state, MujocoWorld& world) : shared_{world} {
  lua::protect(state, 0, 1, [this](lua_State* inner) noexcept {
    static_cast<Data*>(push_task_userdata(inner, sizeof(Data), task_data_kind))->shared = &shared_;
    lua_getiuservalue(inner, -1, 1);
    for (const char* group : groups) {
      push_task_group(inner, shared_, group);
      lua_setfield(inner, -2, group);
    }
    add_task_methods(inner);
    lua_pop(inner, 1);
    lua_pushinteger(inner, luaL_ref(inner, LUA_REGISTRYINDEX));
    define_task_random(inner);
    lua_settop(inner, 1);
  });
  data_ = static_cast<int>(lua_tointegerx(state, -1, nullptr));
  lua_pop(state, 1);
  push_task_random(state, stream_);
  random_ = lua::keep(state);
}

}  // namespace iap
