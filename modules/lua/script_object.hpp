#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lua/nested_options.hpp"
#include "lua/protect.hpp"
#include "lua/state.hpp"
import iap.core;

namespace iap::lua {

/// What a kind of object written in Lua has of its own.
struct ScriptSetting {
  Config shapes = {};         ///< second argument of `function(options, shapes)`
  bool may_be_table = false;  ///< whether the file may return the object itself instead of the function
  Opener library = nullptr;   ///< opens what `require "iap"` gives in the object's state
  Allowance allowance = {};   ///< what a text that came out of a file may use
};

/// An object written in Lua, with a state of its own: what `function(options, shapes)`, which its file returns, gave back.
/// Errors in its code name file and line; an interrupt stops it wherever it runs.
///
/// Three options belong to it, whatever the script reads:
///   source            the text, kept when a run or a policy is saved; without it the content of `file`
///   required_modules  texts of the modules that it requires, by name
///   loaded_from       the file that the text came out of, if it did: it then runs confined (State::confined), and nothing is read
///                     from the disk for it
class ScriptObject {
 public:
  /// Options that the constructor reads, or that the text or one of its modules mentions as "options.name", count as asked for. In
  /// the tables inside them a name is refused that no text mentions and the constructor does not read, where the constructor misses
  /// one like it: of a file, or as NestedNamesJudged says. @throws Error.
  ScriptObject(const std::string& file, Options& options, const ScriptSetting& setting = {});

  const std::string& file() const { return file_; }
  /// Whether its text is that of the file, not one that was stored.
  bool is_fresh() const { return fresh_; }
  lua_State* state() const { return state_; }
  /// The options that the script read, and its own three: what builds this object again without its file.
  const Config& config() const { return config_; }

  /// For an option that whoever builds the object fills in where it is not given: a file that reads it would read another value
  /// where it is built again. Stored texts go on as they did. @throws Error where the file has read it so; later it fails itself.
  void refuse_reading(std::string_view name);

  /// The object's own names, sorted. @throws Error naming the file for a key that is no string.
  std::vector<std::string> keys();
  /// Whether the object has an entry of its own.
  bool has(const char* name);
  /// An entry of the object as plain values. @throws Error naming the file and the entry.
  Config entry(const char* name);
  /// Whether the object has an entry through its metatable alone, where `entry` does not look; that of a stored text has none.
  /// @throws LuaError.
  bool inherits(const char* name);
  /// The registry index of a method; LUA_NOREF if it is missing and need not be there. @throws Error naming file and method.
  int method(const char* name, bool required);
  /// Where whoever builds the object looks for functions that it may do without. @throws Error where the object lacks one of them
  /// and has a function of its file with almost this name that nothing uses; where names in tables are judged.
  void refuse_misspelt(std::initializer_list<const char*> wanted);
  /// Makes math.random of this state a function of `seed`.
  void seed(std::uint64_t seed);

  /// Calls `method` with the object and what `push` (trivial, noexcept) pushes; `push` returns how many. `results` values are left
  /// as the only ones on the stack.
  template <typename Push>
  void invoke(int method, const char* name, int results, const Push& push) {
    run(method, name, results, [this, &push](lua_State* inner) noexcept {
      lua_rawgeti(inner, LUA_REGISTRYINDEX, self_);
      return 1 + push(inner);
    });
  }
  /// As `invoke`, without the object.
  template <typename Push>
  void run(int method, const char* name, int results, const Push& push) {
    clear();
    try {
      protect(state_, 0, results, [method, results, &push](lua_State* inner) noexcept {
        lua_rawgeti(inner, LUA_REGISTRYINDEX, method);
        lua_call(inner, push(inner), results);
      });
    } catch (const LuaError& error) {
      fail(name, error);
    }
  }

  /// For `push`: pushes `values` as a list of its own, which the script may change or keep.
  static void push_list(lua_State* state, std::span<const float> values);

  /// Reads the list of numbers at `index` into `out`. Allocates nothing. @throws Error naming the file, `what` and the element.
  void take(int index, std::string_view what, std::span<float> out);
  /// Drops everything on the stack.
  void clear() { lua_settop(state_, 0); }

 private:
  /// Runs the file's function, and takes nothing of what it gave back but the object. `nested`, if there is one, watches.
  ScriptObject(const std::string& file, Options& options, const ScriptSetting& setting, NestedOptions* nested);

  [[noreturn]] void fail(const char* method, const LuaError& error) const;
  void construct(const Config& values, const ScriptSetting& setting, NestedOptions* nested);
  void refuse_slips(Options& options, const ScriptSetting& setting, const std::vector<std::string>& read,
                    std::span<const std::string_view> texts) const;
  void keep_randomseed();
  std::vector<std::string> names_read();
  /// By their names, and whether the file's own text defines them.
  std::map<std::string, bool> functions();

  std::string file_, loaded_from_, source_;
  bool fresh_;   ///< whether the text is that of the file, not one that was stored
  bool judges_;  ///< whether names that a slip would leave unread are looked for, wherever they stand
  State state_;
  Config config_;
  int self_ = LUA_NOREF, randomseed_ = LUA_NOREF, refuse_ = LUA_NOREF;
};

}  // namespace iap::lua
