#pragma once
/// Episodes of random actions and what they show, for the rules. Include it behind the standard headers and the imports.

// Of no module, because a unit of the module and plain files include it.
extern "C++" {
namespace iap::contract {

/// A rule that does not hold; other errors come out of the environment.
class Breach : public Error {
 public:
  using Error::Error;
};

/// What one step showed, as bits, so that NaN equals itself.
struct Shown {
  std::vector<std::uint32_t> parts;  ///< checksums of the vector and of each image; empty if nobody looked
  std::uint64_t reward = 0;
  bool terminated = false, truncated = false, unstable = false;

  bool ended() const { return terminated || truncated; }
  bool operator==(const Shown&) const = default;
};

/// An episode: what the reset showed, then each step.
using Trace = std::vector<Shown>;

/// When an episode is looked at.
enum class Looks : std::uint8_t { every_step, twice, at_the_end };

/// The number of an episode whose seed is 2^63 or more, as half of all episodes' seeds are: negative in Lua.
constexpr int high_seed = -1;

/// What the rules work on, and what they found out for each other.
struct Check {
  std::function<std::unique_ptr<Env>()> make;
  ContractOptions options;
  EnvSpec spec;
  std::map<int, Trace> references{};
  int steps = 0, unstable = 0;  ///< played so far, and how many of them were unstable
  bool begins_anew = true;      ///< no rule so far found that earlier episodes change later ones

  std::uint64_t seed(int episode) const {
    return episode == high_seed ? options.seed | std::uint64_t{1} << 63 : options.seed + static_cast<std::uint64_t>(episode);
  }
  /// The episode in an environment of its own.
  const Trace& reference(int episode);
};

/// The random actions of an episode.
class Actions {
 public:
  Actions(const Check& check, int episode);
  std::span<const float> next();

 private:
  Random random_;
  float low_, high_;
  std::vector<float> action_;
};

/// " at step 3 of the episode with seed 7"; step 0: " after the reset ...".
std::string place(const Check& check, int episode, int step);

/// Calls of one environment, whose errors say where they happened.
void reset(const Check& check, Env& env, int episode);
StepResult step(const Check& check, Env& env, std::span<const float> action, int episode, int step);
Observation observe(const Check& check, Env& env, int episode, int step);
/// What there is to see. The bits are taken as they come, whatever the spec says.
std::vector<std::uint32_t> look(const Check& check, Env& env, int episode, int step);
Shown shown(const StepResult& result);

/// The episode's first options.steps steps with random actions, those of episode `acted`.
Trace play(const Check& check, Env& env, int episode, int acted, Looks looks = Looks::every_step);

/// Where `second` first differs from `first`, in the words of a report; "" if nowhere. Parts are compared where both looked. `from`
/// is the first step that counts.
std::string difference(const Check& check, int episode, const Trace& first, const Trace& second, int from = 0);

struct Verdict {
  RuleOutcome outcome = RuleOutcome::passed;
  std::string finding{};
};

struct Rule {
  const char *name, *promise, *remedy;
  Verdict (*run)(Check& check);   ///< @throws Breach, or whatever the environment throws
  bool needs_repeatable = false;  ///< it compares episodes, which says nothing where "reset" or "steps" fail
};

Verdict check_spec(Check& check);
Verdict check_runs(Check& check);
Verdict check_observations(Check& check);
Verdict check_rewards(Check& check);
Verdict check_stability(Check& check);
Verdict check_reset(Check& check);
Verdict check_steps(Check& check);
Verdict check_fresh(Check& check);
Verdict check_seeds(Check& check);
Verdict check_looking(Check& check);
Verdict check_instances(Check& check);
Verdict check_threads(Check& check);
Verdict check_refusal(Check& check);
Verdict check_clipping(Check& check);
Verdict check_time_limit(Check& check);
Verdict check_end(Check& check);
Verdict check_unstable(Check& check);

/// Steps a second, with a look at each step or with none; 0 where the environment fails.
double measure(const Check& check, bool looking);

}  // namespace iap::contract
}
