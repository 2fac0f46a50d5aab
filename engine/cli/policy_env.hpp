#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.hpp"
import iap.core;
import iap.env;
import iap.policy;

namespace iap::cli {

/// A policy and the environment that it plays in, both known to exist.
struct OpenedPolicy {
  PolicySource source;
  std::filesystem::path path;  ///< of the policy file
  Policy policy;
  Config metadata;
  Config env;
  ObservationSpec observation;  ///< what `env` gives
  std::string carried;          ///< where --env names another environment: which options it takes over, as a note, or ""
};

/// Opens the policy of `source`; its environment is the one it was trained for, changed as the source says. @throws Error naming
/// the path if the policy names no environment, and the override that cannot be read.
OpenedPolicy open_source(const PolicySource& source);

/// The environment of a source whose `policy` may also be the name of an environment or a .lua file: then that one, with the
/// source's overrides. @throws Error as open_source does.
Config source_env(const PolicySource& source);

/// Builds `env`, that of `source`. @throws Error for what cannot be built; of an override that is written as for a script that
/// trains (env.OPTION=VALUE) it says how it is written here.
std::unique_ptr<Env> build_env(const Config& env, const PolicySource& source);

/// Makes the policy fit the images of its environment where they have another size than those that it was built for, as `fit` says
/// (nothing: resample). Returns what was done, as a line for people, or "". @throws Error naming the source for a block that cannot
/// follow.
std::string fit_policy(OpenedPolicy& opened, std::optional<Fit> fit);

/// Which policy was opened, for the first line of a command's output: "runs/dot/best.iap (best evaluation 12.35, iteration 80)".
std::string policy_line(const OpenedPolicy& opened);

/// The name of an environment, or what stands in the place of one, in one line whatever the file has there.
std::string env_name(const Config& env);
/// The environment's name and what was changed of it: "cheetah-run render.shadows=false".
std::string env_line(const OpenedPolicy& opened);

}  // namespace iap::cli
