#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "script/faces.hpp"
#include "script/objects.hpp"
import iap.contract;
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;

namespace iap {

std::string EnvObject::describe() const { return iap::describe(env->spec()); }

Config env_config(const lua::Call& call, int argument, const char* what) {
  if (const auto* object = call.object_or_null<EnvObject>(argument)) return object->config();
  if (lua_type(call.state(), call.at(argument)) == LUA_TSTRING) return Config::Map{{"name", call.string(argument, what)}};
  if (lua_type(call.state(), call.at(argument)) == LUA_TTABLE) return call.config(argument, what);
  call.refuse(argument, what, "an environment, its name, or a table {name = ...}");
}

namespace {

using lua::Call;
using lua::entry;

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(), largest = std::numeric_limits<std::int64_t>::max();
/// Roughly what a simulated world holds in native memory.
constexpr std::size_t env_bytes = std::size_t{1} << 20;

/// @lua function iap.env.make
/// Makes an environment: one of the catalog by its name, or a .lua file (an environment or a MuJoCo task of your own). The options
/// follow
/// from the name: `help("cheetah-run")`, `help("legged")`; those of a .lua file are what its function reads.
/// @param name string|table - "cheetah-run", "tasks/pole.lua", or a table {name = ..., ...} that also has the options
/// @param options table ? - of that environment, without its name; they go before those that the first argument has.
/// Where that is what options became (`metadata().env` of a policy, `spec().config`), whatever followed from one of them, such as a
/// time limit, stays as it was; what was given (`metadata().env_given`, `spec().given`) takes it along
/// @use env.common
/// @return env - ready for reset
/// @example iap.env.make("cheetah-run", { pixels = { 84, 84 }, action_repeat = 4 })
/// @see tasks.md
int make(Call& call) {
  Config config = env_config(call, 1, "name");
  if (!call.absent(2)) {
    Config options = call.config(2, "options");
    if (!options.map()) call.refuse(2, "options", "a table with named entries");
    if (const Config* name = options.find("name"))
      call.fail(text("option 'name' is ", name->describe(),
                     " in the second argument, but the first says which environment it is; give the name there"));
    for (auto& [key, value] : *options.map()) config[key] = std::move(value);
  }
  return call.give(std::make_unique<EnvObject>(EnvObject{make_env(config)}), env_bytes);
}

/// @lua function iap.env.list
/// The environments that have a name.
/// @return table[] rows - {name, summary} of each
int list(Call& call) {
  Config::List rows;
  for (const auto& row : env_catalog()) rows.push_back(Config::Map{{"name", row.name}, {"summary", row.summary}});
  return call.give(Config(std::move(rows)));
}

Config row_of(const RuleResult& rule) {
  Config::Map row{{"name", rule.name}, {"promise", rule.promise}, {"result", std::string(outcome_name(rule.outcome))}};
  if (!rule.finding.empty()) row["finding"] = rule.finding;
  if (!rule.remedy.empty()) row["remedy"] = rule.remedy;
  return row;
}

ContractOptions contract_options(const Call& call) {
  constexpr std::int64_t most_steps = 1'000'000;
  ContractOptions how;
  if (lua_type(call.state(), call.at(2)) != LUA_TTABLE) {
    how.steps = static_cast<int>(call.integer(2, "steps", 1, most_steps, how.steps));
    how.seed = static_cast<std::uint64_t>(call.integer(3, "seed", 0, largest, 0));
    return how;
  }
  if (!call.absent(3)) call.refuse(3, "seed", "nothing beside a table of options (write { ..., seed = ... })");
  const Config given = call.config(2, "options");
  Options options("iap.env.check", given);
  how.steps = static_cast<int>(options.integer_in("steps", 1, most_steps, how.steps));
  how.seed = static_cast<std::uint64_t>(options.integer_in("seed", 0, largest, 0));
  how.episodes = static_cast<int>(options.integer_in("episodes", 1, 1000, how.episodes));
  options.finish();
  return how;
}

/// @lua function iap.env.check
/// Plays an environment with random actions and says of each rule of the contract whether it is kept; `iap check` prints the same.
/// @param env env|string|table - an environment, its name, or a table {name = ...}
/// @param options table|integer ? - the options below; a number: steps
/// @param seed integer 0.. = 0 - of the first episode, where the second argument is no table, which has a `seed` of its own
/// @option steps integer 1..1e6 = 200 - of each episode that are looked at
/// @option seed integer 0.. = 0 - of the first episode
/// @option episodes integer 1..1000 = 3 - that are played and compared
/// @return boolean kept - whether no rule is broken
/// @return string report - as `iap check` prints it
/// @return table[] rules - {name, promise, result, finding, remedy} of each; result is "passed", "warning", "failed" or "skipped"
/// @example assert(iap.env.check("cheetah-run", { episodes = 1, steps = 20 }))
/// @see tasks.md#the-contract
int check(Call& call) {
  const Config env = env_config(call, 1, "env");
  const ContractReport report = check_contract([&env] { return make_env(env); }, contract_options(call));
  Config::List rules;
  for (const RuleResult& rule : report.rules) rules.push_back(row_of(rule));
  return call.give(report.kept()) + call.give(to_text(report)) + call.give(Config(std::move(rules)));
}

/// @lua method env:observe
/// What is seen now. Looking changes nothing.
/// @return table{env.observation} observation - copies, which stay as they are
int observe(Call& call) {
  auto& env = *call.self<EnvObject>().env;
  return give_observation(call, env.spec().observation, env.observe());
}

/// @lua method env:reset
/// Begins an episode, which follows from its seed and the actions alone.
/// @param seed integer = 0 - of the episode: all 64 bits count, and one that is printed as 2^63 or more is negative in Lua (less
/// 2^64)
/// @return table{env.observation} observation - what is seen first
int reset(Call& call) {
  call.self<EnvObject>().env->reset(static_cast<std::uint64_t>(call.integer(1, "seed", lowest, largest, 0)));
  return observe(call);
}

/// @lua method env:step
/// One step of the policy.
/// @param action number[] - `action_size` values from `action_low` to `action_high`, onto which iap.train and iap.eval map what
/// a policy gives in [-1, 1]; what is beyond the range is clipped, what is not finite is an error, as is what single precision does
/// not hold (from 3.4e38 on)
/// @return number reward - of this step
/// @return boolean terminated - the episode ended by itself
/// @return boolean truncated - it ended at its time limit, or was given up, such as by early_stop
int step(Call& call) {
  auto& env = *call.self<EnvObject>().env;
  const auto numbers = call.numbers(1, "action");
  const std::vector<float> action(numbers.begin(), numbers.end());
  const auto result = env.step(action);
  return call.give(result.reward) + call.give(result.terminated) + call.give(result.truncated);
}

/// @lua method env:spec
/// What the environment takes and shows.
/// @return table{env.spec} spec - the same at any time
int spec(Call& call) {
  const auto& spec = call.self<EnvObject>().env->spec();
  Config::List names(spec.state_names.begin(), spec.state_names.end());
  return call.give(Config(Config::Map{{"name", spec.name},
                                      {"config", spec.config},
                                      {"given", spec.given},
                                      {"observation", to_config(spec.observation)},
                                      {"action_size", spec.action_size},
                                      {"action_low", double{spec.action_low}},
                                      {"action_high", double{spec.action_high}},
                                      {"control_dt", spec.control_dt},
                                      {"max_steps", spec.max_steps},
                                      {"state_names", std::move(names)}}));
}

constexpr lua::Function functions[] = {{"make", entry<make>}, {"list", entry<list>}, {"check", entry<check>}};
constexpr lua::Function methods[] = {
    {"reset", entry<reset>}, {"step", entry<step>}, {"observe", entry<observe>}, {"spec", entry<spec>}};

}  // namespace

/// @lua table iap.env
/// Environments: worlds that policies act in, from pixels or state.

/// @lua class env
/// An environment and its present episode.
/// @page env

/// @lua options env.observation
/// What env:reset and env:observe return and policy:act takes.
/// @field vector number[] - the values of the state that are shown, as many as `spec().observation.vector`
/// @field images table - images by their names, such as `images.pixels`

/// @lua options env.spec
/// What env:spec() returns.
/// @field name string - of the environment
/// @field config table - what its options became: it rebuilds the environment
/// @field given table - the options that were written down
/// @field observation table - {images = {{name, height, width, channels, type}, ...}, vector, dt}
/// @field action_size integer 1.. - values of an action
/// @field action_low number - the least value of each
/// @field action_high number - the highest
/// @field control_dt number - seconds a step; 1 where an environment has no time
/// @field max_steps integer 0.. - time limit in steps; 0: none
/// @field state_names string[] - what each value of the vector is, where it is known
void open_env_face(lua_State* state) {
  lua::define_class(state, lua::ClassOf<EnvObject>::info, methods);
  lua::push_functions(state, "iap.env", ".", functions);
  lua_setfield(state, -2, "env");
}

}  // namespace iap
