module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
/// The contract of all optimizers.
export module iap.optim:optimizer;
import iap.core;

export namespace iap {

class Optimizer;

/// Builds the optimizer that `config` describes ({kind = "es", population = 64, ...}) around `initial`, P values.
/// Its draws are functions of (seed, iteration, member). @throws Error naming the option.
std::unique_ptr<Optimizer> make_optimizer(const Config& config, std::span<const float> initial, std::uint64_t seed);

/// A black-box maximiser with the ask/tell interface. It sees parameter counts, populations and fitness, nothing else.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual std::string_view name() const = 0;
  /// Number of parameters P and of members n; n may differ after a tell where the optimizer restarts with another population.
  virtual std::size_t parameters() const = 0;
  virtual std::size_t population() const = 0;
  /// Writes the next population, n x P row-major. Asking twice before a tell writes the same population.
  /// @throws Error unless `population` has room for exactly n x P values.
  virtual void ask(std::span<float> population) = 0;
  /// As `ask`, after making `population` as large as this turn's n asks for.
  void ask_resized(std::vector<float>& population) {
    population.resize(this->population() * parameters());
    ask(std::span<float>(population));
  }
  /// Whether an optimizer that was built alike and has loaded this one's state writes the same members by `write_member`, so that
  /// they need not travel.
  virtual bool derives() const { return false; }
  /// Writes member k of the population that `ask` would write, P values, and no other. @throws Error if not `derives()`, or on a
  /// wrong k or size.
  virtual void write_member(std::size_t k, std::span<float> out);
  /// Takes the fitness of the last population (larger is better). NaN counts as worst. By rank it stands behind everything,
  /// and infinities keep their order; where fitness counts by its value, NaN and -infinity are worth the worst finite one, infinity
  /// the best.
  /// @throws Error if the size is wrong, no population was asked for, or every fitness is NaN.
  virtual void tell(std::span<const double> fitness) = 0;
  /// The current estimate of the best parameters (the distribution's mean, or the elite where there is none), P values.
  virtual std::span<const float> mean() const = 0;
  /// Number of tells so far.
  virtual std::uint32_t iteration() const = 0;
  /// Figures for the log, in a fixed order: sigma, learning rate, norms.
  virtual std::vector<std::pair<std::string, double>> metrics() const = 0;
  /// Goes on where `before`, an optimizer of the same kind, stands: its iteration, step sizes and learning rates; this one may have
  /// another population. `same_parameters`: its mean and what it keeps for each parameter too. Otherwise the mean stays what this
  /// one was built with, and moments begin anew. @throws Error for a kind that cannot change in the middle of a search.
  virtual void adopt(const Optimizer& before, bool same_parameters);
  /// Fitness is measured in another way from the next turn on (another environment): what compares it with earlier turns begins
  /// anew.
  virtual void fitness_changes() {}
  /// Name of the stop condition that ended a search with the last tell, where the next ask begins another one elsewhere; "" where
  /// the search goes on or nothing follows. Until that ask, mean and metrics are those of the search that ended.
  virtual std::string restart_reason() const { return ""; }
  /// Name of the stop condition that holds after the last tell, or "". Nothing breaks if the caller goes on.
  virtual std::string stop_reason() const { return ""; }
  /// Exact state; `load` restores it, bit for bit, in an optimizer that was built with the same options, initial parameters and
  /// seed.
  virtual void save(Writer& writer) const = 0;
  virtual void load(Reader& reader) = 0;

  /// The options that `make_optimizer` was given, and what they became: with `kind` and every default filled in.
  const Config& given() const { return given_; }
  const Config& config() const { return config_; }

 private:
  friend std::unique_ptr<Optimizer> make_optimizer(const Config& config, std::span<const float> initial, std::uint64_t seed);
  Config given_, config_;
};

}  // namespace iap
