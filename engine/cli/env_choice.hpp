#pragma once
#include <optional>
#include <string>
#include <vector>

import iap.core;

namespace iap::cli {

/// What the command line says about the environment that a trained policy plays in.
struct EnvChoice {
  std::optional<std::string> name;     ///< another environment, with the options of the policy's own
  std::vector<std::string> overrides;  ///< "action_repeat=2", "distraction.background=...": on top
};

/// The config of the environment that `metadata` (of the policy file `source`) names, changed as `choice` says; it was built once,
/// so that it is known to be good. @throws Error naming the override or the option, and the remedy.
Config choose_env(const Config& metadata, const std::string& source, const EnvChoice& choice);

}  // namespace iap::cli
