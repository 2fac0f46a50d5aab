#pragma once
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lua/state.hpp"
import iap.core;

namespace iap::lua {

/// In a table inside the options: a name that is there, and the one that was probably meant.
struct Slip {
  std::string table;  ///< its place with a point behind it: "physics."
  std::string given, meant;
};

/// Finds slips in the tables inside the options of a file, by a run of its function whose outcome nobody needs: there the names in
/// question are kept back until they are asked for, and what is asked for in vain is noted. For the rest the tables are what they
/// are in any other run.
class NestedOptions {
 public:
  /// Takes the names in `options`, of those that were set by themselves alone (`is_set_place`) or of `all`, that none of `texts`
  /// has: as a word, or, where they are none themselves, anywhere. Of the others those like which the texts have none are remarks,
  /// and so many that nobody can have written them are data. @throws Interrupted.
  NestedOptions(Config options, std::span<const std::string_view> texts, bool all);

  /// Whether there is nothing to find out.
  bool empty() const { return tables_.empty(); }
  /// Watches the tables inside the one at the top of the stack. Before any code of the file runs. @throws LuaError.
  void watch(State& state);
  /// After the function ran: notes what became of the names. @throws LuaError.
  void end(lua_State* state);
  /// Of the names that nobody asked for, those like which one was asked for in vain in the same table. Who sets one by itself may
  /// have meant any that the table has.
  std::vector<Slip> slips() const;

 private:
  struct Table {
    Config::List path;  ///< keys and positions that lead from the options to the table
    std::string place;
    const Config::Map* entries;
    Config::List names;  ///< kept back; null ones, which nobody can ask for, too
    std::set<std::string, std::less<>> unread = {};
    std::vector<std::string> missed = {};
  };

  Config options_;
  std::vector<Table> tables_;
  int end_ = LUA_NOREF;  ///< in the registry
};

}  // namespace iap::lua
