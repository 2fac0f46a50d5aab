#include "cli/policy_env.hpp"

#include <cstddef>
#include <iomanip>
#include <ios>
#include <memory>
#include <string>
#include <vector>

import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.script;

namespace iap::cli {
namespace {

std::vector<std::string> names_of(const Config& table) {
  std::vector<std::string> names;
  for (const auto& [key, value] : *table.map()) names.push_back(key);
  return names;
}

void override_option(Config& env, const Config& completed, const std::string& assignment) {
  const auto [path, value] = read_override(assignment, "render.shadows=false");
  if (path == "name") throw Error(text("--set ", assignment, ": another environment is chosen with --env"));
  try {
    const std::string option = path.substr(0, path.find('.'));
    if (value == "null" && !env.find(option) && !completed.find(option))
      throw Error(text("there is no option '", option, "' to drop", did_you_mean(option, names_of(completed))));
    set_path(env, path, value);
  } catch (const Error& error) {
    throw Error(text("--set ", assignment, ": ", error.what()));
  }
}

}  // namespace

Config policy_env(const PolicyFile& file, const std::filesystem::path& path, const std::optional<std::string>& name,
                  const std::vector<std::string>& overrides) {
  const Config* own = file.metadata.find("env");
  if (!own && !name) throw Error(text("'", path.string(), "' does not say which environment it is for; name one with --env NAME"));
  const Config completed = own ? env_table(*own, path.string()) : Config(Config::Map{});
  if (!name && overrides.empty()) return completed;
  Config env = own ? given_env(completed, file.metadata.find("env_given")) : completed;
  if (name) {
    env["name"] = *name;
    // What belongs to the text of the environment in Lua that the policy was trained in.
    for (const char* key : {"source", "required_modules", "loaded_from"}) env.map()->erase(key);
  }
  for (const auto& assignment : overrides) override_option(env, completed, assignment);
  try {
    make_env(env);
  } catch (const OptionError& error) {
    if (!name || !own) throw;
    throw Error(text(error.what(), " (--env keeps the options of the policy's own environment; drop one with --set OPTION=null)"));
  }
  return env;
}

std::string fit_policy(Policy& policy, const std::filesystem::path& path, const Config& env, std::optional<Fit> fit) {
  const ObservationSpec now = make_env(env)->spec().observation, before = policy.observation();
  std::string changes;
  for (std::size_t i = 0; i < before.images.size() && before.images.size() == now.images.size(); ++i) {
    const ImageShape &was = before.images[i].shape, &is = now.images[i].shape;
    if (was.height != is.height || was.width != is.width)
      changes += text(changes.empty() ? "" : ", ", "from ", was.height, "x", was.width, " to ", is.height, "x", is.width);
  }
  if (changes.empty()) return "";
  try {
    policy = resized(policy, now, fit.value_or(Fit::resample));
  } catch (const Error& error) {
    throw Error(text("'", path.string(), "' cannot be brought ", changes, ": ", error.what()));
  }
  return text("the policy was ", fit == Fit::pool ? "pooled " : "resampled ", changes);
}

std::string policy_line(const std::filesystem::path& path, const Config& metadata) {
  const Config *iteration = metadata.find("iteration"), *value = metadata.find("return");
  std::string line = path.string();
  if (!iteration || !iteration->integer()) return line;
  line += " (";
  if (value && value->number())
    line += text(path.filename() == "best.iap" ? "best evaluation " : "evaluation ", fixed_text(*value->number(), 2), ", ");
  return line + text("iteration ", *iteration->integer(), ")");
}

}  // namespace iap::cli
