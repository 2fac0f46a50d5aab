#include "cli/policy_env.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iomanip>
#include <ios>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/values.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.script;
import iap.train;
#include "core/nested_names.hpp"
#include "env/record_refusal.hpp"
#include "policy/image_changes.hpp"

namespace iap::cli {
namespace {

/// Of what can be set.
std::vector<std::string> names_of(const Config& table) {
  std::vector<std::string> names;
  for (const auto& [key, value] : *table.map())
    if (!is_file_record(key)) names.push_back(key);
  return names;
}

/// @throws Error for a `path` that neither the options given nor what they became have. What leads into a list is not looked at.
void check_droppable(const Config& env, const Config& completed, const std::string& path) {
  const Config *given = &env, *whole = &completed;
  for (const auto part : path_parts(path)) {
    const Config* known = whole && whole->map() ? whole : given;
    if (!known || !known->map()) return;
    given = given ? given->find(part) : nullptr;
    whole = whole ? whole->find(part) : nullptr;
    if (!given && !whole)
      throw UnknownOption(
          text("there is no option '", path.substr(0, static_cast<std::size_t>(part.data() - path.data()) + part.size()),
               "' to drop", did_you_mean(part, names_of(*known))),
          std::string(part), false);
  }
}

/// Where `assignment` is written as for a script that trains (env.OPTION=VALUE), how it is written here; else "".
std::string without_env(std::string_view assignment) {
  constexpr std::string_view env = "env.";
  if (!assignment.starts_with(env)) return "";
  const auto own = assignment.substr(env.size());
  return text("--set ", assignment, ": ",
              own.starts_with("name=") ? "another environment is chosen with --env"
                                       : text("the environment's options are written without 'env.' here: --set ", own));
}

void override_option(Config& env, const Config& completed, const std::string& assignment) {
  const auto [path, value] = read_override(assignment, "render.shadows=false");
  if (path == "name") throw Error(text("--set ", assignment, ": another environment is chosen with --env"));
  try {
    const std::string option = first_part(path);
    if (is_file_record(option)) throw Error(record_refusal(option));
    if (value == "null") check_droppable(env, completed, path);
    set_path(env, path, value);
    forget_file(env, path);
  } catch (const UnknownOption& error) {
    const std::string remedy = error.option() == "env" ? without_env(assignment) : "";
    throw Error(remedy.empty() ? text("--set ", assignment, ": ", error.what()) : remedy);
  } catch (const Error& error) {
    throw Error(text("--set ", assignment, ": ", error.what()));
  }
}

/// The environment of `source` for a policy with `metadata`.
Config env_for(const PolicySource& source, const Config& metadata) {
  const Config* own = recorded_env(metadata);
  if (!own && !source.env)
    throw Error(text("'", source.policy.string(), "' does not say which environment it is for; name one with --env NAME"));
  const Config completed = own ? env_table(*own, source.policy.string()) : Config(Config::Map{});
  if (!source.env && source.overrides.empty()) return completed;
  Config env = own ? given_env(completed, metadata.find("env_given")) : completed;
  if (source.env) {
    env["name"] = *source.env;
    forget_file(env, "name");
  }
  for (const auto& assignment : source.overrides) override_option(env, completed, assignment);
  return env;
}

/// What --env leaves of the options of the policy's own environment in `env`, as a line for people, or "".
std::string carried_options(const PolicySource& source, const Config& metadata, const Config& env) {
  if (!source.env || !recorded_env(metadata)) return "";
  std::string options;
  for (const auto& [key, value] : *env.map()) {
    const auto overrides = [&key](const std::string& assignment) {
      return assignment.substr(0, assignment.find_first_of(".=")) == key;
    };
    if (key == "name" || std::ranges::any_of(source.overrides, overrides)) continue;
    options += text(options.empty() ? "" : ", ", key, "=", value.describe());
  }
  if (options.empty()) return "";
  return one_line(text("--env keeps options of the policy's own environment: ", options, " (drop one with --set OPTION=null)"));
}

}  // namespace

std::unique_ptr<Env> build_env(const Config& env, const PolicySource& source) try {
  std::vector<std::string> set;
  for (const auto& assignment : source.overrides) set.push_back(assignment.substr(0, assignment.find('=')));
  const NestedNamesJudged judged(judged_names(), std::move(set));
  return make_env(env);
} catch (const UnknownOption& error) {
  if (error.option() == "env")
    for (const auto& assignment : source.overrides)
      if (const std::string remedy = without_env(assignment); !remedy.empty()) throw Error(remedy);
  throw;
}

OpenedPolicy open_source(const PolicySource& source) {
  const auto path = policy_path(source.policy, source.choice);
  PolicyFile file = read_policy_file(path, source.trust);
  Config env = env_for(source, file.metadata);
  try {
    ObservationSpec observation = build_env(env, source)->spec().observation;
    std::string carried = carried_options(source, file.metadata, env);
    return {
        source, path, std::move(file.policy), std::move(file.metadata), std::move(env), std::move(observation), std::move(carried)};
  } catch (const OptionError& error) {
    if (!source.env || !recorded_env(file.metadata)) throw;
    throw Error(text(error.what(), " (--env keeps the options of the policy's own environment; drop one with --set OPTION=null)"));
  } catch (const Error& error) {
    const std::string message = error.what();
    const bool of_the_file = !source.env && source.overrides.empty() && message.find(path.string()) == std::string::npos;
    throw Error(of_the_file ? text("'", path.string(), "': ", message) : message);
  }
}

Config source_env(const PolicySource& source) {
  const std::string name = source.policy.string();
  std::error_code ignored;
  const bool known = std::ranges::any_of(env_catalog(), [&](const EnvEntry& entry) { return entry.name == name; });
  if (!known && (source.policy.extension() == ".iap" || std::filesystem::is_directory(source.policy, ignored)))
    return open_source(source).env;
  Config env = Config::Map{{"name", name}};
  for (const auto& assignment : source.overrides) override_option(env, env, assignment);
  return env;
}

namespace {

/// That clocks count other seconds than pass in the environment, as a line for people, or "".
std::string clocks_note(const OpenedPolicy& opened) {
  const double own = opened.policy.observation().dt, passing = opened.observation.dt;
  if (own <= 0 || passing <= 0 || own == passing || blueprint_of(opened.policy) == opened.policy.architecture()) return "";
  return text("the policy's clocks count ", own, " s a decision, as it was trained, while ", passing,
              " s pass (policy:resized(env) makes one whose clocks follow)");
}

}  // namespace

std::string fit_policy(OpenedPolicy& opened, std::optional<Fit> fit) {
  const ObservationSpec before = opened.policy.observation();
  ObservationSpec now = opened.observation;
  now.dt = before.dt;  // it plays as it was trained, whatever the size
  const std::string changes = image_changes(before, now), clocks = clocks_note(opened);
  if (changes.empty()) return clocks;
  try {
    opened.policy = resized(opened.policy, now, fit.value_or(Fit::resample));
  } catch (const Error& error) {
    throw Error(text("'", opened.source.policy.string(), "' cannot be brought ", changes, ": ", error.what()));
  }
  return text("the policy was ", fit == Fit::pool ? "pooled " : "resampled ", changes, clocks.empty() ? "" : "; ", clocks);
}

std::string policy_line(const OpenedPolicy& opened) {
  const Config *iteration = opened.metadata.find("iteration"), *value = opened.metadata.find("return");
  std::string line = one_line(opened.path.string());
  if (!iteration || !iteration->integer()) return line;
  line += " (";
  if (value && value->number())
    line += text(opened.path.filename() == "best.iap" ? "best evaluation " : "evaluation ", return_text(*value->number()), ", ");
  return line + text("iteration ", *iteration->integer(), ")");
}

std::string env_name(const Config& env) {
  const auto* name = env.find("name");
  return one_line(name && name->string() ? *name->string() : env.describe());
}

std::string env_line(const OpenedPolicy& opened) {
  std::string line = env_name(opened.env);
  for (const auto& assignment : opened.source.overrides) line += " " + assignment;
  return line;
}

}  // namespace iap::cli
