module;
#include <functional>
#include <memory>
/// Who plays episodes one after the other: a thread of this process, or another process.
module iap.rollout:player;
import iap.core;
import iap.env;
import iap.policy;
import :types;

namespace iap {

/// Whether an episode under way is still wanted.
using Wanted = std::function<bool()>;

class Player {
 public:
  virtual ~Player() = default;
  /// @throws Error saying how the episode failed; Interrupted on Ctrl-C, and where it is not `wanted` any more.
  virtual Episode play(const RolloutTask& task, const Wanted& wanted) = 0;
  /// It is not needed any more: what takes a while to go may begin to, beside others.
  virtual void leave() {}
};

/// Plays on the calling thread.
std::unique_ptr<Player> local_player(std::unique_ptr<Env> env, Policy policy);

}  // namespace iap
