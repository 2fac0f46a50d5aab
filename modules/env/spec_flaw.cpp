module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
module iap.env;
import iap.core;

namespace iap {
namespace {

bool is_duration(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

std::string images_flaw(const ObservationSpec& seen) {
  std::set<std::string> names;
  for (const auto& [name, shape] : seen.images) {
    if (name.empty()) return "an image of its observation has no name; give it one";
    if (!is_utf8(name)) return text("the name of its image '", name, "' is no UTF-8, as policy files hold it; give it another one");
    if (!names.insert(name).second)
      return text("two images of its observation are named '", name, "'; give each a name of its own");
    if (std::min(shape.height, shape.width) < 1 || std::max(shape.height, shape.width) > largest_side)
      return text("its image '", name, "' is ", shape.height, " x ", shape.width, "; either side is 1 to ", largest_side);
    if (shape.channels != 1 && shape.channels != 3 && shape.channels != 4)
      return text("its image '", name, "' has ", shape.channels, " channels; give 1, 3 or 4");
  }
  return "";
}

}  // namespace

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

std::string spec_flaw(const EnvSpec& spec) {
  const ObservationSpec& seen = spec.observation;
  if (!is_utf8(spec.name)) return "its name is no UTF-8, as files hold it; give it another one";
  if (spec.action_size < 1 || spec.action_size > largest_vector)
    return text("its action_size is ", spec.action_size, "; give 1 to ", largest_vector);
  if (!std::isfinite(spec.action_low) || !std::isfinite(spec.action_high) || spec.action_low >= spec.action_high)
    return text("its action_low is ", spec.action_low, " and its action_high ", spec.action_high,
                "; both must be finite, and the first below the second");
  if (!is_duration(spec.control_dt)) return text("its control_dt is ", spec.control_dt, "; give seconds, or 0 if unknown");
  if (!is_duration(seen.dt)) return text("its observation's dt is ", seen.dt, "; give seconds, or 0 if unknown");
  if (spec.max_steps < 0) return text("its max_steps is ", spec.max_steps, "; give a number of steps, or 0 for no limit");
  if (seen.vector < 0 || seen.vector > largest_vector)
    return text("its observation's vector has size ", seen.vector, "; give 0 to ", largest_vector);
  if (const auto flaw = state_names_flaw(spec); !flaw.empty()) return text("its state_names: ", flaw);
  return images_flaw(seen);
}

}  // namespace iap
