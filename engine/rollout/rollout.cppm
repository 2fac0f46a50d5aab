module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
/// iap.rollout: episodes, on the threads of this process or in processes of their own.
export module iap.rollout;
import iap.core;
import iap.env;
import iap.policy;
export import :messages;
export import :safeguards;
export import :types;

export namespace iap {

/// `env` as rollouts, batches and training take it. @throws Error if there is none, and naming the flaw of its spec (`spec_flaw`).
std::unique_ptr<Env> accepted(std::unique_ptr<Env> env);

/// @throws Error saying what differs where `policy` was built for other observations or actions than those of an environment.
void check_fit(const EnvSpec& spec, const Policy& policy);

/// One episode of `policy` in `env` from `seed`. The policy's outputs are clipped to [-1, 1] and mapped to the action range; noise
/// is added to what was clipped, and the sum clipped again.
/// @throws Error naming environment, seed and step for a reward, an observation or an action that is not finite, for an observation
/// of another size than the spec's, for a policy that does not fit the environment, and for whatever either of them throws;
/// Interrupted on Ctrl-C, noticed before each step.
Episode run_episode(Env& env, Policy& policy, std::uint64_t seed, const StepObserver& observer = {}, const ActionNoise& noise = {});

/// Whatever plays many episodes at a time: the threads of this process, or those of several.
class Rollouts {
 public:
  virtual ~Rollouts() = default;
  /// One episode per task, results in the order of the tasks: the same for any number of threads. All tasks have the same moments.
  /// @throws the Error of the lowest failing task; Interrupted.
  virtual std::vector<Episode> run(std::span<const RolloutTask> tasks) = 0;
  /// The same for tasks whose parameters, member by member, also follow from `derive()`. It is called at most once.
  virtual std::vector<Episode> run_members(std::span<const RolloutTask> tasks, const std::function<Derivation()>& derive);
  /// How many episodes are played at the same time.
  virtual int threads() const = 0;
  /// What went between processes since they began; nothing where there is one alone.
  virtual std::optional<Messages> messages() const { return {}; }
  /// What there is to say about the work when it has ended, in a line; "" if nothing.
  virtual std::string summary() const { return ""; }
};

/// Hands tasks to the workers of a pool one at a time and takes their episodes; all of them call it, at any time.
class TaskFeed {
 public:
  virtual ~TaskFeed() = default;
  /// Waits for a task; nothing: there will be no more. What it points to stays until its result is taken.
  virtual std::optional<NumberedTask> next() = 0;
  virtual void played(std::size_t number, Episode episode) = 0;
  /// In place of `played`. Called where the exception is being handled.
  virtual void failed(std::size_t number) = 0;
  /// Whether an episode under way is still wanted; asked before each step, and ends in Interrupted if not.
  virtual bool wanted() const = 0;
};

/// Runs episodes in parallel. Each worker owns an environment and a policy, or a process that does, made when it first works; a
/// later `run` may continue them on another thread, one at a time.
class RolloutPool : public Rollouts {
 public:
  /// `threads` 0: all hardware threads. `env` is what rebuilds the environment in another process, null where it cannot be.
  /// @throws Error for isolation without `env`.
  RolloutPool(EnvFactory make_env, Policy prototype, int threads, const Safeguards& safeguards = {}, const Config& env = {});
  ~RolloutPool() override;
  std::vector<Episode> run(std::span<const RolloutTask> tasks) override;
  /// Plays what `feed` hands out until there is no more.
  void serve(TaskFeed& feed);
  int threads() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Names the program that plays isolated episodes, and its arguments, its name the first: one that calls `serve_episodes`. Of the
/// program `iap` it is itself; another host has none until it says so.
void set_worker(std::filesystem::path program, std::vector<std::string> words);

/// Plays what the process wants that started this one by `set_worker`, until that ends, and with it this process and what its
/// environments started. `make_env` builds what its runs name.
void serve_episodes(const std::function<std::unique_ptr<Env>(const Config&)>& make_env);

/// Makes what plays `prototype` in the environment that `make_env` builds, as `make_env(env)` does wherever iap runs.
using RolloutsFactory = std::function<std::unique_ptr<Rollouts>(const Config& env, EnvFactory make_env, Policy prototype,
                                                                int threads, const Safeguards& safeguards)>;

/// Lets all rollouts of known environments that begin from now on be played by what `factory` makes; null: by a RolloutPool again.
/// For programs that are several processes. Not while rollouts are being opened.
void set_rollouts(RolloutsFactory factory);

/// Opens rollouts. `env` is what rebuilds the environment elsewhere, null where a host builds it itself: such a one stays in this
/// process. @throws Error as RolloutPool.
std::unique_ptr<Rollouts> open_rollouts(const Config& env, EnvFactory make_env, Policy prototype, int threads,
                                        const Safeguards& safeguards = {});

/// Environments of one kind, stepped together; what they show lies side by side. Where an episode ends, the next step begins
/// another one instead (Gymnasium's AutoresetMode.NEXT_STEP). Results do not depend on the number of threads.
class EnvBatch {
 public:
  /// `threads` 0: all hardware threads. @throws Error for no environment, and as `accepted` and `make_env` do.
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
  /// @throws Error before a reset, on a wrong number of actions, and naming the environment that failed, first by number, also for
  /// an observation of another size than the spec's and, unless the step was unstable, one that is not finite; there is nothing
  /// left to do then but to reset.
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
