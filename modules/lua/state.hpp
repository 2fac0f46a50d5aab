#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "lua/library.hpp"
#include "lua/meter.hpp"
#include "lua/protect.hpp"
import iap.core;

namespace iap::lua {

/// lua_newstate. @throws Error where the program exports functions of another Lua, which take the place of ours.
lua_State* new_state(lua_Alloc allocate, void* data);

/// The text of a file as Lua's own loader takes it: without a byte order mark, as editors on Windows write it, and without
/// "#!/usr/bin/env iap". The end of that line stays and keeps the line numbers.
std::string_view program_in(std::string_view file);

/// A Lua state of its own.
class State {
 public:
  /// With the standard libraries. @throws Error when memory runs out.
  State();
  /// A state for text that came out of the file `loaded_from`, which somebody else may have written. It has the language and the
  /// libraries coroutine, string (without dump), table, math and utf8; of os only clock, date, difftime and time; no io, debug and
  /// package; no load, loadfile, dofile, collectgarbage and warn; no finalizers (__gc), no weak keys alone, no look at the strings'
  /// metatable. Calling what is missing is an error that names it and the remedy. `require` finds the texts of `modules`
  /// (name -> text) alone; print writes to the standard error, without control characters. What it uses is counted (Meter). Every
  /// such state is opened here. `library`, if there is one, opens what `require "iap"` gives. @throws Error.
  static State confined(const std::string& loaded_from, const Config& modules, Opener library = nullptr,
                        const Allowance& allowance = {});
  ~State();
  State(State&& other) noexcept;
  State& operator=(State&& other) noexcept;

  lua_State* get() const { return state_; }
  operator lua_State*() const { return state_; }

  /// Makes running Lua code notice `interrupt_requested()`; costs speed, so for states that no signal handler can reach. Confined
  /// ones do by themselves.
  void watch_for_interrupts();
  /// `require` also looks into `folder`, or says why not: Lua's patterns cannot name one with ';' or '?' in its name.
  void search(const std::filesystem::path& folder);
  /// For a state with all libraries: `library` opens what `require "iap"` gives. @throws LuaError.
  void provide(Opener library);
  /// For a state with all libraries: `require` takes a module's text from `modules` (name -> text) where it stands there, and keeps
  /// the texts of those that it finds on the disk. Once, before any code runs. @throws LuaError.
  void keep_modules(const Config& modules);
  /// The texts that `keep_modules` began with, those of the modules required since, and those that any of these or `source` mention
  /// as require "name": what `source` needs elsewhere. @throws LuaError.
  Config kept_modules(std::string_view source);
  /// Pushes the chunk as a function; `name` as Lua takes it ("=input", "@file.lua"). Of a file's it takes what `program_in` says.
  /// @throws Error naming it (and the line) if it cannot be parsed.
  void load_text(std::string_view chunk, const std::string& name);

 private:
  explicit State(lua_State* state, std::unique_ptr<Meter> meter = nullptr);

  std::unique_ptr<Meter> meter_;  ///< of a confined state, which it outlives
  lua_State* state_;
  int collect_ = LUA_NOREF;  ///< in the registry: the function behind `kept_modules`
};

}  // namespace iap::lua
