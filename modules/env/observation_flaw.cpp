module;
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
module iap.env;
import iap.core;

namespace iap {

// The first loop has no exit, so that it is vectorised.
std::size_t first_not_finite(std::span<const float> values) {
  unsigned bad = 0;
  for (const float value : values) bad |= static_cast<unsigned>((std::bit_cast<std::uint32_t>(value) & 0x7f800000U) == 0x7f800000U);
  if (!bad) return values.size();
  return static_cast<std::size_t>(std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); }) -
                                  values.begin());
}

std::string observation_flaw(const EnvSpec& spec, const Observation& seen, bool finite) {
  const ObservationSpec& promised = spec.observation;
  if (seen.vector.size() != static_cast<std::size_t>(promised.vector))
    return text("the observed vector has size ", seen.vector.size(), ", the spec says ", promised.vector);
  if (seen.images.size() != promised.images.size())
    return text("the number of observed images is ", seen.images.size(), ", the spec says ", promised.images.size());
  if (const auto bad = finite ? first_not_finite(seen.vector) : seen.vector.size(); bad < seen.vector.size()) {
    const auto name = bad < spec.state_names.size() ? text(" ('", spec.state_names[bad], "')") : "";
    return text("value ", bad + 1, name, " of the observed vector is ", seen.vector[bad]);
  }
  for (std::size_t i = 0; i < seen.images.size(); ++i) {
    const auto& [name, shape] = promised.images[i];
    const ImageView& image = seen.images[i];
    if (!image.data) return text("the observed image '", name, "' has no pixels");
    if (image.shape != shape)
      return text("the observed image '", name, "' is ", describe(image.shape), ", the spec says ", describe(shape));
    if (!finite || shape.type != PixelType::float32) continue;
    const std::span pixels(image.floats(), shape.count());
    if (const auto bad = first_not_finite(pixels); bad < pixels.size())
      return text("value ", bad + 1, " of the observed image '", name, "' is ", pixels[bad]);
  }
  return "";
}

}  // namespace iap
