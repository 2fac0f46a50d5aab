#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "script/kinds/task_data.hpp"
#include "script/kinds/task_names.hpp"
#include "script/kinds/task_tables.hpp"
import iap.core;
import iap.envs.mujoco;
import iap.sim;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

TaskWorld& writable_world(const Call& call) {
  TaskWorld& shared = task_world(call);
  if (!shared.writable) call.fail("can be called in reset alone: elsewhere the simulation goes its way under the actions");
  return shared;
}

/// What a physics step costs in a task out of a file, which may ask for a million: about what it takes where nothing touches.
std::uint64_t steps_of_physics(const MujocoWorld& world) {
  constexpr std::uint64_t least = 2000, a_value = 100, a_geom = 20, an_equality = 300;
  return least + a_value * (world.qpos().size() + world.qvel().size()) + a_geom * static_cast<std::uint64_t>(world.count("geom")) +
         an_equality * static_cast<std::uint64_t>(world.array("neq").front());
}

/// And what it costs besides, as things stand: each contact is some rows of constraints, which are solved with all others.
std::uint64_t steps_of_contacts(const MujocoWorld& world) {
  constexpr std::uint64_t a_contact = 100, a_pair = 2;
  const auto contacts = static_cast<std::uint64_t>(world.contacts());
  return contacts * (a_contact + a_pair * contacts);
}

/// Called between the parts of what takes long. @throws Interrupted; LuaError where the call has had its processor time.
void end_if_due(lua_State* state) {
  check_interrupt();
  if (lua::Meter::of(state)) lua::protect(state, 0, 0, [](lua_State* inner) noexcept { lua::Meter::of(inner)->check(inner); });
}

/// Some geoms: one, or all of a body.
struct Party {
  int geom = -1, body = -1;
};

Party find_party(const Call& call, const MujocoWorld& world, int argument, const char* what) {
  lua_State* state = call.state();
  if (lua_type(state, call.at(argument)) != LUA_TSTRING) call.refuse(argument, what, "the name of a geom or body");
  const std::string wanted(lua::string_at(state, call.at(argument)));
  if (const int geom = find_task_name(state, world, "geom", wanted); geom >= 0) return {.geom = geom};
  if (const int body = find_task_name(state, world, "body", wanted); body >= 0) return {.body = body};
  call.fail(
      text("the model has no geom or body '", printable(wanted), "'", suggest_task_name(state, world, {"geom", "body"}, wanted)));
}

bool belongs(const MujocoWorld& world, int geom, const Party& party) {
  return party.geom >= 0 ? geom == party.geom : world.geom_body(geom) == party.body;
}

/// @lua method data:touching
/// Whether two things touch.
/// @param a string - a geom or body
/// @param b string ? - another one; without it, anything
/// @return boolean - true where there is a contact
int touching(Call& call) {
  const MujocoWorld& world = task_world(call).world;
  const Party a = find_party(call, world, 1, "a");
  const bool anything = call.absent(2);
  constexpr std::uint64_t steps_a_contact = 20;
  lua::spend(call.state(), steps_a_contact * static_cast<std::uint64_t>(world.contacts()));
  const Party b = anything ? Party{} : find_party(call, world, 2, "b");
  for (int i = 0; i < world.contacts(); ++i) {
    const MujocoContact contact = world.contact(i);
    if (contact.distance > 0) continue;
    for (const auto [one, other] : {std::pair(contact.geom1, contact.geom2), std::pair(contact.geom2, contact.geom1)})
      if (belongs(world, one, a) && (anything || belongs(world, other, b))) return call.give(true);
  }
  return call.give(false);
}

/// @lua method data:forward
/// Computes what follows from what was written: positions, contacts, sensors. In reset alone.
int forward(Call& call) {
  MujocoWorld& world = writable_world(call).world;
  lua::spend(call.state(), steps_of_physics(world) + steps_of_contacts(world));
  world.forward_without_actuation();
  return 0;
}

/// @lua method data:step
/// Lets the simulation go on. In reset alone. As in DM Control, the first step has the forces of before what was written since the
/// last data:forward(); with Runge-Kutta's integrator it has its own.
/// @param count integer 1..1e6 = 1 - physics steps
int step(Call& call) {
  constexpr std::int64_t most = 1'000'000;
  MujocoWorld& world = writable_world(call).world;
  const auto count = call.integer(1, "count", 1, most, 1);
  const std::uint64_t still = steps_of_physics(world);
  lua::spend(call.state(), static_cast<std::uint64_t>(count) * still);
  // In parts, which together give the bits of the whole. Between two there is a look at what ends the call, and at what touches.
  constexpr std::uint64_t steps_a_part = 100'000;
  for (std::int64_t left = count; left > 0;) {
    const std::uint64_t by_contacts = steps_of_contacts(world);
    const auto part = std::clamp<std::int64_t>(static_cast<std::int64_t>(steps_a_part / (still + by_contacts)), 1, left);
    end_if_due(call.state());
    lua::spend(call.state(), static_cast<std::uint64_t>(part) * by_contacts);
    world.step(static_cast<int>(part));
    left -= part;
  }
  return 0;
}

/// @lua method data:randomize_joints
/// DM Control's randomize_limited_and_rotational_joints, but for free joints. Their rotation is uniform, a normal quaternion
/// brought to length 1, as that of ball joints without limits is in both; DM Control draws its four numbers from [0, 1). In reset
/// alone.
/// @param random random - the stream that reset gets
/// @param limited_only boolean = false - leave joints without limits alone
int randomize(Call& call) {
  MujocoWorld& world = writable_world(call).world;
  Random& random = task_random(call, 1);
  const int given = lua_type(call.state(), call.at(2));
  if (given != LUA_TBOOLEAN && !call.absent(2)) call.refuse(2, "limited_only", "true or false");
  lua::spend(call.state(), steps_of_physics(world));
  randomize_joints(world, random, lua_toboolean(call.state(), call.at(2)) != 0);
  return 0;
}

constexpr lua::Function methods[] = {
    {"touching", entry<touching>}, {"forward", entry<forward>}, {"step", entry<step>}, {"randomize_joints", entry<randomize>}};

/// `random`: the stream belongs to the task.
struct TaskRandom {
  static constexpr const char* class_name = "random";
  Random* stream;
  std::string describe() const { return "the episode's stream of random numbers"; }
};

/// @lua method random:uniform
/// A number between two.
/// @param low number = 0 - included; finite, as is what lies between the two
/// @param high number = 1 - excluded
/// @return number - uniform
int uniform(Call& call) {
  const double low = call.number(1, "low", 0), high = call.number(2, "high", 1);
  if (low > high) call.fail(text("low must be at most high, got ", low, " and ", high));
  if (!std::isfinite(high - low)) call.fail(text("low, high and what lies between must be finite, got ", low, " and ", high));
  return call.give(call.self<TaskRandom>().stream->uniform(low, high));
}

/// @lua method random:normal
/// A Gaussian number.
/// @param mean number = 0 - of the distribution; finite
/// @param deviation number = 1 - its standard deviation, 0 or more; finite
/// @return number - of any size
int normal(Call& call) {
  const double mean = call.number(1, "mean", 0), deviation = call.number(2, "deviation", 1);
  if (!std::isfinite(mean)) call.fail(text("mean must be finite, got ", mean));
  if (!std::isfinite(deviation) || deviation < 0) call.fail(text("deviation must be finite and not negative, got ", deviation));
  return call.give(mean + deviation * call.self<TaskRandom>().stream->normal());
}

/// @lua method random:integer
/// A whole number between two.
/// @param low integer - included; -10^9 or more
/// @param high integer - included; low or more, 10^9 at most
/// @return integer - uniform
int integer(Call& call) {
  constexpr std::int64_t far = 1'000'000'000;
  const auto low = call.integer(1, "low", -far, far), high = call.integer(2, "high", low, far);
  return call.give(low + std::int64_t{call.self<TaskRandom>().stream->below(static_cast<std::uint32_t>(high - low + 1))});
}

constexpr lua::Function draws[] = {{"uniform", entry<uniform>}, {"normal", entry<normal>}, {"integer", entry<integer>}};

}  // namespace

void add_task_methods(lua_State* state) {
  for (const auto& method : methods) lua::add_function(state, "data", ":", method);
}

/// @lua class random
/// The episode's stream of random numbers, which follows from its seed; a MuJoCo task's `reset` gets it.
/// @page task
void define_task_random(lua_State* state) { lua::define_class(state, lua::ClassOf<TaskRandom>::info, draws); }

void push_task_random(lua_State* state, Random& random) { lua::push_object(state, std::make_unique<TaskRandom>(&random)); }

Random& task_random(const Call& call, int argument) { return *call.object<TaskRandom>(argument, "random").stream; }

namespace {

/// A contact and the names of what touches there, which are the world's.
struct NamedContact {
  MujocoContact contact;
  std::array<const char*, 4> names;
};

/// Opener: pushes a name. Each is one string, as `known` (the index of a table) has those that were pushed before: a body with many
/// contacts may have a name of megabytes.
void push_name(lua_State* state, int known, const char* name) {
  if (lua_rawgetp(state, known, name) == LUA_TSTRING) return;
  lua_pop(state, 1);
  lua_pushstring(state, name);
  lua_pushvalue(state, -1);
  lua_rawsetp(state, known, name);
}

/// Opener: pushes the table of a contact.
void push_contact(lua_State* state, int known, const NamedContact& named) {
  constexpr std::array keys{"geom1", "geom2", "body1", "body2"};
  lua_createtable(state, 0, 7);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    push_name(state, known, named.names[i]);
    lua_setfield(state, -2, keys[i]);
  }
  lua_createtable(state, 3, 0);
  lua_Integer place = 0;
  for (const double coordinate : named.contact.position) {
    lua_pushnumber(state, coordinate);
    lua_rawseti(state, -2, ++place);
  }
  set_task_table_kind(state, task_contact_position_kind);
  lua_setfield(state, -2, "position");
  lua_pushnumber(state, named.contact.distance);
  lua_setfield(state, -2, "distance");
  lua_pushnumber(state, named.contact.force);
  lua_setfield(state, -2, "force");
  set_task_table_kind(state, task_contact_kind);
}

}  // namespace

// Names go into Lua's own memory and nowhere else, where a confined state counts them.
void push_task_contacts(lua_State* state, const MujocoWorld& world) {
  std::vector<NamedContact> contacts;
  for (int i = 0; i < world.contacts(); ++i) {
    const MujocoContact contact = world.contact(i);
    contacts.push_back({contact,
                        {world.name("geom", contact.geom1), world.name("geom", contact.geom2),
                         world.name("body", world.geom_body(contact.geom1)), world.name("body", world.geom_body(contact.geom2))}});
  }
  lua::protect(state, 0, 1, [&contacts](lua_State* inner) noexcept {
    constexpr int list = 1, known = 2;
    lua::create_list(inner, contacts.size());
    lua_createtable(inner, 0, 0);
    lua_Integer place = 0;
    for (const NamedContact& contact : contacts) {
      push_contact(inner, known, contact);
      lua_rawseti(inner, list, ++place);
    }
    lua_settop(inner, list);
  });
}

}  // namespace iap
