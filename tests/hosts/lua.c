/* A host with a Lua of its own, whose state has io and os, uses the library and prints what it finds: lua local|global|deepbind.
 * Its own state goes on as if nothing had been. */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <string.h>

#include "host.h"

static lua_State* state;
static int turns;

static void run(const char* text) {
  if (luaL_loadstring(state, text) || lua_pcall(state, 0, 0, 0)) expect(0, "%s", lua_tostring(state, -1));
}

/* Coroutines, errors, files and programs of the host's own Lua, between and after the library's calls. */
static void go_on(void) {
  run("turns = turns + 1; local ok, err = pcall(error, 'mine'); assert(not ok and err == 'mine')"
      " assert(coroutine.wrap(function() coroutine.yield(turns) end)() == turns)"
      " kept[turns % 100] = ('x'):rep(turns) assert(io.open('/dev/null')):close() assert(os.getenv('PATH'))"
      " if turns % 10 == 0 then collectgarbage() end");
  ++turns;
}

int main(int count, char** words) {
  if (count != 2) return 2;
  const int mode = strcmp(words[1], "global") == 0     ? RTLD_GLOBAL
                   : strcmp(words[1], "deepbind") == 0 ? RTLD_LOCAL | RTLD_DEEPBIND
                                                       : RTLD_LOCAL;
  state = luaL_newstate();
  expect(state, "no state");
  luaL_openlibs(state);
  run("turns, kept = 0, {} os.setlocale('C') version = _VERSION");
  void* loaded = dlopen(HOSTS_USE, RTLD_NOW | mode);
  expect(loaded, "%s", dlerror());
  *(void (**)(void))dlsym(loaded, "at_each_finding") = go_on;
  struct findings found;
  ((void (*)(int, struct findings*))dlsym(loaded, "use_library"))(2, &found);
  for (size_t i = 0; i < found.count; ++i) printf("%s %llx\n", found.at[i].what, (unsigned long long)found.at[i].bits);
  dlclose(loaded);
  lua_getglobal(state, "turns");
  expect(turns > 50 && lua_tonumber(state, -1) == turns, "%d turns", turns);
  lua_getglobal(state, "version");
  expect(strcmp(lua_tostring(state, -1), LUA_VERSION) == 0, "the host's Lua is %s", lua_tostring(state, -1));
  lua_close(state);
  return 0;
}
