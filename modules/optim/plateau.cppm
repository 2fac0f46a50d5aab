module;
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>
/// A learning rate that is lowered when returns have stopped rising.
module iap.optim:plateau;
import iap.core;

namespace iap {

/// Watches the population's mean fitness m_t (the mean over its members, those left out whose fitness is not finite) through the
/// mean A_t of the last `window` of them, from turn `window` on. A turn whose A_t is above all before it is an improvement. After
/// `patience` turns in a row without one the learning rate is multiplied by `factor`, but not to below `minimum`, and the count
/// begins anew.
class Plateau {
 public:
  /// Off.
  Plateau() = default;
  /// Reads option `plateau`, a table {patience = 10, factor = 0.5, window = 5, minimum = learning_rate / 100}; without it the rule
  /// is off, and learning rates pass as they are.
  Plateau(Options& options, double learning_rate);

  /// Takes the fitness of a turn. @returns the learning rate of the next one.
  double next_rate(std::span<const double> fitness, double learning_rate);
  /// What was seen so far no longer compares with what comes.
  void forget();
  /// Goes on where `before`, made by the same options, stands.
  void go_on_from(const Plateau& before);

  /// Nothing where the rule is off.
  void save(Writer& writer) const;
  void load(Reader& reader);

 private:
  bool on_ = false;
  std::uint32_t patience_ = 0, window_ = 0;
  double factor_ = 1, minimum_ = 0;
  std::vector<double> recent_;  ///< the last means, oldest first
  double best_ = -std::numeric_limits<double>::infinity();
  std::uint32_t waited_ = 0;  ///< turns since the last improvement or cut
};

/// @throws OptionError for option `plateau` of an optimizer that has no learning rate.
void refuse_plateau(const Options& options, std::string_view kind);

}  // namespace iap
