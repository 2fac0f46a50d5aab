module;
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
export module iap.contract;
import iap.core;
import iap.env;

export namespace iap {

/// How far an environment is checked.
struct ContractOptions {
  std::uint64_t seed = 0;      ///< of the first episode; the others have the seeds that follow
  int episodes = 3;            ///< at least 1
  int steps = 200;             ///< of each episode, at least 1: what is looked at and compared
  int most_steps = 10'000;     ///< of an episode that is played to its end without looking
  double measure_seconds = 0;  ///< how long steps are counted for each of the two rates; 0: not at all
};

/// What became of a rule. A warning is about what the contract allows and few want.
enum class RuleOutcome : std::uint8_t { passed, warning, failed, skipped };

/// "passed", "warning", "failed" or "skipped".
std::string_view outcome_name(RuleOutcome outcome);

struct RuleResult {
  std::string name;     ///< "reset"
  std::string promise;  ///< "the same seed begins the same episode"
  RuleOutcome outcome = RuleOutcome::passed;
  std::string finding;  ///< what happened and at which step of which episode, or why it was skipped; may be empty if passed
  std::string remedy;   ///< of what failed or is warned of
};

struct ContractReport {
  std::string environment;  ///< as `describe` has it
  ContractOptions options;
  std::vector<RuleResult> rules;  ///< in the order in which they are best mended
  /// Steps a second of one thread, without looking and with a look at each step; 0 if not measured.
  double steps_per_second = 0, looks_per_second = 0;
  bool shows_pictures = false;

  /// Whether no rule failed.
  bool kept() const;
};

/// Checks the contract of environments (see Env) over those that `make` builds, each rule by itself: an error in one, thrown by the
/// environment or by `make`, is what that rule reports. @throws Error where `make` throws the first time or gives nothing, and for
/// options out of range; Interrupted on Ctrl-C.
ContractReport check_contract(const std::function<std::unique_ptr<Env>()>& make, const ContractOptions& options = {});

/// The report as `iap check` prints it, several lines.
std::string to_text(const ContractReport& report);
/// What failed, a line for each rule; "" if nothing did.
std::string breaches(const ContractReport& report);

}  // namespace iap
