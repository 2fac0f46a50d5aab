module;
#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.envs;
import iap.core;
import iap.env;
import iap.envs.car_racing;
#include "core/walk_config.hpp"

namespace iap {

/// Of script_kind.cpp.
std::unique_ptr<Env> make_script_env_kind(Options& options);

namespace {

std::unique_ptr<Env> make_named(const std::string& name, Options& options) {
  if (is_lua_env(options.config())) return make_script_env_kind(options);
  std::vector<std::string> known;
  for (const auto& entry : env_catalog()) {
    if (entry.name == name) return entry.make(options);
    known.push_back(entry.name);
  }
  throw Error(text("there is no environment '", name, "'", did_you_mean(name, known)));
}

/// What `config` becomes, or nothing where it builds no environment. @throws Interrupted: a file may have many options to try.
std::optional<Config> completed_env(const Config& config) {
  check_interrupt();
  try {
    return make_env(config)->spec().config;
  } catch (const Error&) {
    return {};
  }
}

/// Takes out of `table` whatever can be missing while `unchanged` holds: tables as a whole, or what is inside them.
void leave_out(Config& table, const std::function<bool()>& unchanged) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : *table.map()) keys.push_back(key);
  for (const auto& key : keys) {
    Config removed = std::move(table[key]);
    table.map()->erase(key);
    if (unchanged()) continue;
    if ((table[key] = std::move(removed)).map()) leave_out(table[key], unchanged);
  }
}

std::size_t leaves(const Config& value) {
  if (!value.map()) return 1;
  std::size_t count = 0;
  for (const auto& [key, item] : *value.map()) count += leaves(item);
  return count;
}

/// Whether a table was written by a program, out of one that had all defaults filled in: people write down what they change.
bool is_programs(const Config& given, const Config& whole) { return 4 * leaves(given) >= 3 * leaves(whole); }

/// Drops a time limit that is the environment's own, which older files hold as if somebody had given it.
void leave_out_own_limit(Config& given, const Config& became) {
  constexpr const char* limit = "time_limit";
  if (!given.find(limit)) return;
  Config without = given;
  without.map()->erase(limit);
  if (completed_env(without) == became) given = std::move(without);
}

/// @throws OptionError for text that would come back from a policy file or a checkpoint as another.
void check_text(const std::string& owner, const Config& config) {
  walk_config(config, [&](const std::string& place, const std::string*, const Config& value) {
    if (const auto* string = value.string(); string && !is_utf8(*string))
      throw OptionError(text(owner, ": option '", place, "' is ", value.describe(),
                             ", bytes that are no UTF-8, which no policy file can hold; give what is named another name"));
    return true;
  });
}

}  // namespace

bool is_file_record(std::string_view option) {
  constexpr std::string_view records[]{"source", "required_modules", "model_files", "loaded_from"};
  return std::ranges::find(records, option) != std::end(records);
}

void forget_file(Config& env, std::string_view option) {
  auto* entries = env.map();
  if (!entries) return;
  if (option == "name") std::erase_if(*entries, [](const auto& entry) { return is_file_record(entry.first); });
  // What a text in Lua calls so is its own; its files are those of its model.
  if (option == "urdf" && !is_lua_env(env)) entries->erase("model_files");
}

LibraryVersions envs_versions() { return car_racing::versions(); }

std::unique_ptr<Env> make_env(const Config& config) {
  const auto* name = config.find("name");
  const bool named = name && name->string();
  constexpr std::size_t longest_name = 4096;  // a path's
  if (named && name->string()->size() > longest_name)
    throw Error(text("environment: option 'name' has ", name->string()->size(), " characters, at most ", longest_name,
                     " are taken; give a name of iap.envs, or the path of a Lua file"));
  Options options(named ? text("environment '", *name->string(), "'") : "environment", config);
  auto env = make_named(options.string("name"), options);
  env = with_common_wrappers(std::move(env), options);
  options.finish();
  check_text(options.owner(), env->spec().config);
  return env;
}

Config given_env(const Config& completed, const Config* recorded) {
  Config given = env_table(completed, "environment");
  const auto became = completed_env(given);
  if (!became) return given;
  const bool known = recorded && completed_env(*recorded) == became;
  if (known) given = *recorded;
  leave_out_own_limit(given, *became);
  const auto unchanged = [&] { return completed_env(given) == became; };
  for (auto& [key, value] : *given.map()) {
    const Config* whole = became->find(key);
    if (value.map() && (!known || (whole && is_programs(value, *whole)))) leave_out(value, unchanged);
  }
  return given;
}

const Config* recorded_env(const Config& metadata) {
  const Config* env = metadata.find("env");
  return env && !env->is_null() ? env : nullptr;
}

Config env_record(const EnvSpec& spec) {
  Config::Map record;
  if (spec.config.find("name")) record.emplace("env", spec.config);
  if (!spec.given.is_null()) record.emplace("env_given", spec.given);
  return record;
}

}  // namespace iap
