#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
import iap.core;
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
  app.add_option("--episodes", arguments.eval.episodes, "number of episodes (default: 16)")->check(CLI::Range(1, 1000000));
  app.add_option("--seed", arguments.eval.seed, "seed of the episodes (default: 0)");
  app.add_option("--threads", arguments.eval.threads, "worker threads (default: all)")->check(CLI::Range(1, 4096));
  app.add_option_function<std::string>(
      "--csv", [&arguments](const std::string& path) { arguments.eval.csv = path; }, "write one row an episode");
  app.add_option_function<std::string>(
      "--actions", [&arguments](const std::string& path) { arguments.eval.actions = path; },
      "write one row a step: the policy's outputs as hexadecimal floats");
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
