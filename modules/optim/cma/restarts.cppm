module;
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
/// When a run of CMA-ES has stopped: the population and step size of the next one.
module iap.optim:cma_restarts;
import iap.core;

namespace iap {

/// Restart schedules. "ipop" doubles the population (Auger & Hansen 2005, "A restart CMA evolution strategy with increasing
/// population size"). "bipop" alternates such runs with short ones of small population and step size, so that both regimes spend
/// the same number of evaluations (Hansen 2009, "Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed").
class Restarts {
 public:
  /// Options restarts ("none", "ipop", "bipop"), max_restarts (runs of the growing regime after the first, below 20) and
  /// restart_spread (`sigma`). @throws OptionError naming the option, one that says something of restarts where there are none,
  /// too.
  Restarts(Options& options, std::size_t population, double sigma);

  /// The current run.
  std::size_t population() const { return population_; }
  double sigma() const { return sigma_; }
  /// Standard deviation of new starting points around the first.
  double spread() const { return spread_; }
  /// Of all the runs that the schedule may come to.
  std::size_t largest_population() const { return policy_ == Policy::none ? first_population_ : first_population_ << max_growths_; }
  /// True once the run has used up what its regime gives it.
  bool exhausted() const { return limit_ && used_ >= limit_; }
  /// Number of runs that have ended.
  std::uint32_t count() const { return count_; }
  void spend(std::uint64_t evaluations) { used_ += evaluations; }
  /// Sets up the next run; false if the schedule has none left.
  bool next(Random& random);

  void save(Writer& writer) const;
  /// @throws Error naming the source, for a run that this schedule never comes to.
  void load(Reader& reader);

 private:
  enum class Policy { none, ipop, bipop };
  bool is_reachable() const;
  void grow();
  void shrink(Random& random);

  Policy policy_ = Policy::none;
  std::uint32_t max_growths_ = 0;
  std::uint64_t first_population_;
  double first_sigma_, spread_;
  std::uint64_t population_;
  double sigma_;
  std::uint64_t used_ = 0, limit_ = 0;  ///< evaluations of this run; a limit of 0 is none
  std::uint64_t spent_large_ = 0, spent_small_ = 0, last_large_ = 0;
  std::uint32_t count_ = 0, growths_ = 0;
  bool small_ = false;
};

}  // namespace iap
