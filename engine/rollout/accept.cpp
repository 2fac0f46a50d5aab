module;
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
module iap.rollout;
import iap.core;
import iap.env;
import :accept;

namespace iap {
namespace {

// Those of environments in Lua.
constexpr int most_values = 1 << 24, largest_side = 1 << 14;

bool is_duration(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

std::string images_flaw(const ObservationSpec& seen) {
  std::set<std::string> names;
  for (const auto& [name, shape] : seen.images) {
    if (name.empty()) return "an image of its observation has no name; give it one";
    if (!names.insert(name).second)
      return text("two images of its observation are named '", name, "'; give each a name of its own");
    if (std::min(shape.height, shape.width) < 1 || std::max(shape.height, shape.width) > largest_side)
      return text("its image '", name, "' is ", shape.height, " x ", shape.width, "; either side is 1 to ", largest_side);
    if (shape.channels != 1 && shape.channels != 3 && shape.channels != 4)
      return text("its image '", name, "' has ", shape.channels, " channels; give 1, 3 or 4");
  }
  return "";
}

/// As the rule `spec` of `iap check` has it, but for what rollouts can do without: a name, a known control_dt, something to see.
std::string spec_flaw(const EnvSpec& spec) {
  const ObservationSpec& seen = spec.observation;
  if (spec.action_size < 1 || spec.action_size > most_values)
    return text("its action_size is ", spec.action_size, "; give 1 to ", most_values);
  if (!std::isfinite(spec.action_low) || !std::isfinite(spec.action_high) || spec.action_low >= spec.action_high)
    return text("its action_low is ", spec.action_low, " and its action_high ", spec.action_high,
                "; both must be finite, and the first below the second");
  if (!is_duration(spec.control_dt)) return text("its control_dt is ", spec.control_dt, "; give seconds, or 0 if unknown");
  if (!is_duration(seen.dt)) return text("its observation's dt is ", seen.dt, "; give seconds, or 0 if unknown");
  if (spec.max_steps < 0) return text("its max_steps is ", spec.max_steps, "; give a number of steps, or 0 for no limit");
  if (seen.vector < 0 || seen.vector > most_values)
    return text("its observation's vector has size ", seen.vector, "; give 0 to ", most_values);
  if (const auto flaw = state_names_flaw(spec); !flaw.empty()) return text("its state_names: ", flaw);
  return images_flaw(seen);
}

std::string value_flaw(const EnvSpec& spec, std::span<const float> vector, std::size_t bad) {
  const auto name = bad < spec.state_names.size() ? text(" ('", spec.state_names[bad], "')") : "";
  return text("value ", bad + 1, name, " of the observed vector is ", vector[bad], "; observations must be finite");
}

}  // namespace

// The first loop has no exit, so that it is vectorised.
std::size_t first_not_finite(std::span<const float> values) {
  unsigned bad = 0;
  for (const float value : values) bad |= static_cast<unsigned>((std::bit_cast<std::uint32_t>(value) & 0x7f800000U) == 0x7f800000U);
  if (!bad) return values.size();
  return static_cast<std::size_t>(std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); }) -
                                  values.begin());
}

std::unique_ptr<Env> accepted(std::unique_ptr<Env> env) {
  if (!env) throw Error("the environment factory returned no environment");
  if (const auto flaw = spec_flaw(env->spec()); !flaw.empty()) throw Error(text("environment '", env->spec().name, "': ", flaw));
  return env;
}

std::string observation_flaw(const EnvSpec& spec, const Observation& seen, bool finite) {
  const ObservationSpec& promised = spec.observation;
  if (seen.vector.size() != static_cast<std::size_t>(promised.vector))
    return text("the observed vector has size ", seen.vector.size(), ", the spec says ", promised.vector);
  if (seen.images.size() != promised.images.size())
    return text("the number of observed images is ", seen.images.size(), ", the spec says ", promised.images.size());
  if (const auto bad = finite ? first_not_finite(seen.vector) : seen.vector.size(); bad < seen.vector.size())
    return value_flaw(spec, seen.vector, bad);
  for (std::size_t i = 0; i < seen.images.size(); ++i) {
    const auto& [name, shape] = promised.images[i];
    const ImageView& image = seen.images[i];
    if (!image.data) return text("the observed image '", name, "' has no pixels");
    if (image.shape != shape)
      return text("the observed image '", name, "' is ", describe(image.shape), ", the spec says ", describe(shape));
    if (!finite || shape.type != PixelType::float32) continue;
    const std::span pixels(image.floats(), shape.count());
    if (const auto bad = first_not_finite(pixels); bad < pixels.size())
      return text("value ", bad + 1, " of the observed image '", name, "' is ", pixels[bad], "; observations must be finite");
  }
  return "";
}

}  // namespace iap
