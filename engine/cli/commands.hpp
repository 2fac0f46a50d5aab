#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

import iap.contract;
import iap.core;
import iap.policy;
import iap.ranks;
import iap.report;
import iap.rollout;
import iap.script;
import iap.train;

/// The commands of the `iap` program. Each prints its results to the standard output, returns an exit code, and throws iap::Error
/// for the door (main.cpp) to print.
namespace iap::cli {

/// What the program's exit code says; `busy` to a sweep alone: another process works in the folder of the run that it began.
enum Exit : int { success = 0, failure = 1, usage = 2, busy = 75, interrupted = 130 };

/// A policy and the environment that it plays in.
struct PolicySource {
  std::filesystem::path policy;        ///< a run folder or a policy file
  std::optional<PolicyChoice> choice;  ///< which of a run's policies
  std::optional<std::string> env;      ///< instead of the environment's name
  std::vector<std::string> overrides;  ///< "path=value" of the environment's options
  Trust trust = Trust::no;             ///< in Lua inside the policy file
};

struct EvalOptions {
  PolicySource source;
  std::optional<Fit> fit;  ///< how the policy follows to other image sizes
  int episodes = 100;
  std::uint64_t seed = 0;
  int threads = 0;
  Safeguards safeguards;                         ///< against environments that hang, crash or throw
  std::optional<std::filesystem::path> csv;      ///< one row per episode
  std::optional<std::filesystem::path> actions;  ///< one row per step, as the environment got it, in hexadecimal floats: exact
};

struct PlayOptions {
  PolicySource source;
  std::optional<std::filesystem::path> out;  ///< default: media/play.webp of the run, or the policy's name
  std::optional<Fit> fit;                    ///< how the policy follows to other image sizes
  std::string view = "overlay";
  int strip = 0;      ///< pictures side by side in one PNG instead of a video
  bool live = false;  ///< in a window instead
  VideoOptions video;
};

struct ReportCommand {
  std::vector<std::filesystem::path> runs;
  std::optional<std::filesystem::path> out;  ///< default: report.html in the run's folder, or here for several runs
  ReportOptions options;
};

struct WatchCommand {
  std::filesystem::path run;
  std::optional<std::filesystem::path> out;  ///< default: report.html in the run's folder
  int every = 5;                             ///< seconds between renewals, at least
  ReportOptions options;
};

struct ProbeCommand {
  PolicySource source;
  std::optional<Fit> fit;                    ///< how the policy follows to other image sizes
  std::optional<std::filesystem::path> csv;  ///< one row per block and variable
  std::optional<std::filesystem::path> png;  ///< the bar chart
  ProbeOptions options;
};

/// Every `of`-th run of a sweep, from the `number`-th on, counted from 1.
struct SweepPart {
  std::size_t number = 1, of = 1;
};

struct SweepCommand {
  std::filesystem::path file;
  RunSettings run;                ///< what all runs have in common; `out` is the sweep's folder, `seed` the first one
  std::vector<std::string> over;  ///< "path=value,value"
  int seeds = 1, jobs = 1;
  std::optional<int> halving;
  std::string metric = "eval";
  std::optional<SweepPart> part;
  bool collect = false, dry_run = false;
  /// Of several processes that share the runs; the first one tells of them and makes the table.
  int rank = 0, ranks = 1;
  std::string launch;              ///< what these processes have in common (`Launch::id`)
  std::vector<std::string> words;  ///< the command line, to show how to go on
};

struct CheckCommand {
  PolicySource source;  ///< `policy` may also name an environment
  ContractOptions options;
};

struct NewCommand {
  std::string name;          ///< of the folder, and of the script in it
  std::string task = "lua";  ///< or "mujoco"
};

struct VerifyCommand {
  RunSettings run;    ///< `arguments`: parts of policies' names; none for all
  bool list = false;  ///< what ships, instead of playing it
};

struct ImportOptions {
  std::filesystem::path file;                ///< published weights
  std::optional<std::filesystem::path> out;  ///< the policy file; by default `file` with the suffix .iap, if it is free
  std::optional<std::string> env;            ///< by default the one such weights were trained for
};

/// For commands that run a script. @throws Error for a policy or a run, saying what looks at it.
void check_is_script(const std::filesystem::path& file);
/// `sweep_process` is 0, or the number of the process whose sweep the run belongs to: the run ends with it.
int run(const std::filesystem::path& file, RunSettings settings, bool verbose, int sweep_process);
/// What the script would train, and how long that takes by episodes that are played for it; nothing is written.
int dry_run(const std::filesystem::path& file, RunSettings settings);
int sweep(const SweepCommand& command);
int repl(bool verbose);
int eval(const EvalOptions& options);
int play(const PlayOptions& options);
int report(const ReportCommand& command);
int watch(const WatchCommand& command);
int probe(const ProbeCommand& command);
int check(const CheckCommand& command);
int make_new(const NewCommand& command);
int verify(const VerifyCommand& command, bool verbose);
int import_agent(const ImportOptions& options);
int export_agent(const std::filesystem::path& policy, const std::filesystem::path& file, Trust trust);
int list(const std::string& what);
/// `job` is null where this process stands alone.
int doctor(const Job* job);
int bench(const std::string& name);

/// `name` if a folder may be called so. @throws Error.
std::string read_new_name(const std::string& name);
/// The size of a file that was written: "812 kB"; a pipe or a device is called that.
std::string file_size_text(const std::filesystem::path& path);
/// Prints one error line; the Lua stack as well if `verbose`.
void print_error(const std::exception& error, bool verbose);

}  // namespace iap::cli
