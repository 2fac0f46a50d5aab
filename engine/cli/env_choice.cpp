#include "cli/env_choice.hpp"

#include <memory>
#include <string>
import iap.core;
import iap.env;
import iap.envs;

namespace iap::cli {
namespace {

void override_option(Config& env, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(text("--set ", assignment, ": write it as option=value, such as action_repeat=2"));
  const std::string path = assignment.substr(0, equals);
  if (path == "name") throw Error(text("--set ", assignment, ": another environment is chosen with --env"));
  try {
    set_path(env, path, assignment.substr(equals + 1));
  } catch (const Error& error) {
    throw Error(text("--set ", assignment, ": ", error.what()));
  }
}

}  // namespace

Config choose_env(const Config& metadata, const std::string& source, const EnvChoice& choice) {
  const Config* own = metadata.find("env");
  Config env = own ? *own : Config();
  if (env.string()) env = Config::Map{{"name", env}};
  if (choice.name) {
    env["name"] = *choice.name;
    env.map()->erase("source");  // the text of the environment in Lua that the policy was trained in
  }
  if (env.is_null()) throw Error(text("'", source, "' does not say which environment it is for; name it with --env"));
  for (const auto& assignment : choice.overrides) override_option(env, assignment);
  try {
    make_env(env);
  } catch (const OptionError& error) {
    if (!choice.name || !own) throw;
    throw Error(text(error.what(), " (--env keeps the options of the policy's own environment; drop one with --set OPTION=null)"));
  }
  return env;
}

}  // namespace iap::cli
