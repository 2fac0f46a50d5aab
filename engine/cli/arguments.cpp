#include "cli/arguments.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/sweep.hpp"
#include "cli/usage.hpp"
#include "cli/values.hpp"
import iap.bench;
import iap.core;
import iap.policy;
import iap.render;
import iap.report;
import iap.rollout;
import iap.script;
import iap.train;

namespace iap::cli {
namespace {

constexpr std::int64_t most_seed = std::numeric_limits<std::int64_t>::max();
constexpr int most_threads = 4096;

/// Whether the name of `file` ends so, in letters of either case; `ending` is in small ones.
bool ends_in(const std::filesystem::path& file, std::string_view ending) {
  std::string own = file.extension().string();
  std::ranges::transform(own, own.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return own == ending;
}

template <typename T>
struct Plain {
  using type = T;
};
template <typename T>
struct Plain<std::optional<T>> {
  using type = T;
};

/// An option that takes text; `value` names it in the help.
template <typename T>
CLI::Option* add_text(CLI::App& app, const std::string& name, T& target, const std::string& value, const std::string& help) {
  return app.add_option_function<std::string>(
                name, [&target](const std::string& given) { target = given; }, help)
      ->type_name(value);
}

/// An option that takes an integer in [low, high].
template <typename T>
CLI::Option* add_integer(CLI::App& app, const std::string& name, T& target, std::int64_t low, std::int64_t high,
                         const std::string& help) {
  const auto keep = [&target, name, low, high](const std::string& given) {
    target = static_cast<typename Plain<T>::type>(read_integer(name, given, low, high));
  };
  return app.add_option_function<std::string>(name, keep, help)->type_name("N");
}

/// The seed of an episode itself, not one from which episodes' seeds are derived: whatever is printed can be played again.
void add_episode_seed(CLI::App& app, std::uint64_t& target, const std::string& help) {
  app.add_option_function<std::string>(
         "--seed", [&target](const std::string& given) { target = read_seed("--seed", given); }, help)
      ->type_name("N");
}

template <typename T>
void add_threads(CLI::App& app, T& target) {
  add_integer(app, "--threads", target, 1, most_threads, "worker threads (default: all); changes no result");
}

void add_overrides(CLI::App& app, std::vector<std::string>& target, const std::string& help, const std::string& example) {
  app.add_option("--set", target, help)
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE")
      ->each([example](const std::string& given) { read_override(given, example); });
}

constexpr const char *script_example = "env.action_repeat=2", *env_example = "render.shadows=false";

void add_policy_choice(CLI::App& app, std::optional<PolicyChoice>& target) {
  app.add_option_function<std::string>(
         "--policy",
         [&target](const std::string& name) {
           target = read_choice("--policy", name, {"best", "final"}) == "final" ? PolicyChoice::final : PolicyChoice::best;
         },
         "of a run: best (its highest evaluation) or final (where training ended); default: best, or final where there is no best")
      ->type_name("NAME");
}

void add_fit(CLI::App& app, std::optional<Fit>& target) {
  app.add_option_function<std::string>(
         "--fit",
         [&target](const std::string& name) {
           const auto& names = fit_names();
           target = static_cast<Fit>(std::ranges::find(names, read_choice("--fit", name, names)) - names.begin());
         },
         "to other image sizes: resample what belongs to patches (default), or pool pixels to the trained size")
      ->type_name("NAME");
}

constexpr const char* policy_help = "run folder or policy file";

void add_trust(CLI::App& app, Trust& target) {
  app.add_flag_callback(
      "--trust", [&target] { target = Trust::yes; },
      "let Lua inside the policy file reach files and programs; only for files that you trust");
}

void add_policy(CLI::App& app, std::filesystem::path& target) { app.add_option("POLICY", target, policy_help)->required(); }

/// An option that takes a number in [low, high].
template <typename T>
CLI::Option* add_number(CLI::App& app, const std::string& name, T& target, double low, double high, const std::string& help) {
  const auto keep = [&target, name, low, high](const std::string& given) { target = read_number(name, given, low, high); };
  return app.add_option_function<std::string>(name, keep, help)->type_name("X");
}

/// Against environments that hang, crash or throw.
void add_safeguards(CLI::App& app, Safeguards& target) {
  app.add_flag("--isolate", target.isolate, "play episodes in processes of their own, which are replaced when they die");
  add_number(app, "--episode-timeout", target.episode_timeout, 0, 1e6,
             "seconds after which an episode is cut off and has failed (isolates; default: none)");
  add_integer(app, "--retries", target.retries, 0, 1000, "further attempts at an episode that failed (default: 1 where isolated)");
  add_number(app, "--failed-return", target.failed_return, -1e300, 1e300,
             "what an episode counts that failed in every attempt (default: that is an error)");
}

/// What changes the environment that a policy plays in.
void add_world(CLI::App& app, PolicySource& source) {
  add_text(app, "--env", source.env, "NAME",
           "another environment, with the options that its own was given; --set OPTION=null drops one (default: the one it was "
           "trained in)");
  add_overrides(app, source.overrides, "override an option of the environment (may be repeated)", env_example);
}

/// Its name is handed on in commands, where one that begins with - would be an option.
void add_script(CLI::App& app, std::filesystem::path& file, const std::string& text) {
  app.add_option_function<std::string>(
         "FILE", [&file](const std::string& given) { file = given.starts_with('-') ? "./" + given : given; }, text)
      ->type_name("TEXT")
      ->required();
}

void add_script_arguments(CLI::App& app, std::vector<std::string>& target) {
  app.add_option("ARGS", target, "reach the script as arg[1] ... and as its `...`; write -- before those that begin with -");
  // Where a command has all that it needs, the library hands "--" and what follows to its parent. Nothing ever reaches this one.
  app.add_option_function<std::string>("MORE", [](const std::string&) {})->group("");
}

void describe_run(CLI::App& app, Arguments& arguments) {
  add_script(app, arguments.file, "Lua script");
  add_script_arguments(app, arguments.run.arguments);
  add_overrides(app, arguments.run.overrides, "override an option of the script or of iap.train (may be repeated)", script_example);
  add_integer(app, "--seed", arguments.run.seed, 0, most_seed, "seed of the run (default: the script's)");
  add_threads(app, arguments.run.threads);
  add_text(app, "--out", arguments.run.out, "PATH",
           "folder of the run, or the file that the script writes (default: the script's)");
  app.add_flag("--resume", arguments.run.resume, "continue the run in its folder");
  app.add_flag("--dry-run", arguments.dry_run,
               "train nothing; print what would be trained, and how long that takes (a script without a training just runs)");
  add_integer(app, "--sweep-process", arguments.sweep_process, 1, std::numeric_limits<int>::max(), "")->group("");
  app.footer(
      "Examples:\n"
      "  iap run scripts/quickstart.lua\n"
      "  iap run scripts/quickstart.lua --seed 2 --out runs/two --set iterations=100 --set env.action_repeat=2\n"
      "  iap run scripts/attention_agent/figures.lua -- weights.npz");
}

void describe_sweep(CLI::App& app, SweepCommand& command) {
  auto& run = command.run;
  add_script(app, command.file, "Lua script that calls iap.train exactly once");
  add_script_arguments(app, run.arguments);
  app.add_option("--over", command.over, "an option and its values, as --set takes them (may be repeated: all combinations)")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE,VALUE")
      ->each([](const std::string& given) { read_swept_option(given); });
  add_overrides(app, run.overrides, "override an option of all runs (may be repeated)", script_example);
  add_integer(app, "--seeds", command.seeds, 1, 100000, "runs of each combination, with seeds one after another (default: 1)");
  add_integer(app, "--seed", run.seed, 0, most_seed, "the first seed (default: 1)");
  add_integer(app, "--jobs", command.jobs, 1, most_threads, "runs at a time, each a process (default: 1)");
  add_integer(app, "--threads", run.threads, 1, most_threads,
              "worker threads of each run (default: all cores shared by the jobs); changes no result");
  add_text(app, "--out", run.out, "FOLDER", "folder of the runs, table and page (default: runs/sweeps/ and the script's name)");
  add_integer(app, "--halving", command.halving, 2, 1000, "begin with short runs and let the best one of N go on, rung by rung");
  app.add_option_function<std::string>(
         "--metric", [&command](const std::string& name) { command.metric = read_choice("--metric", name, {"eval", "return"}); },
         "eval (the last evaluation, the default) or return (mean of the last population)")
      ->type_name("NAME");
  app.add_option_function<std::string>(
         "--job", [&command](const std::string& part) { command.part = read_sweep_part(part); },
         "run only every N-th run, from the I-th on: for a cluster's array of jobs")
      ->type_name("I/N");
  app.add_flag("--collect", command.collect, "run nothing; table and page of what is there");
  app.add_flag("--dry-run", command.dry_run, "check everything, list the runs and end");
  app.callback([&command] {
    if (command.part && command.collect) throw Error("--job and --collect: first run all parts, then collect");
    if (command.part && command.halving)
      throw Error("--job and --halving: which combinations go on is known only when all parts have ended; leave one out");
  });
  app.footer(
      "Started again it goes on where it was.\n"
      "Examples:\n"
      "  iap sweep scripts/quickstart.lua --over optimizer.sigma=0.05,0.1 --over policy.blocks.1.top=3,5 --seeds 3 --jobs 2\n"
      "  iap sweep scripts/quickstart.lua --over optimizer.sigma=0.02,0.05,0.1,0.2 --halving 2\n"
      "  iap sweep scripts/quickstart.lua --over env.pixels=[60,80],[120,160] --job 1/2");
}

void describe_eval(CLI::App& app, Arguments& arguments) {
  auto& options = arguments.eval;
  add_policy(app, options.source.policy);
  add_integer(app, "--episodes", options.episodes, 1, 1000000, "number of episodes (default: 100)");
  add_policy_choice(app, options.source.choice);
  add_world(app, options.source);
  add_fit(app, options.fit);
  add_integer(app, "--seed", options.seed, 0, most_seed, "seed of the episodes (default: 0)");
  add_threads(app, options.threads);
  add_safeguards(app, options.safeguards);
  add_text(app, "--csv", options.csv, "FILE", "write one row per episode");
  add_text(
      app, "--actions", options.actions, "FILE",
      "write one row per step, without a header: episode, step from 0, and the action as the environment got it, in hexadecimal "
      "floats");
  add_trust(app, options.source.trust);
  app.footer(
      "Examples:\n"
      "  iap eval runs/quickstart --episodes 20 --csv episodes.csv\n"
      "  iap eval scripts/paper/policies/walker-walk.iap --set distraction.difficulty=hard");
}

void describe_play(CLI::App& app, PlayOptions& options) {
  auto& video = options.video;
  add_policy(app, options.source.policy);
  add_policy_choice(app, options.source.choice);
  auto* out =
      add_text(app, "-o,--out", options.out, "FILE",
               text("what to write: ", animation_endings(), "; with --strip .png (default: RUN/media/play.webp or strip.png; ",
                    "of a policy file NAME.webp or NAME.png in the working folder)"));
  app.add_flag("--live", options.live, "in a window instead, with keys to pause, step, switch views and take over the actions");
  add_episode_seed(app, video.seed, "seed of the episode (default: 0)");
  add_world(app, options.source);
  add_fit(app, options.fit);
  app.add_option_function<std::string>(
         "--view", [&options](const std::string& view) { options.view = read_choice("--view", view, picture_view_names()); },
         "overlay, heatmap, side-by-side, raw or outside (default: overlay)")
      ->type_name("NAME");
  add_integer(app, "--steps", video.steps, 1, 1000000, "stop after N steps of the policy (default: at the episode's end)");
  add_integer(app, "--scale", video.scale, 1, 64,
              "enlarge the policy's pixels N times (default: to at least 400 rows, of a strip 200)");
  auto* fps = app.add_option_function<std::string>(
                     "--fps", [&video](const std::string& fps) { video.fps = read_number("--fps", fps, 0.1, 1000); },
                     "steps of the policy per second (default: real time)")
                  ->type_name("N");
  auto* quality = add_integer(app, "--quality", video.quality, 0, 100, "quality of a .webp, 0 to 100 (default: 80)");
  app.add_flag_callback(
      "--as-seen", [&video] { video.redraw = false; }, "enlarge the policy's own pixels instead of drawing the environment anew");
  auto* strip = add_integer(app, "--strip", options.strip, 1, 100, "write N pictures side by side as one .png instead of a video");
  app.callback([&options, fps, quality, out, strip] {
    for (const auto* only_files : {out, strip, quality})
      if (options.live && only_files->count() > 0)
        throw Error(only_files->get_name() + ": a window writes no file; leave it out, or leave out --live");
    for (const auto* only_moving : {fps, quality})
      if (options.strip > 0 && only_moving->count() > 0)
        throw Error(only_moving->get_name() + ": only videos have it; leave it out, or leave out --strip");
    if (options.out && quality->count() > 0 && !ends_in(*options.out, ".webp"))
      throw Error(quality->get_name() + ": only a .webp has it; leave it out, or write a .webp");
  });
  add_trust(app, options.source.trust);
  app.footer(
      "Examples:\n"
      "  iap play runs/quickstart --view side-by-side\n"
      "  iap play runs/quickstart --seed 7 --set render.shadows=false --out run.mp4\n"
      "  iap play runs/quickstart --strip 6 --out strip.png\n"
      "  iap play runs/quickstart --live --view heatmap");
}

/// What a page about runs shows.
void add_page(CLI::App& app, ReportOptions& options) {
  add_policy_choice(app, options.policy);
  add_integer(app, "--episodes", options.episodes, 1, 10000, "episodes from which to learn which patches matter (default: 10)");
  app.add_flag_callback(
      "--no-pictures", [&options] { options.pictures = false; }, "leave out what must be played: video, frames, patches");
  add_trust(app, options.trust);
}

void describe_report(CLI::App& app, ReportCommand& command) {
  app.add_option("RUN", command.runs, "run folders; runs that differ only in their seed are drawn as one")->required();
  add_text(app, "-o,--out", command.out, "FILE", "what to write (default: RUN/report.html; for several runs, report.html)");
  add_page(app, command.options);
  add_integer(app, "--seed", command.options.seed, 0, most_seed,
              "from which the seeds of these episodes follow, as in iap eval (default: 0)");
  app.footer(
      "Examples:\n"
      "  iap report runs/quickstart\n"
      "  iap report runs/one runs/two runs/other --out comparison.html");
}

/// "1.rank,2.lstm" in parts.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end == begin) throw Error(text("--blocks: write paths with a comma between two of them, got '", list, "'"));
    names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

void describe_watch(CLI::App& app, WatchCommand& command) {
  app.add_option("RUN", command.run, "folder of a run that goes on")->required();
  add_text(app, "-o,--out", command.out, "FILE", "what to write (default: RUN/report.html)");
  add_integer(app, "--every", command.every, 1, 86400, "seconds between two renewals, at least (default: 5)");
  add_page(app, command.options);
  app.footer(
      "Example:\n"
      "  iap watch runs/quickstart --every 10\n"
      "Open the file in a browser: it loads itself again until the run has ended.");
}

void describe_probe(CLI::App& app, ProbeCommand& command) {
  auto& options = command.options;
  add_policy(app, command.source.policy);
  app.add_option_function<std::string>(
         "--blocks", [&options](const std::string& list) { options.blocks = names_in(list); },
         "paths of blocks as in the policy's summary, such as 1.rank,2.lstm (default: the attention blocks)")
      ->type_name("A,B");
  add_integer(app, "--episodes", options.episodes, 1, 100000,
              "number of episodes (default: 16); two thirds are fitted, the rest tested");
  add_integer(app, "--steps", options.steps, 1, 1000000, "stop each episode after N decisions (default: at its end)");
  app.add_option_function<std::string>(
         "--actions",
         [&options](const std::string& name) {
           options.random_actions = read_choice("--actions", name, {"policy", "random"}) == "random";
         },
         "policy, or random: each held for 3 decisions (default: policy)")
      ->type_name("NAME");
  app.add_flag("--per-episode", options.per_episode, "take the mean of each episode off outputs and state first");
  app.add_option_function<std::string>(
         "--ridge",
         [&options](const std::string& lambda) { options.ridge = read_number("--ridge", lambda, least_ridge, most_ridge); },
         "lambda of the regression (default: for each variable, the best for fitted episodes left out in turn)")
      ->type_name("LAMBDA");
  add_policy_choice(app, command.source.choice);
  add_world(app, command.source);
  add_fit(app, command.fit);
  add_integer(app, "--seed", options.seed, 0, most_seed, "seed of the episodes (default: 0)");
  add_threads(app, options.threads);
  add_text(app, "--csv", command.csv, "FILE", "write one row per block and variable");
  add_text(app, "--png", command.png, "FILE", "draw a bar chart");
  add_trust(app, command.source.trust);
  app.footer(
      "Examples:\n"
      "  iap probe scripts/paper/policies/cheetah-run.iap --actions random --steps 100\n"
      "  iap probe runs/quickstart --blocks 1.rank,2.linear --csv probe.csv --png probe.png");
}

void describe_check(CLI::App& app, CheckCommand& command) {
  auto& options = command.options;
  options.measure_seconds = 0.3;
  app.add_option("ENV", command.source.policy, "name of an environment, .lua file, run folder or policy file")->required();
  add_overrides(app, command.source.overrides, "override an option of the environment (may be repeated)", env_example);
  add_episode_seed(app, options.seed, "seed of the first episode (default: 0)");
  add_integer(app, "--episodes", options.episodes, 1, 1000, "episodes that are played and compared (default: 3)");
  add_integer(app, "--steps", options.steps, 1, 1000000, "steps of each that are looked at (default: 200)");
  add_trust(app, command.source.trust);
  app.footer(
      "Examples:\n"
      "  iap check my-task/task.lua --episodes 10\n"
      "  iap check cheetah-run --set pixels=[84,84] --set distraction=medium\n"
      "The exit code is 1 if a rule of the contract is broken.");
}

void describe_new(CLI::App& app, NewCommand& command) {
  app.add_option_function<std::string>(
         "NAME", [&command](const std::string& name) { command.name = read_new_name(name); }, "name of the folder to make")
      ->required();
  app.add_option_function<std::string>(
         "--task", [&command](const std::string& task) { command.task = read_choice("--task", task, {"lua", "mujoco"}); },
         "lua: a world all in Lua, seen as pixels (default); mujoco: a MuJoCo model and its task")
      ->type_name("KIND");
  app.footer(
      "Example:\n"
      "  iap new my-task && iap run my-task/my-task.lua");
}

void describe_verify(CLI::App& app, VerifyCommand& command) {
  app.add_option("NAME", command.run.arguments, "policies whose file's name contains this (default: all)")
      ->each([](const std::string& name) {
        if (name.empty()) throw Error("NAME is empty; name a policy (--list shows them), or leave it out for all");
      });
  app.add_flag("--list", command.list, "list what ships and what is printed of it, and play nothing");
  add_threads(app, command.run.threads);
  app.footer(
      "Examples:\n"
      "  iap verify --list\n"
      "  iap verify cheetah-run.iap\n"
      "Each policy passes if all its figures are those of docs/results.md, or its mean lies in the interval that is printed there. "
      "The exit\n"
      "code is 1 if one fails.");
}

std::vector<std::string> benchmark_names() {
  std::vector<std::string> names;
  for (const auto& benchmark : benchmarks()) names.push_back(benchmark.name);
  return names;
}

CLI::App* describe_import(CLI::App& app, Arguments& arguments) {
  auto* command = app.add_subcommand("import", "turn published weights into a policy file");
  command->require_subcommand(1);
  auto* agent = command->add_subcommand("attention-agent", "weights of AttentionAgent, an .npz file");
  agent->group("Kinds of weights");
  agent->add_option("FILE", arguments.imported.file, "published weights")->required();
  add_text(*agent, "-o,--out", arguments.imported.out, "FILE",
           "policy file to write (default: FILE with the suffix .iap, where no other file lies there)");
  add_text(*agent, "--env", arguments.imported.env, "NAME", "environment (default: what such weights were trained for)");
  command->footer("Example:\n  iap import attention-agent weights.npz");
  return command;
}

CLI::App* describe_export(CLI::App& app, Arguments& arguments) {
  auto* command = app.add_subcommand("export", "write the weights of an attention_agent policy as an .npz file");
  add_policy(*command, arguments.policy);
  command->add_option("FILE", arguments.weights, "the .npz file to write")->required();
  add_trust(*command, arguments.trust);
  command->footer("Example:\n  iap export runs/car-racing-paper weights.npz");
  return command;
}

}  // namespace

Commands describe_commands(CLI::App& app, Arguments& arguments) {
  Commands commands{};
  app.set_version_flag("--version", "iap " + std::string(version()), "print the version");
  app.add_flag("-v,--verbose", arguments.verbose, "print the Lua stack with errors");
  // Whichever of the two comes second, both have to mean the same.
  const auto choose = [&arguments](const std::string& name) {
    if (name.empty()) throw Error("--instructions is empty; name a set of those in `iap doctor`, or leave it out");
    const std::string before = std::exchange(arguments.instructions, name);
    if (!before.empty() && before != name)
      throw Error(text("--portable and --instructions ", before == portable_instructions ? name : before,
                       ": they ask for different instructions; leave one out"));
  };
  app.add_option_function<std::string>(
         "--instructions", choose,
         "compute with this instruction set at most, as in `iap doctor`: the last bits follow it (default: IAP_INSTRUCTIONS, or "
         "the best)")
      ->type_name("NAME");
  app.add_flag_callback(
      "--portable", [choose] { choose(std::string(portable_instructions)); },
      "compute with what x86-64 machines since 2011 have in common: the same bits on all of them, but slower");
  app.require_subcommand(0, 1);
  app.fallthrough();
  commands.run = app.add_subcommand("run", "run a Lua script, such as an experiment");
  describe_run(*commands.run, arguments);
  commands.sweep = app.add_subcommand("sweep", "search settings: run a script with all combinations of values, and compare");
  describe_sweep(*commands.sweep, arguments.sweep);
  app.add_subcommand("repl", "Lua prompt (the default)");
  commands.eval = app.add_subcommand("eval", "play episodes of a trained policy: mean return and interval");
  describe_eval(*commands.eval, arguments);
  commands.play = app.add_subcommand("play", "draw an episode as a video that shows what the policy attends to");
  describe_play(*commands.play, arguments.play);
  commands.report = app.add_subcommand("report", "write one HTML file about runs: curves, video, what is attended to, settings");
  describe_report(*commands.report, arguments.report);
  commands.watch = app.add_subcommand("watch", "renew the report about a run while it goes on");
  describe_watch(*commands.watch, arguments.watch);
  commands.probe = app.add_subcommand("probe", "measure how much of the simulator's state each block of a policy knows");
  describe_probe(*commands.probe, arguments.probe);
  commands.check = app.add_subcommand("check", "check that an environment keeps its contract, rule by rule");
  describe_check(*commands.check, arguments.check);
  commands.created = app.add_subcommand("new", "make a folder with a task, its training and its test, ready to run");
  describe_new(*commands.created, arguments.created);
  commands.verified = app.add_subcommand("verify", "replay the policies that ship against the figures that are printed of them");
  describe_verify(*commands.verified, arguments.verified);
  commands.imported = describe_import(app, arguments);
  commands.exported = describe_export(app, arguments);
  const std::vector<std::string> lists{"all", "envs", "kernels", "blocks", "optimizers"};
  commands.list = app.add_subcommand("list", "list what scripts can name: environments, kernels, blocks, optimizers");
  commands.list->add_option_function<std::string>(
      "WHAT", [&arguments, lists](const std::string& what) { arguments.what = read_choice("", what, lists); },
      "envs, kernels, blocks, optimizers or all (default: all)");
  commands.bench = app.add_subcommand("bench", "measure this machine");
  commands.bench->add_option_function<std::string>(
      "NAME", [&arguments](const std::string& name) { arguments.benchmark = read_choice("", name, benchmark_names()); },
      "attention, database, draw, env, legged or rollout (default: all of them)");
  commands.doctor = app.add_subcommand("doctor", "print versions and what was found on this machine");
  app.footer("`iap help COMMAND` describes a command, `iap help NAME` a name of the Lua reference; `iap` alone is the Lua prompt.");
  for (auto* command : app.get_subcommands({})) command->group("Commands");
  return commands;
}

}  // namespace iap::cli
