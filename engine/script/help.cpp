module;
#include <string>
#include <string_view>

#include "lua/lua.hpp"
module iap.script;
import iap.core;

namespace iap {

namespace embedded {
extern "C++" const std::string_view reference_reference_lua, reference_lookup_lua;
}

namespace {

/// The table that lookup.lua makes of the entries, on a state of its own.
class Reference {
 public:
  Reference() {
    state_.load_text(embedded::reference_lookup_lua, "=lookup.lua");
    lua::call(state_, 0, 1);
    state_.load_text(embedded::reference_reference_lua, "=reference.lua");
    lua::call(state_, 0, 1);
    lua::call(state_, 1, 1);
  }

  std::string help(std::string_view name) {
    lua::push_entry(state_, 1, "help");
    lua::push_string(state_, name);
    lua::call(state_, 1, 2);
    if (lua_type(state_, -2) != LUA_TSTRING) throw Error(std::string(lua::string_at(state_, -1)));
    return std::string(lua::string_at(state_, -2));
  }

 private:
  lua::State state_;
};

}  // namespace

std::string help_text(std::string_view name) { return Reference().help(name); }

}  // namespace iap
