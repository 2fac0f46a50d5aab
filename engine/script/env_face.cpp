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

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
/// Roughly what a simulated world holds in native memory.
constexpr std::size_t env_bytes = std::size_t{1} << 20;

/// iap.env.make(name, options) or iap.env.make{name = ..., ...}
int make(Call& call) {
  Config config = env_config(call, 1, "name");
  if (!call.absent(2)) {
    Config options = call.config(2, "options");
    if (!options.map()) call.refuse(2, "options", "a table with named entries");
    for (auto& [key, value] : *options.map()) config[key] = std::move(value);
  }
  return call.give(std::make_unique<EnvObject>(EnvObject{make_env(config)}), env_bytes);
}

/// iap.env.list() -> {{name, summary}, ...}
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
  const Config given = call.config(2, "options");
  Options options("iap.env.check", given);
  how.steps = static_cast<int>(options.integer_in("steps", 1, most_steps, how.steps));
  how.seed = static_cast<std::uint64_t>(options.integer_in("seed", 0, largest, 0));
  how.episodes = static_cast<int>(options.integer_in("episodes", 1, 1000, how.episodes));
  options.finish();
  return how;
}

/// iap.env.check(env, steps, seed) or (env, {steps = 200, seed = 0, episodes = 3}): the contract of environments, rule by rule
/// -> whether it is kept, the report as `iap check` prints it, {{name, promise, result, finding, remedy}, ...}
int check(Call& call) {
  const Config env = env_config(call, 1, "env");
  const ContractReport report = check_contract([&env] { return make_env(env); }, contract_options(call));
  Config::List rules;
  for (const RuleResult& rule : report.rules) rules.push_back(row_of(rule));
  return call.give(report.kept()) + call.give(to_text(report)) + call.give(Config(std::move(rules)));
}

int observe(Call& call) {
  auto& env = *call.self<EnvObject>().env;
  return give_observation(call, env.spec().observation, env.observe());
}

/// env:reset(seed) -> observation
int reset(Call& call) {
  call.self<EnvObject>().env->reset(static_cast<std::uint64_t>(call.integer(1, "seed", 0, largest, 0)));
  return observe(call);
}

/// env:step(action) -> reward, terminated, truncated
int step(Call& call) {
  auto& env = *call.self<EnvObject>().env;
  const auto numbers = call.numbers(1, "action");
  const std::vector<float> action(numbers.begin(), numbers.end());
  const auto result = env.step(action);
  return call.give(result.reward) + call.give(result.terminated) + call.give(result.truncated);
}

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

void open_env_face(lua_State* state) {
  lua::define_class(state, lua::ClassOf<EnvObject>::info, methods);
  lua::push_functions(state, "iap.env", ".", functions);
  lua_setfield(state, -2, "env");
}

}  // namespace iap
