#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/policy_env.hpp"
import iap.contract;
import iap.core;
import iap.env;
import iap.envs;

namespace iap::cli {

namespace {

/// Whether a file speaks of training, as an environment may, too.
bool trains(const std::filesystem::path& path) {
  std::error_code ignored;
  return path.extension() == ".lua" && std::filesystem::is_regular_file(path, ignored) &&
         read_file(path).find("iap.train") != std::string::npos;
}

/// Says what was probably meant where something else of a project was named.
void check_kind(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::string name = path.string();
  if (path.extension() == ".xml")
    throw Error(text("'", name, "' is a model; name the .lua file of a task on it, such as ",
                     std::filesystem::path(path).replace_extension(".lua").string()));
  const auto task = path / "task.lua";
  if (std::filesystem::exists(task, ignored) && !std::filesystem::exists(path / "config.json", ignored))
    throw Error(text("'", name, "' is no run; did you mean '", task.string(), "'?"));
}

}  // namespace

int check(const CheckCommand& command) {
  catch_interrupts(nullptr);
  catch_termination();
  check_kind(command.source.policy);
  const Config env = source_env(command.source);
  try {
    build_env(env, command.source);
  } catch (const Error& error) {
    if (!trains(command.source.policy)) throw;
    throw Error(text(error.what(), "; if '", command.source.policy.string(),
                     "' is a script that trains, name the environment that it trains in"));
  }
  const ContractReport report = check_contract([&env] { return make_env(env); }, command.options);
  std::cout << to_text(report);
  return report.kept() ? Exit::success : Exit::failure;
}

}  // namespace iap::cli
