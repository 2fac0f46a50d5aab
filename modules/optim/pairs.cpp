module;
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
module iap.optim;
import iap.core;
import :pairs;

namespace iap {

std::size_t read_pair_population(Options& options, std::string_view kind) {
  const auto population = static_cast<std::size_t>(options.integer_in("population", 2, 1 << 20, 64));
  if (population % 2) options.fail(text("option 'population' must be even (members come in ", kind, " pairs), got ", population));
  return population;
}

std::span<const float> Pairs::noise(std::uint32_t iteration, std::size_t pair) {
  directions_->draw(iteration, pair, noise_);
  return noise_;
}

}  // namespace iap
