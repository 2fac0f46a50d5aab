#pragma once
// Part of the module's implementation units: include it after `module iap.script;`.

namespace iap {

struct Script::Impl {
  RunContext context;
  lua::State lua;

  explicit Impl(RunSettings settings);
  /// Runs a file; overrides that nothing used are not looked for. @throws as `run`; Error for what cannot be read or parsed.
  void run_file(const std::filesystem::path& path);
  /// Calls the function on the stack with what lies above it, the only values there. @throws ScriptError, Interrupted.
  void run(int results, int arguments = 0);
  /// Does by Lua what comes before a script's first line: an interrupt that ends it is one that ends the script.
  template <typename Work>
  void prepare(Work work) {
    try {
      work();
    } catch (const Error&) {
      end_call();
      throw;
    }
  }
  /// After Lua: takes back what an interrupt left. @throws Interrupted if there was one.
  void end_call();
};

}  // namespace iap
