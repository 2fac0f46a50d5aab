#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "lua/protect.hpp"
import iap.core;

namespace iap::lua {

/// A Lua state of its own, with the standard libraries.
class State {
 public:
  /// @throws Error when memory runs out.
  State();
  ~State();
  State(State&& other) noexcept;
  State& operator=(State&& other) noexcept;

  lua_State* get() const { return state_; }
  operator lua_State*() const { return state_; }

  /// Makes running Lua code notice `interrupt_requested()`; costs speed, so for states that no signal handler can reach.
  void watch_for_interrupts();
  /// `require` also looks into `folder`.
  void search(const std::filesystem::path& folder);
  /// Pushes the chunk in `path` as a function and returns its text, read once because a pipe gives it only once. @throws Error
  /// naming path (and line) if it cannot be read or parsed.
  std::string load(const std::filesystem::path& path);
  /// As `load` for a text; `name` as Lua takes it ("=input", "@file.lua").
  void load_text(std::string_view chunk, const std::string& name);

 private:
  lua_State* state_;
};

}  // namespace iap::lua
