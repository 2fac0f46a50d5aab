#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
import iap.core;
import iap.report;
import iap.script;

namespace {

using namespace iap;

template <typename T>
void add_optional(CLI::App& app, const std::string& name, std::optional<T>& target, const std::string& help) {
  app.add_option_function<T>(name, [&target](const T& value) { target = value; }, help);
}

struct Arguments {
  bool verbose = false;
  std::filesystem::path file;
  RunSettings run;
  cli::EvalOptions eval;
  cli::PlayOptions play;
  cli::ReportCommand report;
  cli::ImportOptions imported;
  std::filesystem::path policy, weights;
  std::string what = "all", benchmark;
};

void describe_run(CLI::App& app, Arguments& arguments) {
  app.add_option("FILE", arguments.file, "Lua script")->required();
  app.add_option("ARGS", arguments.run.arguments, "reach the script as arg[1], arg[2] ... (write -- before them)");
  app.add_option("--set", arguments.run.overrides, "PATH=VALUE: override an option of iap.train, such as env.action_repeat=2")
      ->allow_extra_args(false);
  add_optional(app, "--seed", arguments.run.seed, "override the seed");
  app.add_option_function<int>(
         "--threads", [&arguments](const int& count) { arguments.run.threads = count; }, "worker threads (default: all)")
      ->check(CLI::Range(1, 4096));
  app.add_option_function<std::string>(
      "--out", [&arguments](const std::string& path) { arguments.run.out = path; }, "folder of the run");
  app.add_flag("--resume", arguments.run.resume, "continue the run in its folder");
}

void describe_eval(CLI::App& app, Arguments& arguments) {
  app.add_option("POLICY", arguments.eval.policy, "run folder or policy file")->required();
  app.add_option("--episodes", arguments.eval.episodes, "number of episodes (default: 100)")->check(CLI::Range(1, 1000000));
  add_optional(app, "--env", arguments.eval.env, "another environment (default: the one it was trained in)");
  app.add_option("--set", arguments.eval.overrides,
                 "PATH=VALUE: override an option of the environment, such as render.shadows=false")
      ->allow_extra_args(false);
  app.add_option("--seed", arguments.eval.seed, "seed of the episodes (default: 0)");
  app.add_option("--threads", arguments.eval.threads, "worker threads (default: all)")->check(CLI::Range(1, 4096));
  app.add_option_function<std::string>(
      "--csv", [&arguments](const std::string& path) { arguments.eval.csv = path; }, "write one row an episode");
  app.add_option_function<std::string>(
      "--actions", [&arguments](const std::string& path) { arguments.eval.actions = path; },
      "write one row a step: the policy's outputs as hexadecimal floats");
}

void describe_play(CLI::App& app, cli::PlayOptions& options) {
  auto& video = options.video;
  app.add_option("POLICY", options.policy, "run folder or policy file")->required();
  app.add_option_function<std::string>(
      "-o,--out", [&options](const std::string& path) { options.out = path; },
      "file to write, .webp, .png, .apng or .mp4 (default: RUN/media/play.webp)");
  app.add_option("--seed", video.seed, "seed of the episode (default: 0)");
  add_optional(app, "--env", options.env, "another environment's name");
  app.add_option("--set", options.overrides, "PATH=VALUE: override an option of the environment, such as render.shadows=false")
      ->allow_extra_args(false);
  app.add_option("--view", options.view, "overlay, heatmap, side-by-side or raw (default: overlay)")
      ->check(CLI::IsMember(picture_view_names()));
  app.add_option("--steps", video.steps, "stop after so many steps (default: the episode's end)")->check(CLI::Range(1, 1000000));
  app.add_option("--scale", video.scale, "pixels drawn per pixel of the policy's (default: enough for 400 rows, 200 of a strip)")
      ->check(CLI::Range(1, 64));
  auto* fps = app.add_option("--fps", video.fps, "steps per second (default: real time)")->check(CLI::Range(0.1, 1000.0));
  auto* quality = app.add_option("--quality", video.quality, "of a .webp, 0 to 100 (default: 80)")->check(CLI::Range(0, 100));
  app.add_flag("!--as-seen", video.redraw, "enlarge the policy's own pixels instead of drawing the environment anew");
  app.add_option("--strip", options.strip, "write so many pictures side by side as one .png instead of a video")
      ->check(CLI::Range(1, 100));
  app.callback([&options, fps, quality] {
    for (const auto* only_moving : {fps, quality})
      if (options.strip > 0 && only_moving->count() > 0)
        throw CLI::ValidationError(only_moving->get_name(), "only videos have it; leave it out, or leave out --strip");
  });
}

void describe_report(CLI::App& app, cli::ReportCommand& command) {
  app.add_option("RUN", command.runs, "run folders; runs that differ only in their seed are drawn as one")->required();
  app.add_option_function<std::string>(
      "-o,--out", [&command](const std::string& path) { command.out = path; },
      "file to write (default: RUN/report.html; of several runs, report.html)");
  app.add_option("--episodes", command.options.episodes, "episodes to learn from which patches matter (default: 10)")
      ->check(CLI::Range(1, 10000));
  app.add_option("--seed", command.options.seed, "seed of these episodes (default: 0)");
  app.add_flag("!--no-pictures", command.options.pictures, "leave out what must be played: video, frames, patches");
}

CLI::App* describe_import(CLI::App& app, Arguments& arguments) {
  auto* command = app.add_subcommand("import", "turn published weights into a policy file");
  command->require_subcommand(1);
  auto* agent = command->add_subcommand("attention-agent", "weights of AttentionAgent, an .npz file");
  agent->add_option("FILE", arguments.imported.file, "published weights")->required();
  agent->add_option_function<std::string>(
      "-o,--out", [&arguments](const std::string& path) { arguments.imported.out = path; },
      "policy file (default: FILE with the suffix .iap)");
  add_optional(*agent, "--env", arguments.imported.env, "environment (default: what such weights were trained for)");
  return command;
}

CLI::App* describe_export(CLI::App& app, Arguments& arguments) {
  auto* command = app.add_subcommand("export", "write the weights of an attention_agent policy as an .npz file");
  command->add_option("POLICY", arguments.policy, "run folder or policy file")->required();
  command->add_option("FILE", arguments.weights, "the .npz file to write")->required();
  return command;
}

/// Parses the command line; the usage errors end here.
int dispatch(int count, char** words) {
  CLI::App app("iap: vision policies through linear attention, trained by evolution strategies, composed in Lua");
  Arguments arguments;
  app.set_version_flag("--version", "iap " + std::string(version()));
  app.add_flag("-v,--verbose", arguments.verbose, "print the Lua stack with errors");
  app.require_subcommand(0, 1);
  app.fallthrough();
  auto* run = app.add_subcommand("run", "run a Lua script");
  describe_run(*run, arguments);
  app.add_subcommand("repl", "Lua prompt (the default)");
  auto* eval = app.add_subcommand("eval", "evaluate a trained policy");
  describe_eval(*eval, arguments);
  auto* play = app.add_subcommand("play", "an episode as a video that shows what the policy attends to");
  describe_play(*play, arguments.play);
  auto* report = app.add_subcommand("report", "one HTML file about runs: curves, video, what is attended to, settings");
  describe_report(*report, arguments.report);
  auto* import_command = describe_import(app, arguments);
  auto* export_command = describe_export(app, arguments);
  auto* list = app.add_subcommand("list", "what this build knows");
  list->add_option("WHAT", arguments.what, "envs, kernels, blocks, optimizers (default: all)")
      ->check(CLI::IsMember({"all", "envs", "kernels", "blocks", "optimizers"}));
  auto* bench = app.add_subcommand("bench", "measure this machine");
  bench->add_option("NAME", arguments.benchmark, "one benchmark (default: all)");
  auto* doctor = app.add_subcommand("doctor", "what was found on this machine");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::Exit::success : cli::Exit::usage;
  }
  try {
    if (*run) return cli::run(arguments.file, arguments.run, arguments.verbose);
    if (*eval) return cli::eval(arguments.eval);
    if (*play) return cli::play(arguments.play);
    if (*report) return cli::report(arguments.report);
    if (*import_command) return cli::import_agent(arguments.imported);
    if (*export_command) return cli::export_agent(arguments.policy, arguments.weights);
    if (*list) return cli::list(arguments.what);
    if (*bench) return cli::bench(arguments.benchmark);
    if (*doctor) return cli::doctor();
    return cli::repl(arguments.verbose);
  } catch (const Interrupted& error) {
    cli::print_error(error, arguments.verbose);
    return cli::Exit::interrupted;
  } catch (const Error& error) {
    cli::print_error(error, arguments.verbose);
    return cli::Exit::failure;
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    return dispatch(count, words);
  } catch (const std::exception& error) {
    std::cerr << "iap: " << error.what() << "\n";
    return iap::cli::Exit::failure;
  }
}
