#include "lua/object.hpp"

#include <algorithm>
#include <utility>

#include "lua/call.hpp"
#include "lua/library.hpp"
#include "lua/meter.hpp"

namespace iap::lua {
namespace {

/// Its address marks our metatables: under it they keep their ClassInfo.
char class_key;

void release(lua_State* state) {
  const auto found = find_object(state, 1);
  if (!found.info || !found.box->object) return;
  found.box->object = nullptr;
  let_go(std::exchange(found.box->holding, nullptr));
}

/// __gc, __close and close(). Closing twice, or something else, does nothing; what a call uses is closed for all others, and
/// destroyed when that call ends.
int close_object(lua_State* state) {
  release(state);
  return 0;
}

int describe_object(Call& call) {
  const auto found = find_object(call.state(), 1);
  if (!found.info) throw Error("tostring: not an iap object");
  return call.give(found.box->object ? found.info->describe(found.box->object) : text(found.info->name, " (closed)"));
}

}  // namespace

void let_go(Holding* holding) noexcept {
  if (--holding->holders > 0) return;
  holding->info->destroy(holding->object);
  delete holding;
}

FoundObject find_object(lua_State* state, int index) {
  if (lua_type(state, index) != LUA_TUSERDATA || !lua_checkstack(state, 2) || !lua_getmetatable(state, index)) return {};
  const bool ours = lua_rawgetp(state, -1, &class_key) == LUA_TLIGHTUSERDATA;
  const auto* info = ours ? static_cast<const ClassInfo*>(lua_touserdata(state, -1)) : nullptr;
  lua_pop(state, 2);
  return {info, info ? static_cast<Box*>(lua_touserdata(state, index)) : nullptr};
}

void define_class(lua_State* state, const ClassInfo& info, std::span<const Function> methods) {
  luaL_checkstack(state, LUA_MINSTACK, info.name);
  lua_createtable(state, 0, 8);
  lua_pushlightuserdata(state, const_cast<ClassInfo*>(&info));
  lua_rawsetp(state, -2, &class_key);
  lua_pushfstring(state, "iap.%s", info.name);
  lua_pushvalue(state, -1);
  lua_setfield(state, -3, "__name");
  // getmetatable() returns this instead of the table, so that __gc cannot be called by hand.
  lua_setfield(state, -2, "__metatable");
  lua_pushcfunction(state, close_object);
  lua_setfield(state, -2, "__gc");
  lua_pushcfunction(state, close_object);
  lua_setfield(state, -2, "__close");
  lua_pushstring(state, "tostring");
  lua_pushcclosure(state, entry<describe_object>, 1);
  lua_setfield(state, -2, "__tostring");
  push_functions(state, info.name, ":", methods);
  lua_pushfstring(state, "%s:close", info.name);
  lua_pushcclosure(state, close_object, 1);
  lua_setfield(state, -2, "close");
  lua_setfield(state, -2, "__index");
  lua_rawsetp(state, LUA_REGISTRYINDEX, &info);
}

Box* push_box(lua_State* state, const ClassInfo& info) {
  protect(state, 0, 1, [&info](lua_State* inner) noexcept {
    auto* box = static_cast<Box*>(lua_newuserdatauv(inner, sizeof(Box), 0));
    *box = {nullptr, nullptr};
    if (lua_rawgetp(inner, LUA_REGISTRYINDEX, &info) != LUA_TTABLE)
      luaL_error(inner, "class %s is not defined in this state", info.name);
    lua_setmetatable(inner, -2);
  });
  return static_cast<Box*>(lua_touserdata(state, -1));
}

void account(lua_State* state, std::size_t bytes) {
  constexpr std::size_t worth_a_step = 1024, most = std::size_t{1} << 20;
  // A metered state's collector belongs to its meter.
  if (bytes >= worth_a_step && !Meter::of(state)) lua_gc(state, LUA_GCSTEP, static_cast<int>(std::min(bytes / 1024, most)));
}

}  // namespace iap::lua
