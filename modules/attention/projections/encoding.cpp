module;
#include <cmath>
#include <cstddef>
#include <span>
module iap.attention;
import iap.core;

namespace iap {
namespace {

void encode(int position, std::span<float> out) {
  const double size = static_cast<double>(out.size());
  for (std::size_t v = 0; v < out.size(); ++v) {
    const double angle = position / std::pow(10000.0, static_cast<double>(v - v % 2) / size);
    out[v] = static_cast<float>(v % 2 == 0 ? std::sin(angle) : std::cos(angle));
  }
}

}  // namespace

void sinusoidal_encoding(const PatchGrid& grid, std::span<float> out) {
  const std::size_t values = grid.values(), row_values = (values + 1) / 2;
  constexpr std::size_t work = 64;  // of a power and a sine
  Looks looks;
  for (int patch = 0; patch < grid.count(); ++patch) {
    if (looks.due(work * values)) check_interrupt();
    const auto own = out.subspan(patch * values, values);
    encode(patch / grid.columns(), own.first(row_values));
    encode(patch % grid.columns(), own.subspan(row_values));
  }
}

}  // namespace iap
