#pragma once
// Part of the module's implementation units: include it after `module iap.script;`.

namespace iap {

struct Script::Impl {
  RunContext context;
  lua::State lua;

  explicit Impl(RunSettings settings);
  /// Calls the function on the stack, the only value there. @throws ScriptError, Interrupted.
  void run(int results);
};

}  // namespace iap
