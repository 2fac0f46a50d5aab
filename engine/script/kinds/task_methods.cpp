#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "script/kinds/task_data.hpp"
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

/// What a physics step costs in a task out of a file, which may ask for a million: about what it takes.
std::uint64_t steps_of_physics(const MujocoWorld& world) {
  constexpr std::uint64_t least = 2000, a_value = 100;
  return least + a_value * (world.qpos().size() + world.qvel().size());
}

/// Some geoms: one, or all of a body.
struct Party {
  int geom = -1, body = -1;
};

Party find_party(const Call& call, const MujocoWorld& world, int argument, const char* what) {
  if (lua_type(call.state(), call.at(argument)) != LUA_TSTRING) call.refuse(argument, what, "the name of a geom or body");
  const auto wanted = lua::string_at(call.state(), call.at(argument));
  for (const char* kind : {"geom", "body"})
    for (int i = 0, count = world.count(kind); i < count; ++i)
      if (wanted == world.name(kind, i)) return *kind == 'g' ? Party{.geom = i} : Party{.body = i};
  auto names = world.names("geom");
  std::ranges::copy(world.names("body"), std::back_inserter(names));
  std::erase(names, "");
  call.fail(text("the model has no geom or body '", wanted, "'", did_you_mean(wanted, names)));
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
  const int looked_at = world.count("geom") + world.count("body") + world.contacts();
  lua::spend(call.state(), static_cast<std::uint64_t>(looked_at));
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
  lua::spend(call.state(), steps_of_physics(world));
  world.forward_without_actuation();
  return 0;
}

/// @lua method data:step
/// Lets the simulation go on. In reset alone.
/// @param count integer 1..1e6 = 1 - physics steps
int step(Call& call) {
  constexpr std::int64_t most = 1'000'000;
  MujocoWorld& world = writable_world(call).world;
  const auto count = call.integer(1, "count", 1, most, 1);
  lua::spend(call.state(), static_cast<std::uint64_t>(count) * steps_of_physics(world));
  world.step(static_cast<int>(count));
  return 0;
}

/// @lua method data:randomize_joints
/// DM Control's randomize_limited_and_rotational_joints. In reset alone.
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
/// @param low number = 0 - included
/// @param high number = 1 - excluded
/// @return number - uniform
int uniform(Call& call) {
  const double low = call.number(1, "low", 0), high = call.number(2, "high", 1);
  if (low > high) call.fail(text("low must be at most high, got ", low, " and ", high));
  return call.give(call.self<TaskRandom>().stream->uniform(low, high));
}

/// @lua method random:normal
/// A Gaussian number.
/// @param mean number = 0 - of the distribution
/// @param deviation number = 1 - its standard deviation
/// @return number - of any size
int normal(Call& call) {
  const double mean = call.number(1, "mean", 0), deviation = call.number(2, "deviation", 1);
  return call.give(mean + deviation * call.self<TaskRandom>().stream->normal());
}

/// @lua method random:integer
/// A whole number between two.
/// @param low integer - included
/// @param high integer - included
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

Config task_contacts(const MujocoWorld& world) {
  Config::List list;
  for (int i = 0; i < world.contacts(); ++i) {
    const MujocoContact contact = world.contact(i);
    const auto name = [&](const char* kind, int index) { return Config(world.name(kind, index)); };
    const auto& [x, y, z] = contact.position;
    list.push_back(Config::Map{{"geom1", name("geom", contact.geom1)},
                               {"geom2", name("geom", contact.geom2)},
                               {"body1", name("body", world.geom_body(contact.geom1))},
                               {"body2", name("body", world.geom_body(contact.geom2))},
                               {"position", Config::List{x, y, z}},
                               {"distance", contact.distance},
                               {"force", contact.force}});
  }
  return list;
}

}  // namespace iap
