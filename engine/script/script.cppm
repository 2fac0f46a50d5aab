module;
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
export module iap.script;
import iap.core;
import iap.train;

export namespace iap {

/// What the command line adds to a script: arguments, and overrides of the options that the script gives to `iap.train` and
/// `iap.options`.
struct RunSettings {
  std::vector<std::string> arguments;        ///< reach the script as `arg[1]`, `arg[2]`, ...
  std::vector<std::string> overrides;        ///< "env.action_repeat=2"; list positions count from 1: "policy.blocks.1.top=5"
  std::optional<std::uint64_t> seed;         ///< option `seed`
  std::optional<int> threads;                ///< option `threads`
  std::optional<std::filesystem::path> out;  ///< option `out`
  bool resume = false;                       ///< option `resume`
  bool single = false;                       ///< a second training is refused, as `iap sweep` needs it
  /// Ctrl-C ends in `Script::interrupt` here: one that only a program of os.execute met does, too. system() keeps it from the
  /// process.
  bool answers_interrupts = false;
  std::string program = "iap";  ///< how the user calls the program, for commands that messages show
  std::string instructions;     ///< `--instructions`, for the same commands
};

/// What a script would train.
struct Rehearsal {
  int trainings = 0;                         ///< that it begins; 2 stands for more than one
  std::shared_ptr<const TrainingPlan> plan;  ///< of the first one
  std::filesystem::path out;                 ///< its folder, or ""
};

/// One of `overrides`, taken apart.
struct Override {
  std::string path, value;
};

/// Reads "path=value". @throws Error with `example` for anything else.
Override read_override(std::string_view assignment, std::string_view example);

/// `name` with `value` at its end as a part of a file's name: runs of what shells or file systems could take amiss become _.
void append_plain(std::string& name, std::string_view value);
/// What of a file's name is kept where file systems refuse longer ones: its beginning, and a hash of all of it.
std::string shortened_name(const std::string& name);

/// Whether `experiment`, the experiment.lua of a run, is of a script with the text `script`. The lines about the run that stand
/// before it do not count, nor do the ends of lines, which Lua reads alike.
bool is_of_script(std::string_view experiment, std::string_view script);

/// A script that failed. `what()` is one line that starts with "file:line:"; the Lua stack stands apart.
class ScriptError : public Error {
 public:
  ScriptError(const std::string& message, std::string traceback) : Error(message), traceback_(std::move(traceback)) {}
  const std::string& traceback() const { return traceback_; }

 private:
  std::string traceback_;
};

/// A Lua state with the standard libraries and `iap`, for scripts and for a prompt. Not thread-safe.
class Script {
 public:
  /// @throws Error naming an override that is not "path=value".
  explicit Script(RunSettings settings = {});
  Script(Script&&) noexcept;
  Script& operator=(Script&&) noexcept;
  ~Script();

  /// Runs a file; `require` finds modules in its folder. @throws ScriptError; Interrupted after `interrupt`; Error naming an
  /// override that nothing used.
  void run_file(const std::filesystem::path& path);
  /// Runs a file to learn what it would train: iap.train builds everything, plays no episode, writes nothing and returns
  /// evaluations of 0. From then on the script ends, without an error, where it opens or changes a file, saves a policy or a
  /// picture, calls a program or begins a second training; reports are not made. Nothing is printed, but `aloud` what it prints
  /// until then. The Script is of no further use. @throws as run_file for what fails until then, also for os.exit; overrides that
  /// nothing used are not looked for where there is no training.
  Rehearsal rehearse(const std::filesystem::path& path, bool aloud = false);
  /// Runs `chunk`, which messages call `name`. @throws as run_file.
  void run_text(std::string_view chunk, const std::string& name);

  struct Reply {
    bool incomplete = false;  ///< the input is the beginning of a chunk; nothing ran
    std::string text;         ///< the values of an expression as the prompt shows them, "" if there are none
  };
  /// Runs one input of a prompt: an expression, "=expression" or statements. @throws as run_file.
  Reply evaluate(std::string_view input);
  /// The full forms of `prefix` ("iap.env.ma"), sorted. Looks at values without running anything.
  std::vector<std::string> complete(std::string_view prefix) const;

  /// After an interrupt: what is left of the training, and the command that continues it; "" if the script trained nothing.
  std::string continuation() const;

  /// Stops the running script: at once in Lua, within 2000 instructions in a coroutine, within a step in C++; `signal` as
  /// request_interrupt has it. Async-signal-safe.
  void interrupt(int signal = 0) noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Tells iap.policy and iap.envs how to build the blocks and environments that are written in Lua. Programs call it once before
/// they load or build such; `import iap;`, the C interface, `Script` and the loadable Lua module have done so. Thread-safe.
void register_lua() noexcept;
/// The blocks alone, for programs without environments.
void register_lua_blocks() noexcept;

/// Reads a table of plain values, as JSON or in Lua: { name = "cheetah-run", pixels = { 64, 64 } }. The text is data: Lua finds
/// nothing there to call, and neither much time nor much memory: a million values and 64 MiB of text at most. @throws Error that
/// begins with `source`, and the line.
Config parse_table(std::string_view text, const std::string& source);

/// What the Lua reference says of `name`: "iap.attention.rank", "rank", "env:step", "cheetah-run", an option such as "sigma"; of ""
/// the list of areas. For a terminal of 96 columns. @throws Error with the nearest names where there is no such name.
std::string help_text(std::string_view name);

/// The version of this engine, such as "0.2.0".
std::string_view version();

}  // namespace iap
