module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
/// Episodes with what blocks handed over, and the state behind the pictures.
module iap.report:recording;
import iap.core;
import iap.env;
import iap.policy;
import iap.rollout;
import :probe;
import :readout;

namespace iap {

/// An environment whose vector can be read although the policy does not see it.
class StateEnv final : public EnvWrapper {
 public:
  /// Makes the environment `config` with its vector, by the option `state` where it would not show one, and hides it from a policy
  /// that observes none. @throws Error as `make_env`, and for an environment that has no vector.
  static std::unique_ptr<StateEnv> make(const Config& config, const ObservationSpec& seen);

  void reset(std::uint64_t seed) override;
  StepResult step(std::span<const float> action) override;
  Observation observe() override;

  /// As of the last `observe`.
  std::span<const float> state() const { return state_; }
  /// One for each value: the environment's own, or "state 1" and so on.
  std::vector<std::string> state_names() const;
  /// Ends episodes after `steps` steps; 0: at their own end.
  void stop_after(int steps) { most_steps_ = steps; }
  /// Plays random actions, each held for three steps, in place of those that come.
  void play_random(bool random) { random_ = random; }

 private:
  StateEnv(std::unique_ptr<Env> env, bool hidden);
  void draw_action();

  bool hidden_, random_ = false;
  int most_steps_ = 0, steps_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<float> action_;
  std::span<const float> state_;
};

/// Of some blocks of a policy.
struct Recording {
  std::vector<std::string> paths;
  std::vector<Samples> outputs;        ///< one for each of the blocks
  std::vector<std::string> variables;  ///< names of the state's values
  Samples state;
  std::vector<Episode> episodes;

  /// Room for `episodes` episodes.
  Recording(const Policy& policy, std::vector<std::string> paths, const StateEnv& env, int episodes);
  /// Writes one episode down, at place `episode`; threads may write different ones. Its calls @throw Error for what is not finite.
  StepObserver observer(int episode, const StateEnv& env);
};

/// The blocks that are probed where nobody says which: those that look at images, or without any, all that hold no others.
std::vector<std::string> probed_blocks(const Policy& policy);

/// Plays as `options` say. @throws Error as `probe`.
Recording record(const Policy& policy, const Config& env, const ProbeOptions& options);

/// Fits and tests as `options` say. @throws Error as `probe`.
ProbeResult read_out(const Recording& recording, const Policy& policy, const ProbeOptions& options);

}  // namespace iap
