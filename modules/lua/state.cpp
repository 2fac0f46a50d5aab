#include "lua/state.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/fork_mutex.hpp"
#include "lua/ordered_pairs.hpp"
#include "lua/tables.hpp"

namespace iap::lua {
namespace {

/// Once an interrupt was asked for, every further instruction fails, so that pcall cannot swallow it. One instruction may keep a
/// library busy for tens of milliseconds, so the looks are close together; they cost less than one percent, as most is paid for
/// having a hook at all.
void stop_if_interrupted(lua_State* state, lua_Debug*) {
  constexpr int instructions = 100;
  const bool stop = interrupt_requested();
  const int wanted = stop ? 1 : instructions;
  if (lua_gethookcount(state) != wanted) lua_sethook(state, stop_if_interrupted, LUA_MASKCOUNT, wanted);
  if (stop) raise_interrupted(state);
}

/// What is wrong if the program has another Lua inside and exports it: the loader prefers that, function by function, and takes
/// from our library what the other does not have. lua_newuserdatauv came with 5.4.
std::string other_lua() {
  Dl_info old{}, recent{};
  if (!dladdr(reinterpret_cast<const void*>(&lua_newstate), &old) ||
      !dladdr(reinterpret_cast<const void*>(&lua_newuserdatauv), &recent) || old.dli_fbase == recent.dli_fbase)
    return "";
  return text("another Lua is in the way: lua_newstate is that of '", old.dli_fname, "', not of '", recent.dli_fname,
              "'; link the program so that it does not export its Lua (-Wl,--exclude-libs,ALL), or load iap with RTLD_DEEPBIND");
}

/// @throws Error.
void require_own_lua() {
  const Unforked whole;  // the first call finds out, and others wait for it
  static const std::string other = other_lua();
  if (!other.empty()) throw Error(other);
}

}  // namespace

std::string_view program_in(std::string_view file) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (file.starts_with(byte_order_mark)) file.remove_prefix(byte_order_mark.size());
  if (file.starts_with('#')) file.remove_prefix(std::min(file.find('\n'), file.size()));
  return file;
}

lua_State* new_state(lua_Alloc allocate, void* data) {
  require_own_lua();
  return lua_newstate(allocate, data);
}

State::State(lua_State* state, std::unique_ptr<Meter> meter) : meter_(std::move(meter)), state_(state) {
  if (!state_) throw Error("no memory for a Lua state");
}

State::State() : State((require_own_lua(), luaL_newstate())) {
  protect(state_, 0, 0, [](lua_State* inner) noexcept {
    luaL_openlibs(inner);
    order_pairs(inner);
  });
}

State::~State() {
  if (state_) lua_close(state_);
}

State::State(State&& other) noexcept
    : meter_(std::move(other.meter_)), state_(std::exchange(other.state_, nullptr)), collect_(other.collect_) {}

State& State::operator=(State&& other) noexcept {
  std::swap(meter_, other.meter_);
  std::swap(state_, other.state_);
  std::swap(collect_, other.collect_);
  return *this;
}

void State::watch_for_interrupts() {
  if (!meter_) lua_sethook(state_, stop_if_interrupted, LUA_MASKCOUNT, 1);
}

namespace {

/// A searcher that finds nothing and says why, which is its first upvalue.
int find_nothing(lua_State* state) {
  lua_pushvalue(state, lua_upvalueindex(1));
  return 1;
}

/// Patterns of package.path part at ';', and have a module's name in the place of '?': they would lead to other files than those of
/// such a folder.
bool has_pattern(const std::filesystem::path& folder) { return folder.native().find_first_of(";?") != std::string::npos; }

}  // namespace

void State::search(const std::filesystem::path& folder) {
  if (has_pattern(folder)) {
    const std::string reason =
        "no module is looked for in '" + folder.string() + "', as Lua reads ';' and '?' otherwise; rename it";
    protect(state_, 0, 0, [&reason](lua_State* inner) noexcept {
      lua_getglobal(inner, "package");
      lua_getfield(inner, -1, "searchers");
      lua_pushlstring(inner, reason.data(), reason.size());
      lua_pushcclosure(inner, find_nothing, 1);
      lua_rawseti(inner, -2, luaL_len(inner, -2) + 1);
      lua_settop(inner, 0);
    });
    return;
  }
  const std::string pattern = ((folder.empty() ? "." : folder) / "?.lua").string();
  protect(state_, 0, 0, [&pattern](lua_State* inner) noexcept {
    lua_getglobal(inner, "package");
    lua_pushlstring(inner, pattern.data(), pattern.size());
    lua_pushliteral(inner, ";");
    lua_getfield(inner, -3, "path");
    lua_concat(inner, 3);
    lua_setfield(inner, -2, "path");
    lua_settop(inner, 0);
  });
}

void State::provide(Opener library) {
  protect(state_, 0, 0, [library](lua_State* inner) noexcept {
    luaL_getsubtable(inner, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    library(inner);
    lua_setfield(inner, 1, "iap");
    lua_settop(inner, 0);
  });
}

void State::load_text(std::string_view chunk, const std::string& name) {
  const Meter::Call metered(state_);
  if (meter_) meter_->charge_program(std::string_view(name).substr(1), chunk.size());
  reserve(state_, 1);
  if (name.starts_with('@')) chunk = program_in(chunk);
  // Text only: malformed bytecode can crash the interpreter.
  if (luaL_loadbufferx(state_, chunk.data(), chunk.size(), name.c_str(), "t") == LUA_OK) return;
  const std::string raised(string_at(state_, -1)), message = meter_ ? printable(raised) : raised, shown = name.substr(1);
  lua_pop(state_, 1);
  if (meter_) meter_->refuse_past();
  // Syntax errors begin with the name and the line; a refused binary does not.
  throw LuaError(message.find(':') == std::string::npos ? text(shown, ": ", message) : message);
}

}  // namespace iap::lua
