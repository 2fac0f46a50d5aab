#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lua/lua.hpp"
#include "script/run_folders.hpp"
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
  /// The file that it came from; empty for text.
  std::filesystem::path file;
  /// The script as the run's folder `out` keeps it: with the overrides on top.
  std::string experiment(const std::string& out = "") const;

  /// Inputs of a prompt: an interrupted iap.train returns what it has, and the input's further trainings do not begin.
  void begin_input();
  bool at_prompt() const { return at_prompt_; }
  bool input_interrupted() const { return input_interrupted_; }
  /// Takes the interrupt back, so that the input goes on.
  void forgive_interrupt();

  /// There while the script is only rehearsed.
  std::optional<Rehearsal> rehearsal;
  /// Ends the rehearsed script, whose pcalls cannot prevent it, at the next instruction in Lua.
  void end_rehearsal(lua_State* state) const;
  /// What a rehearsal that ends here says.
  const char* last_words() const;
  /// What writes a file calls this before: a rehearsal ends there once it has trained, as it has no results. @throws Error then.
  static void begin_writing(lua_State* state);
  /// @throws Error for a second training where there may be but one; ends a rehearsal.
  void begin_training();

  /// Overrides the options of iap.train with everything that neither iap.options nor iap.run_folder took: a script that trains
  /// several runs gives each its own seed and folder. Returns where they lead in the options of what is written in Lua.
  std::vector<std::string> apply_to_training(Config& options);
  /// Overrides entries of `defaults`, the options that the script itself declares; --seed and --out are those called seed and out.
  /// What is left must be options of iap.train if the script calls that (`training`), and nothing at all if it does not.
  /// @throws Error naming an override that neither has, or that changes a type.
  void declare(Config& defaults, bool training);
  /// --out, or a folder by the name `fallback`: numbered (RunFolders); or, where `shared` lists the overrides that runs in one
  /// folder may differ in, one for each combination of the others.
  std::filesystem::path run_folder(const std::string& fallback, const std::vector<std::string>* shared);
  /// What became of a training, for `continuation`.
  struct Training {
    std::string out;
    std::uint32_t iteration = 0;
    int iterations = 0;
    bool interrupted = false;
  };
  void set_trained(Training training);
  /// Whether the last training was refused because another process works in its folder. In Lua an error is but its text.
  void set_folder_in_use(bool in_use) { folder_in_use_ = in_use; }
  bool folder_in_use() const { return folder_in_use_; }
  /// What is left after an interrupt, and the command that goes on; "" if nothing was trained.
  std::string continuation() const;
  int threads() const { return settings_.threads.value_or(0); }
  /// The options that the script has declared, as it got them: a table, or null without any. Those that runs in one folder may
  /// differ in (`run_folder`) are left out.
  const Config& own_options() const { return own_options_; }

  /// Whether runs go on, by --resume or by --set.
  bool resumes() const;

  /// @throws Error naming the first override that nothing used.
  void check_all_used() const;

 private:
  struct GivenOverride : Override {
    bool taken_by_script = false, used = false;
  };

  /// Of options that runs in one folder may differ in.
  void share(const std::vector<std::string>& options);

  /// @throws Error if the option has an option of the command line for itself (--seed), and that was given too.
  void check_set_once(const Override& entry) const;

  /// @throws Error if neither the script nor, with `training`, iap.train has such an option.
  void check_known(const GivenOverride& entry, bool training) const;
  /// @throws Error naming an argument that sets an option of the script, or of iap.train where it is `training`, if the script
  /// reads none: --set was forgotten.
  void check_arguments(bool training) const;
  /// @throws Error naming --seed, --out or --resume if a script that does not train has no use for it.
  void check_flags_used() const;
  /// Where the running script is found again; nothing where neither its file nor the folder of the last training has it.
  std::optional<std::filesystem::path> file_again() const;
  /// What goes on with the last training, where the word for the script is `script_word`.
  std::string command(const std::string& script_word) const;

  RunSettings settings_;
  RunFolders folders_;
  std::optional<Training> training_;
  lua_State* state_ = nullptr;
  bool at_prompt_ = false, input_interrupted_ = false;
  std::vector<GivenOverride> overrides_;
  std::set<std::string> declared_, shared_;
  Config own_options_;
  bool trained_ = false, folder_in_use_ = false, seed_used_ = false, out_used_ = false;
  bool seed_taken_by_script_ = false, out_taken_by_script_ = false;
  std::string out_name_;    ///< the name of iap.run_folder that --out stands for; "" while there is none
  bool out_given_ = false;  ///< a training without iap.run_folder has the folder that --out names
};

}  // namespace iap
