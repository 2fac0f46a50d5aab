module;
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
module iap.env;
import iap.core;

namespace iap {

void clip_action(const EnvSpec& spec, std::span<const float> action, std::span<float> clipped) {
  if (action.size() != static_cast<std::size_t>(spec.action_size) || clipped.size() != action.size())
    throw Error(text(spec.name, ": an action has ", spec.action_size, " values, got ", action.size()));
  for (std::size_t i = 0; i < action.size(); ++i) {
    if (!std::isfinite(action[i]))
      throw Error(text(spec.name, ": value ", i + 1, " of the action is ", action[i], "; it must be finite"));
    clipped[i] = std::clamp(action[i], spec.action_low, spec.action_high);
  }
}

}  // namespace iap
