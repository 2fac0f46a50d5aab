#include "cli/policy_env.hpp"

#include <iomanip>
#include <ios>
#include <memory>
#include <string>

import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.script;

namespace iap::cli {
namespace {

void override_option(Config& env, const std::string& assignment) {
  const auto [path, value] = read_override(assignment, "render.shadows=false");
  if (path == "name") throw Error(text("--set ", assignment, ": another environment is chosen with --env"));
  try {
    set_env_option(env, path, value);
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
    env.map()->erase("source");  // the text of the environment in Lua that the policy was trained in
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

std::string policy_line(const std::filesystem::path& path, const Config& metadata) {
  const Config *iteration = metadata.find("iteration"), *value = metadata.find("return");
  std::string line = path.string();
  if (!iteration || !iteration->integer()) return line;
  line += " (";
  if (value && value->number())
    line += text(path.filename() == "best.iap" ? "best evaluation " : "evaluation ", std::fixed, std::setprecision(2),
                 *value->number(), ", ");
  return line + text("iteration ", *iteration->integer(), ")");
}

}  // namespace iap::cli
