module;
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
module iap.env;
import iap.core;

namespace iap {

std::string state_names_flaw(const EnvSpec& spec) {
  const auto& names = spec.state_names;
  if (names.empty()) return "";
  if (names.size() != static_cast<std::size_t>(spec.observation.vector))
    return text(names.size(), " names for the ", spec.observation.vector, " values of the vector");
  std::set<std::string> seen;
  for (const auto& name : names) {
    const auto unfit = [](unsigned char c) { return c < ' ' || c == ',' || c == '"' || c == 0x7f; };
    if (name.empty() || std::ranges::any_of(name, unfit))
      return text("the name '", name, "' is empty or has a comma, a quote or a control character");
    if (!seen.insert(name).second) return text("the name '", name, "' is used twice");
  }
  return "";
}

}  // namespace iap
