module;
#include <optional>
/// What keeps an environment that hangs, crashes, leaks or throws from ending a run.
export module iap.rollout:safeguards;
import iap.core;

export namespace iap {

/// How episodes are kept apart from the run, and what is made of those that fail. An episode is a function of its parameters and
/// its seed, so one that fails once and is played again changes no result.
struct Safeguards {
  bool isolate = false;                 ///< episodes are played in processes of their own
  double episode_timeout = 0;           ///< seconds of wall time after which an episode is cut off and has failed; 0: none
  int worker_memory = 0;                ///< MiB that such a process may allocate; 0: any amount
  std::optional<int> retries;           ///< further attempts at an episode that failed; by default one where it is isolated
  std::optional<double> failed_return;  ///< of an episode that failed in every attempt; without it, that ends the run

  /// Only another process can be cut off or kept small.
  bool isolated() const { return isolate || episode_timeout > 0 || worker_memory > 0; }
  /// At one episode.
  int attempts() const { return 1 + retries.value_or(isolated() ? 1 : 0); }
};

/// Reads the options of `rollout.safeguards`. @throws Error naming the option.
Safeguards read_safeguards(Options& options);

/// @throws Error of `owner` naming the first value out of range.
void check_safeguards(const Safeguards& safeguards, const char* owner);

}  // namespace iap
