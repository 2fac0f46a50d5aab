module;
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>
/// When a run of CMA-ES has nothing more to gain: Hansen 2016, section B.3, and a target.
module iap.optim:cma_stop;
import iap.core;
import :cma_covariance;

namespace iap {

/// The distribution as the conditions see it.
struct CmaState {
  std::span<const double> mean, path;  ///< `path`: the evolution path of the covariance
  double sigma = 0, initial_sigma = 0;
  std::uint32_t generation = 0;  ///< since the (re)start
  const Covariance* covariance = nullptr;
};

class StopConditions {
 public:
  /// Options target, tol_fun, tol_x, tol_x_up, tol_condition, stagnation.
  StopConditions(Options& options, std::size_t parameters);

  /// Forgets the run, for one with `population` members.
  void restart(std::size_t population);
  /// `order` holds the members, the best first.
  void record(std::span<const double> fitness, std::span<const std::uint32_t> order);
  /// The first condition that holds: "target", "condition", "no_effect_axis", "no_effect_coordinate", "equal_fitness", "tol_fun",
  /// "tol_x", "tol_x_up", "stagnation"; or "".
  std::string reason(const CmaState& state) const;

  void save(Writer& writer) const;
  void load(Reader& reader);

 private:
  bool stagnates() const;
  double range_of_best() const;

  std::optional<double> target_;
  double tol_fun_, tol_x_, tol_x_up_, tol_condition_;
  bool stagnation_;
  std::size_t parameters_, window_ = 0, shortest_ = 0;
  double range_ = 0;                   ///< best minus worst of the last generation
  std::vector<double> best_, median_;  ///< a generation each, the newest last
  std::uint64_t generations_ = 0;
  mutable std::vector<double> sorted_;
};

}  // namespace iap
