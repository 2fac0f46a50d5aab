module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>
/// Antithetic pairs: members 2k and 2k + 1 stand at mean + and - deviation eps_k, where each eps_k has mean 0 and covariance I.
module iap.optim:pairs;
import iap.core;
import :directions;

namespace iap {

/// Option `population` (64), which must be even; `kind` is what the message calls the pairs.
std::size_t read_pair_population(Options& options, std::string_view kind);

/// The directions eps_k are not kept: each is a function of (seed, iteration, k) and drawn again where it is needed.
class Pairs {
 public:
  /// Reads option `directions`, as `make_directions` does.
  Pairs(Options& options, std::uint64_t seed, std::size_t parameters, std::size_t population)
      : directions_(make_directions(options, seed, parameters, population / 2)), noise_(parameters) {}

  /// eps of pair `pair`, until the next call.
  std::span<const float> noise(std::uint32_t iteration, std::size_t pair);

  /// Writes the members; `deviation(i)` is parameter i's.
  template <class Deviation>
  void place(std::uint32_t iteration, std::span<const double> mean, const Deviation& deviation, std::span<float> population) {
    const std::size_t size = mean.size();
    for (std::size_t pair = 0; 2 * pair * size < population.size(); ++pair) {
      const auto eps = noise(iteration, pair);
      float* plus = population.data() + 2 * pair * size;
      float* minus = plus + size;
      for (std::size_t i = 0; i < size; ++i) {
        plus[i] = static_cast<float>(mean[i] + deviation(i) * eps[i]);
        minus[i] = static_cast<float>(mean[i] - deviation(i) * eps[i]);
      }
    }
  }

 private:
  std::unique_ptr<Directions> directions_;
  std::vector<float> noise_;
};

}  // namespace iap
