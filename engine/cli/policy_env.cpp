#include "cli/policy_env.hpp"

#include <string>

import iap.core;
import iap.policy;

namespace iap::cli {

Config policy_env(const PolicyFile& file, const std::filesystem::path& path, const std::optional<std::string>& name,
                  const std::vector<std::string>& overrides) {
  const Config* own = file.metadata.find("env");
  if (!own && !name) throw Error(text("'", path.string(), "' does not say which environment it is for; name one with --env NAME"));
  Config env = own ? *own : Config(Config::Map{});
  if (name) env["name"] = *name;
  for (const auto& item : overrides) {
    const auto equals = item.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(text("--set ", item, ": write it as path=value, such as render.shadows=false"));
    set_path(env, item.substr(0, equals), item.substr(equals + 1));
  }
  return env;
}

}  // namespace iap::cli
