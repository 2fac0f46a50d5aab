module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
module iap.train;
import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.policy;
import :initial;
import :settings;
import :stages;
import :types;
#include "core/walk_config.hpp"

namespace iap {
namespace {

/// Without where the texts of blocks in Lua came from. Further in are their own options, in which the same names mean what they
/// like.
void forget_block_places(Config& blocks) {
  if (auto* items = blocks.list())
    for (Config& item : *items) forget_block_places(item);
  auto* entries = blocks.map();
  if (!entries) return;
  if (!is_lua_block(blocks)) {
    for (auto& [key, value] : *entries) forget_block_places(value);
  } else if (entries->contains("source")) {
    for (const char* place : {"file", "loaded_from"}) entries->erase(place);
  }
}

/// Without where a text came from, beside a text: the same one is found by another path, or elsewhere.
void forget_places(Config& identity) {
  for (const char* key : {"env", "eval_env"}) {
    const Config* env = identity.find(key);
    if (!env || !is_lua_env(*env) || !env->find("source")) continue;
    for (const char* place : {"name", "loaded_from"}) identity[key].map()->erase(place);
  }
  if (identity.find("policy")) forget_block_places(identity["policy"]);
}

/// Without the members of stages that have as many as the optimizer has by itself.
void forget_default_populations(Config& identity) {
  const Config* optimizer = identity.find("optimizer");
  const Config* population = optimizer ? optimizer->find("population") : nullptr;
  const Config* curriculum = identity.find("curriculum");
  if (!population || !curriculum || !curriculum->list()) return;
  for (Config& stage : *identity["curriculum"].list())
    if (const Config* own = stage.find("population"); own && own->number() == population->number())
      stage.map()->erase("population");
}

/// Without an `eval_env` that is where the last stage trains.
void forget_default_eval_env(Config& identity) {
  const Config* eval_env = identity.find("eval_env");
  const Config* env = identity.find("env");
  if (!eval_env || !env || !env->map()) return;
  Config trained = *env;
  const Config* curriculum = identity.find("curriculum");
  if (curriculum && curriculum->list() && !curriculum->list()->empty() && curriculum->list()->back().map())
    trained = with_changes(std::move(trained), changes_of_stage(*curriculum->list()->back().map()));
  if (first_difference(*eval_env, trained).empty()) identity.map()->erase("eval_env");
}

/// Without what stages set as the environment has it by itself.
void forget_default_stages(Config& identity) {
  const Config* env = identity.find("env");
  const Config* curriculum = identity.find("curriculum");
  if (!env || !env->map() || !curriculum || !curriculum->list()) return;
  for (Config& stage : *identity["curriculum"].list()) {
    if (!stage.map()) continue;
    for (const auto& [key, value] : changes_of_stage(*stage.map())) {
      if (!env->find(key)) continue;
      Config changed = *env;
      changed[key] = value;
      if (first_difference(*env, changed).empty()) stage.map()->erase(key);
    }
  }
}

/// Without a curriculum of one stage that changes nothing.
void forget_plain_curriculum(Config& identity) {
  const Config* curriculum = identity.find("curriculum");
  const Config* episodes = identity.find("episodes");
  if (!curriculum || !episodes || *curriculum != Config(Config::List{Config::Map{{"episodes", *episodes}}})) return;
  identity.map()->erase("curriculum");
}

/// Without a `fit` that has no other world to bring the policy to.
void forget_idle_fit(Config& identity) {
  if (!identity.find("curriculum") && !identity.find("eval_env")) identity.map()->erase("fit");
}

/// Takes out of `completed` what neither `stored` nor `present` names.
void forget_unnamed(Config& completed, const Config* stored, const Config* present) {
  const auto inside = [](const Config* config, const auto& key) { return config ? config->find(key) : nullptr; };
  const auto nth = [](const Config* config, std::size_t i) {
    return config && config->list() && i < config->list()->size() ? &(*config->list())[i] : nullptr;
  };
  if (auto* items = completed.list())
    for (std::size_t i = 0; i < items->size(); ++i) forget_unnamed((*items)[i], nth(stored, i), nth(present, i));
  auto* entries = completed.map();
  if (!entries) return;
  for (auto& [key, value] : *entries) forget_unnamed(value, inside(stored, key), inside(present, key));
  std::erase_if(*entries, [&](const auto& entry) { return !inside(stored, entry.first) && !inside(present, entry.first); });
}

/// The blocks of all worlds of a run. Where pixels are pooled, the others' `pool` follows from the first one's.
Config shared_architecture(const Stages& stages) {
  Config architecture = stages.stages.front().world.policy.architecture();
  for (const Stage& stage : stages.stages) keep_shared(architecture, stage.world.policy.architecture(), "pool");
  keep_shared(architecture, stages.evaluation.policy.architecture(), "pool");
  return architecture;
}

/// What a host's own environment, which may describe no options or those of its wrappers alone, promises about itself.
Config promises(const EnvSpec& spec) {
  return Config::Map{{"name", spec.name},
                     {"action_low", static_cast<double>(spec.action_low)},
                     {"action_high", static_cast<double>(spec.action_high)},
                     {"control_dt", spec.control_dt},
                     {"max_steps", spec.max_steps}};
}

/// Where something stands that a checkpoint would give back as something else, or "".
std::string unkept(const Config& identity) {
  std::string found;
  walk_config(identity, [&](const std::string& place, const std::string* name, const Config& value) {
    if (!found.empty()) return false;
    const bool sound = value.string() ? is_utf8(*value.string()) : !value.number() || std::isfinite(*value.number());
    if (name && !is_utf8(*name))
      found = text(place, " (the name '", *name, "')");
    else if (!sound)
      found = text(place, " (", value.describe(), ")");
    return found.empty();
  });
  return found;
}

/// Before a run begins that could not be known again. @throws Error naming what no file holds.
void check_kept(const Config& identity) {
  if (const auto place = unkept(identity); !place.empty())
    throw Error(text("train: the environment's own ", place,
                     " is nothing that a checkpoint can hold; give finite numbers and text in UTF-8 (1e300 for without end)"));
  parse_json(to_json(identity), "train: what the environment says of itself");
}

}  // namespace

void keep_shared(Config& config, const Config& other, std::string_view kept) {
  if (auto* items = config.list(); items && other.list() && items->size() == other.list()->size())
    for (std::size_t i = 0; i < items->size(); ++i) keep_shared((*items)[i], (*other.list())[i], kept);
  auto* entries = config.map();
  if (!entries || !other.map()) return;
  const auto nested = [](const Config& here, const Config& there) {
    return (here.map() && there.map()) || (here.list() && there.list());
  };
  for (auto& [key, value] : *entries)
    if (const Config* there = other.find(key); there && key != kept && nested(value, *there)) keep_shared(value, *there, kept);
  std::erase_if(*entries, [&](const auto& entry) {
    const Config* there = other.find(entry.first);
    return entry.first != kept && !(there && (entry.second == *there || nested(entry.second, *there)));
  });
}

Config identity_of(const TrainOptions& options, const Stages& stages, const Config& optimizer, const Initial* initial) {
  Config identity = Config::Map{
      {"env", stages.base.config},
      {"policy", shared_architecture(stages)},
      {"optimizer", optimizer},
      {"episodes", options.episodes},
      {"seed", static_cast<std::int64_t>(options.seed)},
      {"episode_seeds", episode_seeds_name(options.episode_seeds)},
      {"eval_every", options.eval_every},
      {"eval_episodes", options.eval_episodes},
  };
  if (options.make_env || stages.base.config.is_null()) identity["env_spec"] = promises(stages.base);
  if (!options.curriculum.empty()) identity["curriculum"] = curriculum_of(options, stages);
  if (!options.eval_env.is_null()) identity["eval_env"] = stages.evaluation.spec.config;
  if (options.action_noise > 0) identity["action_noise"] = options.action_noise;
  if (options.safeguards.failed_return) identity["failed_return"] = *options.safeguards.failed_return;
  if (options.fit == Fit::pool) identity["fit"] = "pool";
  for (const auto& [name, content] : stages.files) identity["files"][name] = content;
  if (initial) identity["init"] = Config::Map{{"content", initial->content}};
  if (options.make_env && !options.out.empty()) check_kept(identity);
  return identity;
}

Config complete_identity(Config stored, const TrainOptions& options, const Stages& stages, const Config& present,
                         const std::string& source) {
  // What cannot be built any more stays as it is, for the comparison to name the option.
  const auto complete = [&](const char* key, ConfigKind kind, auto build) {
    const Config* part = stored.find(key);
    const Config* own = present.find(key);
    if (!part || !part->map() || (own && *part == *own)) return;
    Config confined = *part;
    confine_lua(confined, source, kind);
    try {
      Config completed = build(confined);
      forget_unnamed(completed, part, own);
      stored[key] = std::move(completed);
    } catch (const Error&) {
    }
  };
  if (!options.make_env)
    for (const char* key : {"env", "eval_env"})
      complete(key, ConfigKind::env, [](const Config& env) { return make_env(env)->spec().config; });
  // Programs that wrote none resumed whatever the host built.
  if (const Config* own = present.find("env_spec"); own && !stored.find("env_spec")) stored["env_spec"] = *own;
  complete("policy", ConfigKind::policy, [&](const Config& architecture) {
    const EnvSpec& spec = stages.evaluation.spec;
    return Policy(architecture, spec.observation, spec.action_size).architecture();
  });
  complete("optimizer", ConfigKind::any, [&](const Config& optimizer) { return shared_optimizer(optimizer, options, stages); });
  return stored;
}

Config comparable(Config identity) {
  forget_places(identity);
  forget_default_populations(identity);
  forget_default_eval_env(identity);
  forget_default_stages(identity);
  forget_plain_curriculum(identity);
  forget_idle_fit(identity);
  return identity;
}

}  // namespace iap
