module;
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
export module iap.optim;
import iap.core;
export import :optimizer;

export namespace iap {

/// One row of the catalog.
struct OptimizerEntry {
  std::string name;
  std::string summary;
  std::unique_ptr<Optimizer> (*make)(Options& options, std::span<const float> initial, std::uint64_t seed);
  /// JSON: a list of option tables under which the population soon changes, tried by the contract tests; "" if it never does.
  std::string changing_population = "";
  /// JSON: a list of option tables away from the defaults, under which it keeps other state or makes other members; the contract
  /// tests try them.
  std::string examples = "[]";
  /// What older files and scripts call it: read everywhere, listed nowhere; "" if it was never renamed.
  std::string old_name = "";
  /// Whether its members are antithetic pairs around one centre, which may lower its learning rate at a plateau and change the
  /// population or the parameters on the way (`adopt`).
  bool pairs = false;
};

/// Every optimizer this build knows.
std::span<const OptimizerEntry> optimizer_catalog();

/// `config` with an old name as its kind replaced by the row's name.
Config current_optimizer(Config config);

/// Centred ranks in [-0.5, 0.5] (Salimans et al. 2017, section 2.1); ties share their mean rank, NaN ranks lowest.
void centred_ranks(std::span<const double> fitness, std::span<double> ranks);

}  // namespace iap
