module;
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>
/// The threads of one rank at play.
module iap.ranks:players;
import iap.core;
import iap.policy;
import iap.rollout;

namespace iap {

/// How a task ended.
struct Played {
  std::size_t number = 0;
  double seconds = 0;
  std::optional<Episode> episode;  ///< nothing: it failed, or was not wanted any more
  std::string error;
  bool interrupted = false;  ///< in place of an error
};

/// Plays tasks as they are given, round by round, while its owner does other things. One thread owns it.
class Players {
 public:
  /// `env` as RolloutPool takes it.
  Players(EnvFactory make_env, Policy prototype, int threads, const Safeguards& safeguards, const Config& env);
  ~Players();
  int threads() const;

  void begin();
  /// `vector` is kept until the result is taken, where the task's parameters lie in it.
  void give(NumberedTask task, std::shared_ptr<const std::vector<float>> vector = nullptr);
  /// What has ended since the last call. @throws whatever ended the threads themselves.
  std::vector<Played> take();
  /// Waits until something has ended, `most` at longest.
  void wait(std::chrono::microseconds most);
  /// Ends the round. Tasks that were not begun are dropped, episodes end with their present step.
  void end();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
