module;
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>
export module iap.rollout;
import iap.core;
import iap.env;
import iap.policy;

export namespace iap {

struct Episode {
  double total = 0;  ///< the return: undiscounted sum of rewards
  int steps = 0;     ///< policy steps
  bool terminated = false, truncated = false, unstable = false;
  std::vector<Moment> gathered;  ///< what the policy's blocks gathered (Policy::gathered)
};

/// Called after each step's `act` and before the environment moves; for videos and traces.
using StepObserver = std::function<void(const Observation& observation, std::span<const float> action, const Policy& policy)>;

/// Gaussian noise in every value of every action, drawn in the order of steps and values from a stream of its own.
struct ActionNoise {
  double deviation = 0;  ///< in units of half the action range; 0: no noise, and nothing is drawn
  std::uint64_t seed = 0;
};

/// @throws Error saying what differs where `policy` was built for other observations or actions than those of an environment.
void check_fit(const EnvSpec& spec, const Policy& policy);

/// One episode of `policy` in `env` from `seed`. The policy's outputs are clipped to [-1, 1] and mapped to the action range; noise
/// is added to what was clipped, and the sum clipped again.
/// @throws Error naming environment, seed and step for a reward or an action that is not finite, for a policy that does not fit
/// the environment, and for whatever either of them throws; Interrupted on Ctrl-C, noticed before each step.
Episode run_episode(Env& env, Policy& policy, std::uint64_t seed, const StepObserver& observer = {}, const ActionNoise& noise = {});

struct RolloutTask {
  std::span<const float> parameters;
  std::uint64_t seed = 0;
  std::span<const Moment> moments = {};  ///< totals that the policy works with; empty: those of the prototype
  ActionNoise noise = {};
};

/// Builds one environment; called once a worker, never by two threads at a time.
using EnvFactory = std::function<std::unique_ptr<Env>()>;

/// Runs episodes in parallel. Each worker owns an environment and a policy, created when it first works; a later `run` may
/// continue them on another thread, one at a time.
class RolloutPool {
 public:
  /// `threads` 0: all hardware threads.
  RolloutPool(EnvFactory make_env, Policy prototype, int threads);
  ~RolloutPool();
  /// One episode per task, results in the order of the tasks: the same for any number of threads.
  /// @throws the Error of the lowest failing task; Interrupted.
  std::vector<Episode> run(std::span<const RolloutTask> tasks);
  int threads() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Environments of one kind, stepped together; what they show lies side by side. Where an episode ends, the next step begins
/// another one instead (Gymnasium's AutoresetMode.NEXT_STEP). Results do not depend on the number of threads.
class EnvBatch {
 public:
  /// `threads` 0: all hardware threads. @throws Error for no environment, and as `make_env` does.
  EnvBatch(const EnvFactory& make_env, std::size_t count, int threads);
  ~EnvBatch();

  std::size_t size() const;
  const EnvSpec& spec() const;
  /// Starts an episode in each environment from its own seed. @throws Error on a wrong number of seeds; as `step`.
  void reset(std::span<const std::uint64_t> seeds);
  /// One step of each, `actions` being size() x spec().action_size; the results are valid until the next call. An environment whose
  /// episode was over begins the next one instead, whatever its action: reward 0, no flag. Episode k of an environment that was
  /// reset with s, counted from 0, has the seed of the stream {seed = s, iteration = k / 2^24, episode = k % 2^24, purpose =
  /// environment}; episode 0 has s itself.
  /// @throws Error before a reset, on a wrong number of actions, and naming the environment that failed, first by number; there is
  /// nothing left to do then but to reset.
  std::span<const StepResult> step(std::span<const float> actions);
  /// What all of them show now, in place as long as the batch: size() x spec().observation.vector values, and of each image size()
  /// pictures, of which the view shows the first.
  std::span<const float> vectors() const;
  std::span<const ImageView> images() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
