#include "lua/script_object.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

#include "core/edit_distance.hpp"
#include "core/nested_names.hpp"
#include "lua/mentioned_options.hpp"
#include "lua/meter.hpp"
#include "lua/object.hpp"
#include "lua/source_words.hpp"
#include "lua/tables.hpp"

namespace iap::lua {
namespace {

/// Hands the script its options and notes which of them it reads. What it assigns stands with them, so that `pairs` visits both.
/// A text that is `fresh` keeps its hands off their metatable, without which they would be gone; stored ones go on as they did.
constexpr std::string_view watch_options = R"(
local values, fresh = ...
local next, pairs, error = next, pairs, error
local read, missed, refused = {}, {}, {}
local function note_all()
  for key in next, values do read[key] = true end
  return pairs(values)
end
local function note(_, key)
  local value = values[key]
  read[key] = true
  if value == nil then
    if refused[key] then error(refused[key], 2) end
    missed[key] = true
  end
  return value
end
local function refuse(key, message)
  if missed[key] then error(message, 0) end
  refused[key] = message
end
local function assign(_, key, value) values[key] = value end
local function length() return #values end
local watch = { __index = note, __newindex = assign, __len = length, __pairs = note_all }
if fresh then watch.__metatable = false end
return setmetatable({}, watch), read, refuse
)";

constexpr std::size_t steps_a_name = 100;

/// The options that a script is shown: all but what is kept beside them of its files, which may be larger than a confined state.
Config shown_options(const Config& options) {
  constexpr std::string_view records[]{"source", "required_modules", "model_files", "loaded_from"};
  Config shown = Config::Map{};
  if (const auto* entries = options.map())
    for (const auto& [name, value] : *entries)
      if (std::ranges::find(records, name) == std::end(records)) shown[name] = value;
  return shown;
}

/// The option `required_modules`: texts by name.
Config modules_of(Options& options) {
  const Config& modules = options.record("required_modules");
  if (modules.is_null()) return Config::Map{};
  const auto* entries = modules.map();
  if (!entries || !std::ranges::all_of(*entries, [](const auto& entry) { return entry.second.string() != nullptr; }))
    options.fail(text("option 'required_modules' must be a table of texts by name, got ", modules.describe()));
  return modules;
}

State open_state(Options& options, const ScriptSetting& setting) {
  Config modules = modules_of(options);
  if (options.has("loaded_from"))
    return State::confined(options.string("loaded_from"), modules, setting.library, setting.allowance);
  State state;
  if (setting.library) state.provide(setting.library);
  state.keep_modules(modules);
  return state;
}

std::string source_of(const std::string& file, Options& options) {
  if (options.has("source")) return options.string("source");
  if (!options.has("loaded_from")) return read_file(file);
  options.fail(
      text("'", options.string("loaded_from"), "' names the Lua file '", file,
           "' but does not hold its text; name an environment yourself (--env ", shell_word(file),
           "), or pass --trust if you trust the file (trust = true in Lua, iap_policy_load_trusted in C, trusted=True in Python)"));
}

/// @throws Error for a file whose text would come back as another: `file` is what it is called.
void check_text(const std::string& file, std::string_view source) {
  int number = 0;
  for (const auto line : std::views::split(source, '\n')) {
    ++number;
    if (!is_utf8(std::string_view(line.begin(), line.end())))
      throw Error(text(file, ":", number,
                       ": holds bytes that are no UTF-8, which no policy file can hold; save it as UTF-8, and write "
                       "such bytes as \"\\xFC\""));
  }
}

/// Lua's own message names no way out.
LuaError with_remedy(const LuaError& error) {
  const std::string_view message = error.what();
  if (!message.ends_with("cannot change a protected metatable")) return error;
  return LuaError(text(message, ", as that of the options is; where one has a default, write options.NAME or DEFAULT"));
}

int refuse_exit(lua_State* state) {
  return luaL_error(state, "os.exit would end the whole program (call error(message), or end the episode)");
}

/// What ends the program leaves whoever uses it no word about why.
void take_exit(lua_State* state) {
  protect(state, 0, 0, [](lua_State* inner) noexcept {
    lua_getglobal(inner, LUA_OSLIBNAME);
    lua_pushcfunction(inner, refuse_exit);
    lua_setfield(inner, -2, "exit");
    lua_settop(inner, 0);
  });
}

}  // namespace

ScriptObject::ScriptObject(const std::string& file, Options& options, const ScriptSetting& setting, NestedOptions* nested)
    : file_(file),
      loaded_from_(options.has("loaded_from") ? options.string("loaded_from") : ""),
      source_(source_of(file, options)),
      fresh_(!options.has("source")),
      judges_(judged_names() == JudgedNames::all || (fresh_ && judged_names() == JudgedNames::files)),
      state_(open_state(options, setting)) {
  check_text(file_, source_);
  state_.watch_for_interrupts();
  if (!options.has("loaded_from")) {
    take_exit(state_);
    state_.search(std::filesystem::path(file).parent_path());
  }
  keep_randomseed();
  seed(0);
  construct(shown_options(options.config()), setting, nested);
}

ScriptObject::ScriptObject(const std::string& file, Options& options, const ScriptSetting& setting)
    : ScriptObject(file, options, setting, nullptr) {
  const bool confined = options.has("loaded_from");
  // An option that the script does not know is an error as everywhere else.
  const auto read = names_read();
  clear();
  const Config modules = confined ? modules_of(options) : state_.kept_modules(source_);
  std::vector<std::string_view> texts{source_};
  for (const auto& [name, module] : *modules.map()) {
    check_text(text("module '", name, "'"), *module.string());
    texts.push_back(*module.string());
  }
  refuse_slips(options, setting, read, texts);
  // It may read some later than its constructor, when nobody can still complain.
  const auto names = with_mentioned(read, texts, options.config());
  for (const auto& name : names)
    if (const auto& value = options.value(name); !value.is_null()) {
      check_storable(value, text(file_, ": option '", name, "'"));
      config_[name] = value;
    }
  for (const auto source : texts) tell_of_other_names(source, names, options);
  for (const char* own : {"source", "loaded_from"}) options.record(own);
  config_["source"] = source_;
  config_.map()->erase("required_modules");
  if (!modules.map()->empty()) config_["required_modules"] = modules;
  if (confined) config_["loaded_from"] = loaded_from_;
}

void ScriptObject::keep_randomseed() {
  protect(state_, 0, 1, [](lua_State* inner) noexcept {
    lua_getglobal(inner, LUA_MATHLIBNAME);
    lua_getfield(inner, -1, "randomseed");
    lua_pushinteger(inner, luaL_ref(inner, LUA_REGISTRYINDEX));
    lua_replace(inner, 1);
  });
  randomseed_ = static_cast<int>(lua_tointegerx(state_, -1, nullptr));
  clear();
}

void ScriptObject::construct(const Config& values, const ScriptSetting& setting, NestedOptions* nested) {
  try {
    state_.load_text(watch_options, "=options");
    push_config(state_, values);
    if (nested) nested->watch(state_);
    reserve(state_, 1);
    lua_pushboolean(state_, fresh_);
    call(state_, 2, 3);
    refuse_ = keep(state_);
    state_.load_text(source_, "@" + file_);
    call(state_, 0, 1);
    const int type = lua_type(state_, -1);
    if (type != LUA_TFUNCTION && !(type == LUA_TTABLE && setting.may_be_table))
      throw Error(text(file_, ": must return function(options), got ", describe_value(state_, -1)));
    reserve(state_, 1);
    if (type == LUA_TFUNCTION) {
      lua_pushvalue(state_, 1);
      push_config(state_, setting.shapes);
      call(state_, 2, 1);
    }
  } catch (const LuaError& error) {
    fail("function(options)", with_remedy(error));
  }
  if (lua_type(state_, -1) != LUA_TTABLE)
    throw Error(text(file_, ": function(options) must return a table, got ", describe_value(state_, -1)));
  self_ = keep(state_);
  if (nested) nested->end(state_);
}

void ScriptObject::refuse_slips(Options& options, const ScriptSetting& setting, const std::vector<std::string>& read,
                                std::span<const std::string_view> texts) const {
  // What is in the others is for iap to read.
  Config own = Config::Map{};
  for (const auto& name : read) own[name] = options.value(name);
  NestedOptions nested(std::move(own), texts, judges_);
  if (nested.empty()) return;
  try {
    const ScriptObject trial(file_, options, setting, &nested);
  } catch (const Error&) {
    return;
  }
  const auto slips = nested.slips();
  if (slips.empty()) return;
  const auto& [table, given, meant] = slips.front();
  throw UnknownOption(
      text(options.owner(), ": unknown option '", table, given, "'; did you mean '", table, meant,
           "'? (names that the file makes count where its function reads them, or where its text has them as words)"),
      given, true);
}

void ScriptObject::refuse_reading(std::string_view name) {
  if (!fresh_) return;
  const std::string message = text(
      "option '", name, "' is read and was not given, and iap fills it in where it builds the object again, as trainings do; give ",
      "it, or read an option with a name of the file's own");
  run(refuse_, "function(options)", 0, [name, &message](lua_State* inner) noexcept {
    lua_pushlstring(inner, name.data(), name.size());
    lua_pushlstring(inner, message.data(), message.size());
    return 2;
  });
}

std::vector<std::string> ScriptObject::names_read() {
  std::vector<std::string> names;
  reserve(state_, 3);
  lua_pushnil(state_);
  while (lua_next(state_, 2)) {
    spend(state_, steps_a_name);
    if (lua_type(state_, -2) == LUA_TSTRING) names.emplace_back(string_at(state_, -2));
    lua_pop(state_, 1);
  }
  std::ranges::sort(names);  // the table's own order is another one in each process
  return names;
}

void ScriptObject::fail(const char* method, const LuaError& error) const {
  if (interrupt_requested()) throw Interrupted();
  const std::string_view message = error.what();
  const std::string from = loaded_from_.empty() ? "" : loaded_from_ + ": ";
  throw Error(message.find(':') == std::string_view::npos ? text(from, file_, ": ", method, ": ", message) : text(from, message));
}

std::vector<std::string> ScriptObject::keys() {
  clear();
  reserve(state_, 3);
  lua_rawgeti(state_, LUA_REGISTRYINDEX, self_);
  std::vector<std::string> names;
  lua_pushnil(state_);
  while (lua_next(state_, 1)) {
    spend(state_, steps_a_name);
    if (lua_type(state_, 2) != LUA_TSTRING) {
      const std::string got = describe_value(state_, 2);
      clear();
      throw Error(text(file_, ": the table has ", got, " as a key; its entries have names"));
    }
    names.emplace_back(string_at(state_, 2));
    lua_pop(state_, 1);
  }
  clear();
  std::ranges::sort(names);
  return names;
}

bool ScriptObject::has(const char* name) {
  reserve(state_, 1);
  lua_rawgeti(state_, LUA_REGISTRYINDEX, self_);
  push_entry(state_, -1, name);
  const bool found = lua_type(state_, -1) != LUA_TNIL;
  clear();
  return found;
}

Config ScriptObject::entry(const char* name) {
  reserve(state_, 1);
  lua_rawgeti(state_, LUA_REGISTRYINDEX, self_);
  push_entry(state_, -1, name);
  Config value = read_config(state_, -1, text(file_, ": ", name), {.drops_inherited = !fresh_});
  clear();
  return value;
}

bool ScriptObject::inherits(const char* name) {
  if (!fresh_) return false;
  protect(state_, 0, 1, [this, name](lua_State* inner) noexcept {
    lua_rawgeti(inner, LUA_REGISTRYINDEX, self_);
    lua_pushstring(inner, name);
    const bool own = lua_rawget(inner, 1) != LUA_TNIL;
    lua_pushboolean(inner, !own && lua_getfield(inner, 1, name) != LUA_TNIL);
    lua_replace(inner, 1);
    lua_settop(inner, 1);
  });
  const bool inherited = lua_toboolean(state_, -1) != 0;
  clear();
  return inherited;
}

int ScriptObject::method(const char* name, bool required) {
  clear();
  // A plain lookup, metatables included: objects may be made of classes.
  protect(state_, 0, 2, [this, name](lua_State* inner) noexcept {
    lua_rawgeti(inner, LUA_REGISTRYINDEX, self_);
    const bool callable = lua_getfield(inner, 1, name) == LUA_TFUNCTION;
    lua_replace(inner, 1);
    int found = LUA_NOREF;
    if (callable) {
      lua_pushvalue(inner, 1);
      found = luaL_ref(inner, LUA_REGISTRYINDEX);
    }
    lua_pushinteger(inner, found);
  });
  const int reference = static_cast<int>(lua_tointegerx(state_, 2, nullptr));
  const bool missing = lua_type(state_, 1) == LUA_TNIL;
  const std::string got = describe_value(state_, 1);
  clear();
  if (reference == LUA_NOREF && (required || !missing))
    throw Error(text(file_, ": the table that function(options) returns must have a function '", name, "', got ", got));
  return reference;
}

std::map<std::string, bool> ScriptObject::functions() {
  clear();
  reserve(state_, 5);
  std::map<std::string, bool> found;
  const std::string own = "@" + file_;
  lua_rawgeti(state_, LUA_REGISTRYINDEX, self_);
  // Objects may be made of classes.
  constexpr int longest_chain = 64;
  for (int i = 0; i < longest_chain && lua_type(state_, 1) == LUA_TTABLE; ++i) {
    lua_pushnil(state_);
    for (; lua_next(state_, 1); lua_pop(state_, 1)) {
      spend(state_, steps_a_name);
      if (lua_type(state_, -2) != LUA_TSTRING || !lua_isfunction(state_, -1)) continue;
      lua_Debug definition;
      lua_pushvalue(state_, -1);
      lua_getinfo(state_, ">S", &definition);
      found.emplace(string_at(state_, -2), definition.source == own);
    }
    if (!lua_getmetatable(state_, 1)) break;
    push_entry(state_, -1, "__index");
    lua_replace(state_, 1);
    lua_settop(state_, 1);
  }
  clear();
  return found;
}

void ScriptObject::refuse_misspelt(std::initializer_list<const char*> wanted) {
  if (!judges_) return;
  const auto found = functions();
  std::vector<std::string> missing, codes;
  std::ranges::copy_if(wanted, std::back_inserter(missing), [&](const char* name) { return !found.contains(name); });
  const auto is_used = [&](const std::string& name) {
    if (codes.empty()) {
      codes.push_back(code_of(source_));
      if (const Config* modules = config_.find("required_modules"))
        for (const auto& [module, source] : *modules->map()) codes.push_back(code_of(*source.string()));
    }
    return std::ranges::any_of(codes, [&](const std::string& code) { return uses(code, name); });
  };
  for (const auto& [name, is_own] : found) {
    const std::string meant = nearest_name(name, missing);
    // What modules define serves others, too.
    const bool may_be_slip = is_own && !meant.empty() && edit_distance(name, meant) == 1;
    if (!may_be_slip || std::ranges::find(wanted, name) != wanted.end() || is_used(name)) continue;
    throw Error(text(file_, ": the table that function(options) returns has a function '", name,
                     "', which nothing uses; did you mean '", meant, "'?"));
  }
}

void ScriptObject::seed(std::uint64_t seed) {
  protect(state_, 0, 0, [this, seed](lua_State* inner) noexcept {
    lua_rawgeti(inner, LUA_REGISTRYINDEX, randomseed_);
    lua_pushinteger(inner, static_cast<lua_Integer>(seed));
    lua_call(inner, 1, 0);
    lua_settop(inner, 0);
  });
}

void ScriptObject::push_list(lua_State* state, std::span<const float> values) {
  create_list(state, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    lua_pushnumber(state, values[i]);
    lua_rawseti(state, -2, static_cast<lua_Integer>(i) + 1);
  }
}

void ScriptObject::take(int index, std::string_view what, std::span<float> out) {
  const auto refuse = [&](const std::string& complaint) {
    clear();
    throw Error(text(file_, ": ", what, " must be ", complaint));
  };
  index = lua_absindex(state_, index);
  const bool is_table = lua_type(state_, index) == LUA_TTABLE;
  if (!is_table || lua_rawlen(state_, index) != out.size())
    refuse(text("a list of ", out.size(), " numbers, got ",
                is_table ? text(lua_rawlen(state_, index), " values") : describe_value(state_, index)));
  reserve(state_, 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool is_number = lua_rawgeti(state_, index, static_cast<lua_Integer>(i) + 1) == LUA_TNUMBER;
    out[i] = is_number ? static_cast<float>(lua_tonumberx(state_, -1, nullptr)) : NAN;
    if (!std::isfinite(out[i])) refuse(text("finite numbers, got ", describe_value(state_, -1), " at ", i + 1));
    lua_pop(state_, 1);
  }
}

}  // namespace iap::lua
