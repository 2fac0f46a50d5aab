module;
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>
/// First-order steps uphill, given a gradient estimate.
module iap.optim:ascent;
import iap.core;

namespace iap {

/// Turns gradients into steps; holds the moments.
class Ascent {
 public:
  virtual ~Ascent() = default;
  /// Adds the step for `gradient` to `parameters`, both P values.
  virtual void step(std::span<const double> gradient, double learning_rate, std::span<double> parameters) = 0;
  virtual void save(Writer& writer) const = 0;
  virtual void load(Reader& reader) = 0;
};

/// The names that `make_ascent` knows.
const std::vector<std::string>& ascent_names();

/// "adam" (options beta1, beta2, epsilon; Kingma & Ba 2015, algorithm 1), "sgd" (option momentum m:
/// v = m v + (1 - m) g, as in the code of Salimans et al. 2017) or "clipup" (options momentum and max_speed, the longest step in
/// learning rates; Toklu et al. 2020, algorithm 1).
std::unique_ptr<Ascent> make_ascent(const std::string& name, Options& options, std::size_t parameters);

/// Gives `ascent` the moments of `before`, which was made by the same options for as many parameters.
void copy_moments(const Ascent& before, Ascent& ascent);

}  // namespace iap
