module;
#include <string>
module iap.env;
import iap.core;

namespace iap {

std::string describe(const EnvSpec& spec) {
  std::string line =
      text("env '", spec.name, "': ", spec.action_size, " actions in [", spec.action_low, ", ", spec.action_high, "], sees ");
  if (spec.observation.vector > 0) line += text("a vector of ", spec.observation.vector);
  for (const auto& image : spec.observation.images)
    line += text(line.ends_with("sees ") ? "" : ", ", "image '", image.name, "' ", iap::describe(image.shape));
  line += text("; ", spec.control_dt, " s a step");
  if (spec.max_steps > 0) line += text(", ", spec.max_steps, " steps");
  return one_line(line);
}

}  // namespace iap
