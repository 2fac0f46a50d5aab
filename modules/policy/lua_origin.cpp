module;
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
module iap.policy;
import iap.core;
#include "core/opens_table.hpp"
#include "policy/handed_on.hpp"

namespace iap {
namespace {

constexpr std::string_view mark = "loaded_from", text_record = "source", modules_record = "required_modules";

/// Whether `text` is one word, of which Lua makes nothing that runs: it calls by brackets or quotes, or by `for x in f do`.
bool is_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' ||
           c == '/';
  });
}

/// Whether `config` holds what runs as Lua once somebody makes a block or an environment of it, by whatever name or kind it then
/// has. A word is what its owner calls so.
bool holds_program(const Config& config) {
  const Config *source = config.find(text_record), *modules = config.find(modules_record);
  return (source && source->string() && !is_word(*source->string())) || (modules && modules->map());
}

bool is_lua(const Config& config) { return is_lua_block(config) || is_lua_env(config) || holds_program(config); }

/// An environment may be given by its name alone; and hosts hand a text on that they take for a whole table.
bool may_be_lua_env(const Config& value) {
  return value.string() && (is_lua_name(*value.string()) || value.string()->find('{') != std::string::npos);
}

/// Marks with the text `source`, or takes marks away where it is null.
void set_mark(Config& config, const Config& source) {
  if (source.is_null())
    config.map()->erase(std::string(mark));
  else
    config[mark] = source;
}

/// A table without a mark whose place for one is null would take off that of a table which it is laid over.
void forget_empty_mark(Config& config) {
  if (const Config* own = config.find(mark); own && own->is_null()) config.map()->erase(std::string(mark));
}

/// A name that a host hands on alone must not be the text of a table of the host's own: as a path it is none.
void call_by_path(Config& env, const Config& source) {
  const Config* name = env.find("name");
  if (!source.is_null() && name && name->string() && opens_table(*name->string())) env["name"] = "./" + *name->string();
}

/// Marks the table `config` alone, if it is written in Lua.
void mark_own(Config& config, const Config& source) {
  if (is_lua_env(config)) call_by_path(config, source);
  if (is_lua(config))
    set_mark(config, source);
  else
    forget_empty_mark(config);
}

void walk_any(Config& config, const Config& source) {
  if (auto* items = config.list())
    for (auto& item : *items) walk_any(item, source);
  auto* entries = config.map();
  if (!entries) return;
  for (const char* key : {"env", "env_given"})
    if (const auto env = entries->find(key); env != entries->end()) {
      if (may_be_lua_env(env->second) && !source.is_null()) env->second = Config::Map{{"name", env->second}};
      call_by_path(env->second, source);
    }
  for (auto& [key, value] : *entries) walk_any(value, source);
  mark_own(config, source);
}

/// Whatever a block is called and however its kind hides the blocks inside it, the kind alone decides what `make_block` makes.
void walk_blocks(Config& config, const Config& source) {
  if (auto* items = config.list())
    for (auto& item : *items) walk_blocks(item, source);
  auto* entries = config.map();
  if (!entries) return;
  if (is_lua_block(config)) return set_mark(config, source);
  for (auto& [key, value] : *entries) walk_blocks(value, source);
}

/// What no environment but one in Lua has would be the text of the one whose name the table gets, or over which it is laid.
void forget_records(Config& config) {
  if (Config::Map* entries = config.map()) {
    if (holds_program(config))
      for (const auto record : {text_record, modules_record}) entries->erase(std::string(record));
    entries->erase(std::string(mark));
  }
}

/// As for `make_env`, the name alone decides; an environment may be given by nothing else.
void walk_env(Config& config, const Config& source) {
  if (may_be_lua_env(config) && !source.is_null()) config = Config::Map{{"name", config}};
  call_by_path(config, source);
  if (is_lua_env(config)) return set_mark(config, source);
  if (!source.is_null()) forget_records(config);
  walk_any(config, source);
}

void walk_metadata(Config& config, const Config& source) {
  auto* entries = config.map();
  if (!entries) return walk_any(config, source);
  for (auto& [key, value] : *entries) {
    if (key == "env" || key == "env_given")
      walk_env(value, source);
    else
      walk_any(value, source);
  }
  // Whoever takes the whole of it for a block or an environment gets a stranger's, too.
  mark_own(config, source);
}

void walk(Config& config, const Config& source, ConfigKind kind) {
  switch (kind) {
    case ConfigKind::any: return walk_any(config, source);
    case ConfigKind::policy: return walk_blocks(config, source);
    case ConfigKind::env: return walk_env(config, source);
    case ConfigKind::metadata: return walk_metadata(config, source);
  }
}

}  // namespace

// It is shown, not opened; and a policy file holds no other texts.
void confine_lua(Config& config, const std::string& source, ConfigKind kind) { walk(config, printable(source), kind); }

void trust_lua(Config& config, ConfigKind kind) { walk(config, {}, kind); }

extern "C++" Config env_handed_on(Config env) {
  const Config* own = env.find(mark);
  if (!own || !own->string()) return env;
  const std::string source = *own->string();
  confine_lua(env, source, ConfigKind::any);
  return env;
}

extern "C++" Config metadata_handed_on(Config metadata) {
  for (const char* key : {"env", "env_given"})
    if (const Config* env = metadata.find(key)) metadata[key] = env_handed_on(*env);
  return metadata;
}

}  // namespace iap
