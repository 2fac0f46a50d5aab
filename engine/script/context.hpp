#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "lua/lua.hpp"
import iap.core;
import iap.script;

namespace iap {

/// The settings of the run that a state belongs to, and what became of them.
class RunContext {
 public:
  explicit RunContext(RunSettings settings);

  /// Makes the context reachable from functions that Lua calls; it must outlive the state.
  void attach(lua_State* state);
  /// The context of a state, or nullptr: a state of a host that has none, such as the stock interpreter.
  static RunContext* of(lua_State* state);

  const RunSettings& settings() const { return settings_; }
  /// Text of the running script.
  std::string script;
  /// The script as the run's folder keeps it: with the overrides on top.
  std::string experiment() const;

  /// Overrides the options of iap.train with everything that neither iap.options nor iap.run_folder took: a script that trains
  /// several runs gives each its own seed and folder.
  void apply_to_training(Config& options);
  /// Overrides entries of `defaults`, the options that the script itself declares; --seed and --out are those called seed and out.
  /// What is left must be options of iap.train if the script calls that (`training`), and nothing at all if it does not.
  /// @throws Error naming an override that neither has, or that changes a type.
  void declare(Config& defaults, bool training);
  std::filesystem::path run_folder(const std::string& fallback);
  int threads() const { return settings_.threads.value_or(0); }

  /// @throws Error naming the first override that nothing used.
  void check_all_used() const;

 private:
  struct Override {
    std::string path, value;
    bool taken_by_script = false, used = false;
  };

  /// @throws Error if neither the script nor, with `training`, iap.train has such an option.
  void check_known(const Override& entry, bool training) const;
  /// @throws Error naming --seed, --out or --resume if a script that does not train has no use for it.
  void check_flags_used() const;

  RunSettings settings_;
  std::vector<Override> overrides_;
  std::set<std::string> declared_;
  bool trained_ = false, seed_used_ = false, out_used_ = false;
  bool seed_taken_by_script_ = false, out_taken_by_script_ = false;
};

}  // namespace iap
