#include "lua/protect.hpp"

#include "lua/meter.hpp"
#include "lua/object.hpp"

namespace iap::lua {
namespace {

/// What a stranger's program says, fit for a terminal.
std::string shown_message(const std::string& message) {
  constexpr std::size_t longest = 2000;
  return printable(message.substr(0, longest)) + (message.size() > longest ? " ..." : "");
}

/// The libraries' buffers have an error of their own.
bool lacks_memory(lua_State* state, int status) {
  return status == LUA_ERRMEM || (lua_type(state, -1) == LUA_TSTRING && string_at(state, -1) == "not enough memory");
}

/// Pushes what __tostring makes of the value, if that is a text.
int describe_itself(lua_State* state) {
  if (luaL_getmetafield(state, 1, "__tostring") == LUA_TNIL) return 0;
  lua_pushvalue(state, 1);
  lua_call(state, 1, 1);
  return lua_type(state, -1) == LUA_TSTRING ? 1 : 0;
}

/// The message of the error on top. A value that describes itself may do so.
std::string raised_text(lua_State* state) {
  if (lua_type(state, -1) == LUA_TSTRING) return without_zeros(string_at(state, -1));
  constexpr int slots = 2;
  if (lua_checkstack(state, slots)) {
    lua_pushcfunction(state, describe_itself);
    lua_pushvalue(state, -2);
    const int status = lua_pcall(state, 1, 1, 0);
    const std::string described(status == LUA_OK && lua_type(state, -1) == LUA_TSTRING ? string_at(state, -1) : "");
    lua_pop(state, 1);
    if (!described.empty()) return without_zeros(described);
  }
  return text(where(state), "raised no text but ", describe_value(state, -1),
              "; raise one, such as error(\"what is wrong\"), or a table with __tostring");
}

}  // namespace

void reserve(lua_State* state, int slots) {
  if (!lua_checkstack(state, slots)) throw Error("Lua's stack is exhausted");
}

void call(lua_State* state, int arguments, int results) {
  const int base = lua_gettop(state) - arguments - 1;
  std::string message;
  try {
    const Meter::Call metered(state);
    const auto refuse_past = [&metered] {
      if (metered.meter()) metered.meter()->refuse_past();
    };
    const int status = lua_pcall(state, arguments, results, 0);
    refuse_past();
    if (status == LUA_OK) return;
    if (metered.meter() && lacks_memory(state, status)) metered.meter()->refuse_memory();
    message = raised_text(state);
    refuse_past();
  } catch (const LuaError&) {
    lua_settop(state, base);
    throw;
  }
  lua_pop(state, 1);
  throw LuaError(Meter::of(state) ? shown_message(message) : message);
}

int keep(lua_State* state) {
  protect(state, 1, 1, [](lua_State* inner) noexcept { lua_pushinteger(inner, luaL_ref(inner, LUA_REGISTRYINDEX)); });
  const int reference = static_cast<int>(lua_tointegerx(state, -1, nullptr));
  lua_pop(state, 1);
  return reference;
}

void raise_interrupted(lua_State* state) {
  // The one text by which lua_error knows want of memory, which no handler is told of.
  lua_pushliteral(state, "not enough memory");
  lua_error(state);
}

std::string_view string_at(lua_State* state, int index) {
  std::size_t length = 0;
  const char* characters = lua_tolstring(state, index, &length);
  return {characters, length};
}

std::string without_zeros(std::string_view message) {
  std::string shown;
  for (const char c : message) c ? shown += c : shown += "\\0";
  return shown;
}

std::string describe_value(lua_State* state, int index) {
  switch (lua_type(state, index)) {
    case LUA_TNONE: return "nothing";
    case LUA_TNIL: return "nil";
    case LUA_TBOOLEAN: return lua_toboolean(state, index) ? "true" : "false";
    case LUA_TNUMBER:
      return lua_isinteger(state, index) ? text("a number (", lua_tointegerx(state, index, nullptr), ")")
                                         : text("a number (", lua_tonumberx(state, index, nullptr), ")");
    case LUA_TSTRING: {
      constexpr std::size_t longest = 40;
      const auto string = string_at(state, index);
      return text("the string '", string.substr(0, longest), string.size() > longest ? "...'" : "'");
    }
    case LUA_TUSERDATA: {
      const auto found = find_object(state, index);
      return found.info ? text("an object of type ", found.info->name) : "a userdata";
    }
    default: return text("a ", lua_typename(state, lua_type(state, index)));
  }
}

std::string where(lua_State* state) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(state, level, &frame); ++level) {
    lua_getinfo(state, "Sl", &frame);
    if (frame.currentline > 0) return text(frame.short_src, ":", frame.currentline, ": ");
  }
  return "";
}

}  // namespace iap::lua
