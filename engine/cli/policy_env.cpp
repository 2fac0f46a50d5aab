#include "cli/policy_env.hpp"

#include <memory>
#include <string>

import iap.core;
import iap.env;
import iap.envs;
import iap.policy;

namespace iap::cli {
namespace {

void override_option(Config& env, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(text("--set ", assignment, ": write it as path=value, such as render.shadows=false"));
  const std::string path = assignment.substr(0, equals);
  if (path == "name") throw Error(text("--set ", assignment, ": another environment is chosen with --env"));
  try {
    set_env_option(env, path, assignment.substr(equals + 1));
  } catch (const Error& error) {
    throw Error(text("--set ", assignment, ": ", error.what()));
  }
}

}  // namespace

Config policy_env(const PolicyFile& file, const std::filesystem::path& path, const std::optional<std::string>& name,
                  const std::vector<std::string>& overrides) {
  const Config* own = file.metadata.find("env");
  if (!own && !name) throw Error(text("'", path.string(), "' does not say which environment it is for; name one with --env NAME"));
  Config env = own ? *own : Config(Config::Map{});
  if (env.string()) env = Config::Map{{"name", env}};
  if (name) {
    env["name"] = *name;
    // What belongs to the text of the environment in Lua that the policy was trained in.
    for (const char* key : {"source", "required_modules", "loaded_from"}) env.map()->erase(key);
  }
  for (const auto& assignment : overrides) override_option(env, assignment);
  try {
    make_env(env);
  } catch (const OptionError& error) {
    if (!name || !own) throw;
    throw Error(text(error.what(), " (--env keeps the options of the policy's own environment; drop one with --set OPTION=null)"));
  }
  return env;
}

}  // namespace iap::cli
