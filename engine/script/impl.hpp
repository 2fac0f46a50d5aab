#pragma once
// Part of the module's implementation units: include it after `module iap.script;`.

namespace iap {

struct Script::Impl {
  RunContext context;
  lua::State lua;

  explicit Impl(RunSettings settings);
  /// Runs a file; overrides that nothing used are not looked for. @throws as `run`; Error for what cannot be read or parsed.
  void run_file(const std::filesystem::path& path);
  /// Calls the function on the stack, the only value there. @throws ScriptError, Interrupted.
  void run(int results);
  /// After Lua: takes back what an interrupt left. @throws Interrupted if there was one.
  void end_call();
};

}  // namespace iap
