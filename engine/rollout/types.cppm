module;
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
/// Episodes, and what they are played from.
export module iap.rollout:types;
import iap.core;
import iap.env;
import iap.policy;

export namespace iap {

struct Episode {
  double total = 0;  ///< the return: undiscounted sum of rewards
  int steps = 0;     ///< policy steps
  bool terminated = false, truncated = false, unstable = false;
  std::string failure;           ///< why it has no return of its own, but that of Safeguards::failed_return; "" if it has
  int retries = 0;               ///< attempts before this one that failed
  std::string retried_for;       ///< why the first of these did; "" if this one failed, too
  std::vector<float> actions;    ///< of all its steps, as the environment got them, one behind the other, where the task keeps them
  std::vector<Moment> gathered;  ///< what the policy's blocks gathered (Policy::gathered)
};

/// Called after each step's `act` and before the environment moves; for videos and traces.
using StepObserver = std::function<void(const Observation& observation, std::span<const float> action, const Policy& policy)>;

/// Gaussian noise in every value of every action, drawn in the order of steps and values from a stream of its own.
struct ActionNoise {
  double deviation = 0;  ///< in units of half the action range; 0: no noise, and nothing is drawn
  std::uint64_t seed = 0;
};

struct RolloutTask {
  std::span<const float> parameters;
  std::uint64_t seed = 0;
  std::span<const Moment> moments = {};  ///< totals that the policy works with; empty: those of the prototype
  ActionNoise noise = {};
  std::uint32_t member = 0;  ///< of the population, where a Derivation is at hand
  bool keep_actions = false;
};

/// How another process comes to the parameters of a population: those of an optimizer of these options that loads this state.
struct Derivation {
  Config optimizer;  ///< as make_optimizer takes it
  std::uint64_t seed = 0;
  std::string state;  ///< as Optimizer::save writes it
};

/// A task with its number, by which its result is known.
struct NumberedTask {
  std::size_t number = 0;
  RolloutTask task;
};

/// Builds one environment; called once a worker, never by two threads at a time.
using EnvFactory = std::function<std::unique_ptr<Env>()>;

/// Messages between processes, and their bytes.
struct Messages {
  std::uint64_t count = 0, bytes = 0;
};

}  // namespace iap
