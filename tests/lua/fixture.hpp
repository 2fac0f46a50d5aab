#pragma once
#include <span>
#include <string>

#include "lua/lua.hpp"

/// Runs Lua text in a state; what it raises is returned, "" if nothing.
inline std::string run(iap::lua::State& state, const std::string& chunk) {
  const int status = luaL_loadbufferx(state, chunk.data(), chunk.size(), "=chunk", "t") || lua_pcall(state, 0, 0, 0);
  if (status == LUA_OK) return "";
  std::string message(iap::lua::string_at(state, -1));
  lua_pop(state, 1);
  return message;
}

/// Makes `functions` the global table `name`.
inline void install(iap::lua::State& state, const char* name, std::span<const iap::lua::Function> functions) {
  iap::lua::push_functions(state, name, ".", functions);
  lua_setglobal(state, name);
}
