module;
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lua/bounded.hpp"
#include "script/context.hpp"
#include "script/faces.hpp"
module iap.script;
import iap.core;
import iap.train;
#include "core/nested_names.hpp"
#include "script/impl.hpp"

namespace iap {
namespace {

/// Once an interrupt was asked for, every further Lua instruction fails, so that a script's pcall cannot swallow it. C functions
/// (closing files, destroying objects) still run. An interrupt that a prompt took back before Lua ran stops nothing.
void stop(lua_State* state, lua_Debug*) {
  if (!interrupt_requested()) lua_sethook(state, nullptr, 0, 0);
  // Looks again: the signal may have come in between.
  if (!interrupt_requested()) return;
  lua_sethook(state, stop, LUA_MASKCOUNT, 1);
  lua::raise_interrupted(state);
}

/// Hook of every coroutine: a signal handler reaches the main thread alone, which has no hook until then, because a hook takes a
/// little of every instruction. What an interrupt leaves alive at a prompt goes on afterwards.
void stop_if_interrupted(lua_State* state, lua_Debug*) {
  constexpr int instructions = 100;
  const bool stops = interrupt_requested();
  const int wanted = stops ? 1 : instructions;
  if (lua_gethookcount(state) != wanted) lua_sethook(state, stop_if_interrupted, LUA_MASKCOUNT, wanted);
  if (stops) lua::raise_interrupted(state);
}

/// It looks at its first instruction, then now and then: a coroutine that begins after the interrupt gets nowhere.
void watch(lua_State* thread) { lua_sethook(thread, stop_if_interrupted, LUA_MASKCOUNT, 1); }

/// coroutine.create.
int create_watched(lua_State* state) {
  const int results = lua::run_original(state);
  watch(lua_tothread(state, -1));
  return results;
}

/// coroutine.wrap, whose function has the thread as its upvalue.
int wrap_watched(lua_State* state) {
  const int results = lua::run_original(state);
  lua_getupvalue(state, -1, 1);
  watch(lua_tothread(state, -1));
  lua_pop(state, 1);
  return results;
}

/// As a signal handler may.
void stop_at_once(lua_State* main, int signal) noexcept {
  request_interrupt(signal);
  lua_sethook(main, stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/// Whether the three results on top are those of a program that Ctrl-C ended, by itself or as shells put it.
bool ended_by_interrupt(lua_State* state) {
  if (lua_type(state, -2) != LUA_TSTRING) return false;
  const auto how = lua::string_at(state, -2);
  return (how == "signal" && lua_tointeger(state, -1) == SIGINT) || (how == "exit" && lua_tointeger(state, -1) == 128 + SIGINT);
}

/// os.execute. While a program runs, system() has this process ignore Ctrl-C: all that it leaves is how the program ended. Not so
/// popen and file:close, during which the signal's own handler runs.
int execute_watched(lua_State* state) {
  const int results = lua::run_original(state);
  if (results != 3 || !ended_by_interrupt(state)) return results;
  lua_rawgeti(state, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State* main = lua_tothread(state, -1);
  lua_pop(state, 1);
  stop_at_once(main, SIGINT);
  if (state != main) watch(state);
  return results;
}

/// Message handler: "message\0traceback".
int add_traceback(lua_State* state) {
  if (!lua_isstring(state, 1) && luaL_getmetafield(state, 1, "__tostring") == LUA_TNIL) {
    constexpr int raiser = 2;  // above error() itself; of what is no text Lua keeps no place
    luaL_where(state, raiser);
    lua_pushfstring(
        state,
        "%sraised no text but a value of type %s; raise a text, such as error(\"what is wrong\"), or a table with __tostring",
        lua_tostring(state, -1), luaL_typename(state, 1));
    lua_replace(state, 1);
  }
  luaL_tolstring(state, 1, nullptr);
  lua_pushlstring(state, "", 1);
  luaL_traceback(state, state, nullptr, 1);
  lua_concat(state, 3);
  return 1;
}

}  // namespace

Script::Impl::Impl(RunSettings settings) : context(std::move(settings)) {
  context.attach(lua);
  const bool answers_interrupts = context.settings().answers_interrupts;
  lua::protect(lua, 0, 0, [answers_interrupts](lua_State* inner) noexcept {
    luaL_getsubtable(inner, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(inner, open_iap);
    lua_setfield(inner, -2, "iap");
    lua_getglobal(inner, LUA_COLIBNAME);
    lua::wrap_function(inner, "create", create_watched);
    lua::wrap_function(inner, "wrap", wrap_watched);
    if (answers_interrupts) {
      lua_getglobal(inner, LUA_OSLIBNAME);
      lua::wrap_function(inner, "execute", execute_watched);
    }
    lua_settop(inner, 0);
  });
}

void Script::Impl::run(int results, int arguments) {
  lua::reserve(lua, 1);
  lua_pushcfunction(lua, add_traceback);
  lua_insert(lua, 1);
  const int status = lua_pcall(lua, arguments, results, 1);
  lua_remove(lua, 1);
  end_call();
  if (status == LUA_OK) return;
  const std::string message(lua_type(lua, -1) == LUA_TSTRING ? lua::string_at(lua, -1) : "error object is not a string");
  lua_settop(lua, 0);
  const auto end = std::min(message.rfind('\0'), message.size());
  std::string line = lua::without_zeros(message.substr(0, end));
  if (line.ends_with("(global 'iap')")) line += "; a script begins with: local iap = require \"iap\"";
  if (context.settings().single && context.folder_in_use()) throw FolderInUse(line);
  throw ScriptError(line, end == message.size() ? "" : message.substr(end + 1));
}

void Script::Impl::end_call() {
  lua_sethook(lua, nullptr, 0, 0);
  const bool interrupted = interrupt_requested();
  clear_interrupt();
  if (!interrupted) return;
  lua_settop(lua, 0);
  throw Interrupted();
}

Script::Script(RunSettings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}
Script::Script(Script&&) noexcept = default;
Script& Script::operator=(Script&&) noexcept = default;
Script::~Script() = default;

void Script::Impl::run_file(const std::filesystem::path& path) {
  prepare([&] {
    const auto& words = context.settings().arguments;
    lua::push_config(lua, Config::List(words.begin(), words.end()));
    const std::string name = path.string();
    lua::protect(lua, 1, 0, [&name](lua_State* inner) noexcept {
      lua_pushlstring(inner, name.data(), name.size());
      lua_rawseti(inner, 1, 0);
      lua_setglobal(inner, "arg");
    });
    lua.search(path.parent_path());
    context.script = read_file(path);  // once, because a pipe gives it only once
    lua.load_text(program_of(context.script), "@" + path.string());
    for (const auto& word : words) lua::push_string(lua, word);
  });
  context.file = path;
  // Until a training begins, nobody knows whether one goes on.
  const NestedNamesJudged judged(context.resumes() ? JudgedNames::none : judged_names());
  run(0, static_cast<int>(context.settings().arguments.size()));
}

void Script::run_file(const std::filesystem::path& path) {
  impl_->run_file(path);
  impl_->context.check_all_used();
}

void Script::run_text(std::string_view chunk, const std::string& name) {
  impl_->prepare([&] { impl_->lua.load_text(chunk, name); });
  impl_->context.script = chunk;
  impl_->run(0);
  impl_->context.check_all_used();
}

std::string Script::continuation() const { return impl_->context.continuation(); }

void Script::interrupt(int signal) noexcept { stop_at_once(impl_->lua, signal); }

Override read_override(std::string_view assignment, std::string_view example) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw Error(text("--set ", assignment, ": write it as path=value, such as ", example));
  std::string_view value = assignment.substr(equals + 1);
  // JSON may have blanks around it; null is looked for by its letters.
  constexpr std::string_view null = "null", blanks = " \t\r\n";
  if (const auto begin = value.find_first_not_of(blanks); begin != std::string_view::npos)
    if (value.substr(begin, value.find_last_not_of(blanks) + 1 - begin) == null) value = null;
  return {std::string(assignment.substr(0, equals)), std::string(value)};
}

bool is_of_script(std::string_view experiment, std::string_view script) {
  const auto plain = [](std::string_view text) {
    const std::string_view body = script_of(text);
    std::string lines;
    for (std::size_t i = 0; i < body.size(); ++i)
      if (!body.substr(i).starts_with("\r\n")) lines += body[i];
    return lines;
  };
  return plain(experiment) == plain(script);
}

std::string_view version() { return IAP_VERSION; }

}  // namespace iap
