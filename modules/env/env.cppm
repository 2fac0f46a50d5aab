module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
export module iap.env;
import iap.core;

export namespace iap {

/// What an environment promises about itself.
struct EnvSpec {
  std::string name;  ///< the catalog's name, such as "cheetah-run"
  Config config;     ///< what the options became, every default filled in; `make_env(config)` rebuilds this environment
  Config given;      ///< the options as they were given, short forms as tables; null if it did not come from `make_env`
  ObservationSpec observation;
  int action_size = 0;
  float action_low = -1, action_high = 1;  ///< the same range for every action
  double control_dt = 0;                   ///< seconds of simulated time one `step` advances
  int max_steps = 0;                       ///< the time limit in steps; 0 if there is none
  std::vector<std::string> state_names;    ///< what the observation's vector holds, in order; empty where nobody named it
};

/// What is wrong with `spec.state_names`, "" if nothing: there are as many as the vector has values or none, and each is unique,
/// not empty and fit for a cell of a table (no comma, quote or control character).
std::string state_names_flaw(const EnvSpec& spec);

/// What keeps rollouts from taking an environment of this spec, with the remedy, "" if nothing: sizes that are negative, nothing or
/// above `largest_vector` and `largest_side`, a range of actions whose ends are not finite or the wrong way about, seconds that are
/// not finite or negative, `max_steps` below 0, flawed `state_names`, and images without name, with one twice or with other
/// than 1, 3 or 4 channels. They can do without what `iap check` asks for besides: a name, a known `control_dt`, something to see.
std::string spec_flaw(const EnvSpec& spec);

/// The position of the first value that is NaN or infinite, or values.size().
std::size_t first_not_finite(std::span<const float> values);

/// What is wrong with `seen`, "" if nothing: it has the sizes that `spec` says and, where `finite` asks for it, finite values.
/// Bytes always have those.
std::string observation_flaw(const EnvSpec& spec, const Observation& seen, bool finite = true);

/// The environment in a line: "env 'cartpole-balance': 1 actions in [-1, 1], sees a vector of 5; 0.01 s a step, 1000 steps".
std::string describe(const EnvSpec& spec);

/// What one step returned (Gymnasium's contract). At most one of the flags ends the episode first; both may be set.
struct StepResult {
  double reward = 0;
  bool terminated = false;  ///< the task itself ended: success, failure, or an unstable simulation
  bool truncated = false;   ///< cut off by the time limit
  bool unstable = false;    ///< it met NaN, reset itself, or left contacts out; implies `terminated`, pays no reward
};

/// One world. Not thread-safe: every worker owns its own. After construction `reset` comes first; after an episode's end, again.
class Env {
 public:
  virtual ~Env() = default;
  virtual const EnvSpec& spec() const = 0;
  /// Starts an episode that is a function of `seed` alone: nothing of the previous one remains, pixels included.
  virtual void reset(std::uint64_t seed) = 0;
  /// Advances by one control step. `action` has spec().action_size values; they are clipped to the action range.
  /// @throws Error if an action is not finite or has the wrong size. Those of the catalog (`with_common_wrappers`) throw before the
  /// first `reset` and after the episode's end, too, those under `time_limit` beyond the limit; a bare environment need not.
  virtual StepResult step(std::span<const float> action) = 0;
  /// Looks at the present state; pictures are drawn here and only here. Borrowed until the next call of any method.
  virtual Observation observe() = 0;
  /// The environment inside all wrappers.
  virtual Env& unwrapped() { return *this; }
};

/// Hands every call to the environment it owns. Base of what changes one aspect of an environment.
class EnvWrapper : public Env {
 public:
  explicit EnvWrapper(std::unique_ptr<Env> env) : env_(std::move(env)), spec_(env_->spec()) {}
  const EnvSpec& spec() const override { return spec_; }
  void reset(std::uint64_t seed) override { env_->reset(seed); }
  StepResult step(std::span<const float> action) override { return env_->step(action); }
  Observation observe() override { return env_->observe(); }
  Env& unwrapped() override { return env_->unwrapped(); }

 protected:
  std::unique_ptr<Env> env_;
  EnvSpec spec_;  ///< begins as the wrapped environment's
};

/// Repeats each action `count` times and sums the rewards, stopping early at an episode's end. No picture is drawn in between.
/// @throws Error if count < 1, and for more than 1000, with what `env` repeats already.
std::unique_ptr<Env> action_repeat(std::unique_ptr<Env> env, int count);

/// Truncates episodes after `max_steps` steps of `env`; a step after that is an Error. @throws Error if max_steps < 1.
std::unique_ptr<Env> time_limit(std::unique_ptr<Env> env, int max_steps);

/// Resizes every uint8 or float image to height x width by area averaging, for environments that draw one size only: they apply
/// it themselves, so it leaves the spec's `config` alone. @throws Error unless both sizes are positive; `observe` throws for what
/// is not as the spec of `env` says.
std::unique_ptr<Env> resize_images(std::unique_ptr<Env> env, int height, int width);

/// What an environment is built from, named or described: a name alone becomes {name = ...}, a table stays as it is.
/// @throws Error saying whose environment (`owner`) it is, for anything else.
Config env_table(const Config& named, const std::string& owner);

/// Rows and columns of the pictures that an environment draws.
struct PictureSize {
  int height = 0, width = 0;
  bool operator==(const PictureSize&) const = default;
};

/// Reads the option `pixels` = {height, width}, each 1 to `largest_side`. Missing: `fallback`.
/// @throws Error naming the option.
std::optional<PictureSize> read_pixels(Options& options, std::optional<PictureSize> fallback = {});

/// Applies the wrappers that every environment takes as options: `time_limit` (in steps of `env`, default: its own limit, which
/// it cannot exceed), then `action_repeat` (default 1). The spec then says what the options were and what they became: those that
/// `env` wrote into its `config` and all that were read. The reader keeps track of which options were used; the caller finishes it.
/// @throws Error naming the option.
std::unique_ptr<Env> with_common_wrappers(std::unique_ptr<Env> env, Options& options);

/// Copies `action` into `clipped`, clipped to the range of `spec`. @throws Error on a wrong size or a value that is not finite.
void clip_action(const EnvSpec& spec, std::span<const float> action, std::span<float> clipped);

}  // namespace iap
