#include "script/context.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
import iap.core;
import iap.envs;
import iap.script;

namespace iap {
namespace {

/// Its address is the registry key of the context.
char context_key;

std::string first_part(const std::string& path) { return path.substr(0, path.find('.')); }

/// Numbers may replace numbers; everything else keeps its type. A default without a type (nil) cannot be in a table.
bool same_type(const Config& a, const Config& b) {
  if (a.number() && b.number()) return true;
  if (a.list() || a.map()) return b.list() || b.map();
  return a.type_name() == b.type_name();
}

void set_training_option(Config& options, std::string_view path, std::string_view value) {
  constexpr std::string_view env = "env.";
  if (path.starts_with(env) && options.find("env"))
    set_env_option(options["env"], path.substr(env.size()), value);
  else
    set_path(options, path, value);
}

}  // namespace

RunContext::RunContext(RunSettings settings) : settings_(std::move(settings)) {
  for (const auto& text_form : settings_.overrides) {
    const auto equals = text_form.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(text("--set ", text_form, ": write it as path=value, such as env.action_repeat=2"));
    overrides_.push_back({text_form.substr(0, equals), text_form.substr(equals + 1)});
  }
}

void RunContext::attach(lua_State* state) {
  lua::protect(state, 0, 0, [this](lua_State* inner) noexcept {
    lua_pushlightuserdata(inner, this);
    lua_rawsetp(inner, LUA_REGISTRYINDEX, &context_key);
  });
}

RunContext* RunContext::of(lua_State* state) {
  lua::reserve(state, 1);
  lua_rawgetp(state, LUA_REGISTRYINDEX, &context_key);
  auto* context = static_cast<RunContext*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  return context;
}

void RunContext::apply_to_training(Config& options) {
  trained_ = seed_used_ = out_used_ = true;
  for (auto& entry : overrides_) {
    if (entry.taken_by_script) continue;
    entry.used = true;
    set_training_option(options, entry.path, entry.value);
  }
  if (settings_.seed && !seed_taken_by_script_) options["seed"] = static_cast<std::int64_t>(*settings_.seed);
  if (settings_.threads) options["threads"] = *settings_.threads;
  if (settings_.out && !out_taken_by_script_) options["out"] = settings_.out->string();
  if (settings_.resume) options["resume"] = true;
}

void RunContext::apply_to_script_options(Config& defaults) {
  const Config declared = defaults;
  for (const auto& [key, value] : *declared.map()) declared_.insert(key);
  for (auto& entry : overrides_) {
    const Config* original = declared.find(first_part(entry.path));
    if (!original) continue;
    entry.taken_by_script = entry.used = true;
    set_path(defaults, entry.path, entry.value);
    const Config& changed = *defaults.find(first_part(entry.path));
    if (!same_type(*original, changed))
      throw Error(text("--set ", entry.path, "=", entry.value, ": expected ", original->type_name(), " like the default ",
                       original->describe(), ", got ", changed.describe()));
  }
  if (settings_.seed && declared.find("seed")) {
    defaults["seed"] = static_cast<std::int64_t>(*settings_.seed);
    seed_used_ = seed_taken_by_script_ = true;
  }
}

std::string RunContext::experiment() const {
  std::string overrides;
  for (const auto& entry : overrides_) overrides += text(" --set ", entry.path, "=", entry.value);
  if (settings_.seed) overrides += text(" --seed ", *settings_.seed);
  return overrides.empty() ? script : text("-- run with", overrides, "\n", script);
}

std::filesystem::path RunContext::run_folder(const std::string& fallback) {
  out_used_ = out_taken_by_script_ = true;
  if (settings_.out) return *settings_.out;
  std::filesystem::path folder = fallback;
  for (int number = 2; !settings_.resume && std::filesystem::exists(folder / "config.json"); ++number)
    folder = text(fallback, "-", number);
  return folder;
}

void RunContext::check_all_used() const {
  std::vector<std::string> known(declared_.begin(), declared_.end());
  const std::string remedy = known.empty() ? "the script calls neither iap.train nor iap.options" : "";
  for (const auto& entry : overrides_)
    if (!entry.used)
      throw Error(text("--set ", entry.path, ": nothing in the script used it",
                       remedy.empty() ? did_you_mean(entry.path, known) : "; ", remedy));
  if (trained_) return;
  if (settings_.seed && !seed_used_) throw Error("--seed: nothing in the script used it; the script does not call iap.train");
  if (settings_.out && !out_used_) throw Error("--out: nothing in the script used it; the script does not call iap.train");
  if (settings_.resume) throw Error("--resume: nothing in the script used it; the script does not call iap.train");
}

}  // namespace iap
