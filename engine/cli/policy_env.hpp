#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

import iap.core;
import iap.policy;

namespace iap::cli {

/// The environment that `file`, read from `path`, was trained for, changed: `name` takes the place of its name, each of `overrides`
/// ("render.shadows=false") that of one of its options. @throws Error naming the path if the policy names no environment, and the
/// override that cannot be read.
Config policy_env(const PolicyFile& file, const std::filesystem::path& path, const std::optional<std::string>& name,
                  const std::vector<std::string>& overrides);

/// Makes `policy` fit the images of `env` where they have another size than those that it was built for, as `fit` says (nothing:
/// resample). Returns what was done, as a line for people, or "". @throws Error naming `path` for a block that cannot follow.
std::string fit_policy(Policy& policy, const std::filesystem::path& path, const Config& env, std::optional<Fit> fit);

/// Which policy was opened, for the first line of a command's output: "runs/dot/best.iap (best evaluation 12.35, iteration 80)".
std::string policy_line(const std::filesystem::path& path, const Config& metadata);

}  // namespace iap::cli
