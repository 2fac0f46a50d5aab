#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lua/state.hpp"
import iap.core;

namespace iap::lua {

/// In a table inside the options: a name that is there, and the one that it may be a slip for.
struct Slip {
  std::string table;  ///< its path with a point behind it: "physics."
  std::string given, meant;
};

/// Notes what a file asks of the tables inside its options while its function runs. They stay plain tables, which have what they
/// had: what is there is read unseen, and only what is asked for in vain is noted. To learn whether a name that is there is read at
/// all takes a run of its own (`withheld`).
class NestedOptions {
 public:
  /// Watches the tables inside the one at the top of the stack. What `withheld` names as given is handed out when it is asked for,
  /// and only then. Before any code of the file runs. @throws LuaError.
  void watch(State& state, std::span<const Slip> withheld);
  /// Leaves the tables as they would be without. @throws LuaError.
  void end(lua_State* state);

  /// The names in `options` that may be slips: none of `texts` has them as a word, and one like them was asked for in vain, or
  /// stands both beside them and in the texts.
  std::vector<Slip> slips(const Config& options, std::span<const std::string_view> texts) const;
  /// Of what was withheld, what nobody asked for.
  std::vector<Slip> unread(std::span<const Slip> withheld) const;

 private:
  int end_ = LUA_NOREF;     ///< in the registry
  Config missed_, hidden_;  ///< tables of names by the path of their table
};

}  // namespace iap::lua
