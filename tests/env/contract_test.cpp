#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>
import iap.contract;
import iap.core;
import iap.env;
#include "fake_env.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

enum class Flaw {
  none,
  spec,
  keys,
  nan_vector,
  nan_image,
  wrong_vector,
  wrong_image,
  missing_image,
  nan_reward,
  infinite_reward,
  other_beginnings,
  counts_on,
  never_resets,
  remembers_first_seed,
  one_episode,
  moves_when_seen,
  other_second_look,
  shared,
  bound_to_thread,
  accepts_nan,
  accepts_last_nan,
  accepts_infinity,
  accepts_minus_infinity,
  accepts_any_size,
  accepts_fewer,
  unclipped,
  unclipped_below,
  refuses_large,
  endless,
  steps_on,
  breaks_after_end,
  counts_ends,
  stands_still_after_end,
  unstable_goes_on,
  unstable_truncates,
  unstable_later,
  unstable_pays,
  unstable,
  sometimes_unstable,
  refuses_high_seed
};

// What environments of one thread share, as a global variable of a careless author would.
thread_local float careless = 0;

class FlawedEnv : public FakeEnv {
 public:
  explicit FlawedEnv(Flaw flaw)
      : FakeEnv({.max_steps = flaw == Flaw::endless       ? 0
                              : flaw == Flaw::counts_ends ? 70
                                                          : 10,
                 .type = flaw == Flaw::nan_image ? PixelType::float32 : PixelType::uint8}),
        flaw_(flaw) {
    if (flaw == Flaw::spec) spec_.control_dt = 0;
    if (flaw == Flaw::keys) spec_.config["keys"] = Config::Map{{"left", Config::List{1, 0, 1}}};
    if (flaw == Flaw::endless) spec_.max_steps = 10;
  }

  void reset(std::uint64_t seed) override {
    FakeEnv::reset(flaw_ == Flaw::one_episode ? 0 : seed);
    if (flaw_ == Flaw::refuses_high_seed && static_cast<std::int64_t>(seed) < 0) throw Error("the seed is negative");
    if (broken_) throw Error("cannot begin again");
    ++resets_;
    if (resets_ == 1) first_seed_ = seed;
    looks = looked_ = 0;
    seed_ = seed;
    careless = static_cast<float>(seed);
  }

  StepResult step(std::span<const float> action) override {
    ++total_;
    if (flaw_ == Flaw::refuses_large && action[0] > spec_.action_high) throw Error("too large");
    if (flaw_ == Flaw::steps_on) over = false;
    if (flaw_ == Flaw::breaks_after_end) broken_ = over;
    if (flaw_ == Flaw::stands_still_after_end && over) refused_ = true;
    if (refused_ && !over) throw Error("cannot go on");
    std::vector<float> copy(action.begin(), action.end());
    if (flaw_ == Flaw::accepts_nan)
      for (float& value : copy) value = std::isfinite(value) ? value : 0;
    if (flaw_ == Flaw::accepts_infinity)
      for (float& value : copy) value = std::isinf(value) ? 0 : value;
    if (flaw_ == Flaw::accepts_minus_infinity)
      for (float& value : copy) value = std::isinf(value) && value < 0 ? 0 : value;
    if (flaw_ == Flaw::accepts_last_nan && std::isnan(copy.back())) copy.back() = 0;
    if (flaw_ == Flaw::accepts_any_size || (flaw_ == Flaw::accepts_fewer && copy.size() < 2)) copy.resize(2);
    StepResult result = FakeEnv::step(copy);
    looked_ = 0;
    if (flaw_ == Flaw::counts_ends) {
      if (steps == 4) result.reward += ends_;
      ends_ += over ? 1 : 0;
    }
    if (flaw_ == Flaw::counts_on) result.reward = total_;
    if (flaw_ == Flaw::unclipped) result.reward = action[0];
    if (flaw_ == Flaw::unclipped_below) result.reward = std::min(action[0], spec_.action_high);
    if (flaw_ == Flaw::nan_reward && steps == 5) result.reward = NAN;
    if (flaw_ == Flaw::infinite_reward && steps == 5) result.reward = INFINITY;
    if (flaw_ == Flaw::unstable_goes_on && steps == 5) result = {.unstable = true};
    if (flaw_ == Flaw::unstable_truncates && steps == 5) over = true, result = {.truncated = true, .unstable = true};
    if (flaw_ == Flaw::unstable_later && steps == 5) over = true, result = {.terminated = true, .unstable = resets_ > 1};
    if (flaw_ == Flaw::unstable_pays && steps == 5 && seed_ == 7)
      over = true, result = {.reward = 1, .terminated = true, .unstable = true};
    if ((flaw_ == Flaw::unstable || (flaw_ == Flaw::sometimes_unstable && seed_ == 8)) && steps == 3)
      over = true, result = {.terminated = true, .unstable = true};
    return result;
  }

  Observation observe() override {
    Observation observation = FakeEnv::observe();
    ++looked_;
    switch (flaw_) {
      case Flaw::nan_vector: vector_[1] = steps == 5 ? NAN : 0; break;
      case Flaw::nan_image: const_cast<float*>(observation.images[0].floats())[7] = steps == 5 ? NAN : 0; break;
      case Flaw::wrong_vector: observation.vector = observation.vector.first(1); break;
      case Flaw::missing_image: observation.images = {}; break;
      case Flaw::wrong_image:
        small_ = observation.images[0];
        small_.shape.width -= 1;
        observation.images = {&small_, 1};
        break;
      case Flaw::other_beginnings: vector_[1] = steps == 0 ? static_cast<float>(resets_) : vector_[1]; break;
      case Flaw::never_resets: vector_[1] = static_cast<float>(total_); break;
      case Flaw::remembers_first_seed: vector_[1] = static_cast<float>(first_seed_); break;
      case Flaw::moves_when_seen: vector_[1] = static_cast<float>(looks); break;
      case Flaw::other_second_look: vector_[1] = static_cast<float>(looked_); break;
      case Flaw::shared: vector_[1] = careless; break;
      case Flaw::bound_to_thread: vector_[1] = std::this_thread::get_id() == maker_ ? 1 : 0; break;
      default: break;
    }
    return observation;
  }

 private:
  Flaw flaw_;
  int total_ = 0, resets_ = 0, looked_ = 0, ends_ = 0;
  bool broken_ = false, refused_ = false;
  std::uint64_t first_seed_ = 0, seed_ = 0;
  std::thread::id maker_ = std::this_thread::get_id();
  ImageView small_;
};

ContractReport check(Flaw flaw) {
  return check_contract([flaw] { return std::make_unique<FlawedEnv>(flaw); }, {.seed = 7, .steps = 50, .most_steps = 100});
}

std::string names(const ContractReport& report, RuleOutcome outcome) {
  std::string joined;
  for (const auto& rule : report.rules)
    if (rule.outcome == outcome) joined += (joined.empty() ? "" : ", ") + rule.name;
  return joined;
}

std::string findings(const ContractReport& report) {
  std::string joined;
  for (const auto& rule : report.rules) joined += rule.finding + "\n";
  return joined;
}

}  // namespace

TEST_CASE("the contract check passes what keeps the contract") {
  const auto kept = check(Flaw::none);
  CHECK(breaches(kept) == "");
  CHECK(kept.kept());
  CHECK(names(kept, RuleOutcome::passed) ==
        "spec, runs, observation, reward, stability, reset, steps, fresh, seeds, looking, instances, threads, refusal, clipping, "
        "time limit, end, unstable");
  const auto falls = check_contract([] { return std::make_unique<FakeEnv>(FakeOptions{.fall_at = 4}); }, {.seed = 1});
  CHECK(falls.kept());
  CHECK(names(falls, RuleOutcome::skipped) == "time limit");
  const auto falls_first =
      check_contract([] { return std::make_unique<FakeEnv>(FakeOptions{.max_steps = 10, .fall_at = 4}); }, {.seed = 1});
  CHECK(names(falls_first, RuleOutcome::skipped) == "time limit");
  CHECK_THAT(findings(falls_first), ContainsSubstring("all ended by step 4"));
  // An episode may be one step long; where a single one is checked, it still has another seed to differ from.
  const auto short_one = check_contract([] { return std::make_unique<FakeEnv>(FakeOptions{.max_steps = 1}); }, {.seed = 1});
  CHECK(breaches(short_one) == "");
  const auto single = check_contract([] { return std::make_unique<FlawedEnv>(Flaw::none); }, {.seed = 7, .episodes = 1});
  CHECK(names(single, RuleOutcome::warning) == "");
  const auto goes_on = check_contract([] { return std::make_unique<FakeEnv>(); }, {.steps = 5, .most_steps = 20});
  CHECK(names(goes_on, RuleOutcome::skipped) == "time limit, end");
}

TEST_CASE("the contract check finds every breach, where it is, and no other") {
  struct Case {
    Flaw flaw;
    std::string rule, finding;
  };
  const std::vector<Case> cases{
      {Flaw::spec, "spec", "spec().control_dt is 0"},
      {Flaw::nan_vector, "observation", "value 2 of the observed vector is nan at step 5 of the episode with seed 7"},
      {Flaw::nan_image, "observation", "value 8 of the observed image 'pixels' is nan at step 5 of the episode with seed 7"},
      {Flaw::wrong_vector, "observation", "has size 1, the spec says 2 after the reset of the episode with seed 7"},
      {Flaw::wrong_image, "observation", "the observed image 'pixels' is 4 x 5 x 3 uint8, the spec says 4 x 6 x 3 uint8"},
      {Flaw::missing_image, "observation", "the number of observed images is 0, the spec says 1"},
      {Flaw::nan_reward, "reward", "the reward is nan at step 5 of the episode with seed 7"},
      {Flaw::infinite_reward, "reward", "the reward is inf at step 5 of the episode with seed 7"},
      {Flaw::other_beginnings, "reset", "the observed vector differs after the reset of the episode with seed 7"},
      {Flaw::counts_on, "steps", "the reward is 1 and then 11 at step 1 of the episode with seed 7"},
      {Flaw::never_resets, "reset, steps", "the observed vector differs at step 1"},
      {Flaw::remembers_first_seed, "fresh", "the observed vector differs after the reset of the episode with seed 9"},
      {Flaw::moves_when_seen, "looking", "with no look at each step instead of one the observed vector differs at step 10"},
      {Flaw::other_second_look, "looking", "two looks at the same state differ after the reset"},
      {Flaw::shared, "instances", "the observed vector differs after the reset of the episode with seed 7"},
      {Flaw::bound_to_thread, "threads", "the observed vector differs after the reset"},
      {Flaw::accepts_nan, "refusal", "an action of nan was accepted"},
      {Flaw::accepts_last_nan, "refusal", "an action of nan was accepted"},
      {Flaw::accepts_infinity, "refusal", "an action of inf was accepted"},
      {Flaw::accepts_minus_infinity, "refusal", "an action of -inf was accepted"},
      {Flaw::accepts_any_size, "refusal", "one value too many was accepted"},
      {Flaw::accepts_fewer, "refusal", "one value too few was accepted"},
      {Flaw::unclipped, "clipping", "actions of 4 are not clipped: other than for 1, the reward is 1 and then 4 at step 1"},
      {Flaw::unclipped_below, "clipping",
       "actions of -5 are not clipped: other than for -2, the reward is -2 and then -5 at step 1"},
      {Flaw::refuses_large, "clipping", "too large at step 1 of the episode with seed 7"},
      {Flaw::endless, "time limit", "runs on after spec().max_steps = 10 steps"},
      {Flaw::steps_on, "end", "a step after the end was accepted at step 11 of the episode with seed 7"},
      {Flaw::breaks_after_end, "end", "cannot begin again after the reset of the episode with seed 7"},
      {Flaw::counts_ends, "end",
       "after an episode of 70 steps that came to its end, other than in a fresh environment, the reward is"},
      {Flaw::stands_still_after_end, "end", "cannot go on at step 1 of the episode with seed 7"},
      {Flaw::unstable_truncates, "unstable", "did not terminate its episode at step 5 of the episode with seed 7"},
      {Flaw::unstable_later, "steps", "one ends and the other does not, or not in the same way, at step 5"},
      {Flaw::unstable_goes_on, "unstable", "did not terminate its episode at step 5 of the episode with seed 7"},
      {Flaw::refuses_high_seed, "runs", "the seed is negative after the reset of the episode with seed 9223372036854775815"},
      {Flaw::unstable_pays, "unstable", "an unstable simulation paid 1 at step 5"},
      {Flaw::unstable, "stability", "3 of 3 episodes ended because the simulation became unstable (first: seed 7, step 3)"},
  };
  for (const auto& [flaw, rule, finding] : cases) {
    CAPTURE(rule, finding);
    const auto report = check(flaw);
    CHECK_FALSE(report.kept());
    CHECK(names(report, RuleOutcome::failed) == rule);
    CHECK_THAT(findings(report), ContainsSubstring(finding));
    for (const auto& result : report.rules)
      if (result.outcome == RuleOutcome::failed) CHECK_FALSE(result.remedy.empty());
  }
}

TEST_CASE("an environment whose episodes are all one gets a warning and keeps the contract") {
  const auto report = check(Flaw::one_episode);
  CHECK(report.kept());
  CHECK(names(report, RuleOutcome::warning) == "seeds");
  CHECK_THAT(findings(report), ContainsSubstring("the seeds 7 to 9 give one and the same episode"));
}

TEST_CASE("an environment with keys that no window takes gets a warning and keeps the contract") {
  const auto report = check(Flaw::keys);
  CHECK(report.kept());
  CHECK(names(report, RuleOutcome::warning) == "spec");
  CHECK(names(report, RuleOutcome::skipped) == names(check(Flaw::none), RuleOutcome::skipped));
  CHECK_THAT(findings(report),
             ContainsSubstring("option 'keys'.left must be a list of up to 2 numbers, one an action, got [1,0,1]"));
}

TEST_CASE("an environment that becomes unstable in some episodes gets a warning and keeps the contract") {
  const auto report = check(Flaw::sometimes_unstable);
  CHECK(report.kept());
  CHECK(names(report, RuleOutcome::warning) == "stability");
  CHECK_THAT(findings(report),
             ContainsSubstring("1 of 3 episodes ended because the simulation became unstable (first: seed 8, step 3)"));
  CHECK_THAT(to_text(report), ContainsSubstring("remedy: take a smaller timestep"));
}

TEST_CASE("what cannot be compared is not, and says why") {
  CHECK(names(check(Flaw::never_resets), RuleOutcome::skipped) == "fresh, seeds, looking, instances, threads, clipping");
  const auto unsound = check(Flaw::spec);
  CHECK(names(unsound, RuleOutcome::passed).empty());
  CHECK_THAT(findings(unsound), ContainsSubstring("'spec' comes first"));
}

TEST_CASE("an environment that throws fails the rules that meet it and leaves the others") {
  class Throws : public FakeEnv {
   public:
    StepResult step(std::span<const float> action) override {
      if (steps == 3) throw std::runtime_error("no such\njoint");
      return FakeEnv::step(action);
    }
  };
  const auto report = check_contract([] { return std::make_unique<Throws>(); }, {.most_steps = 20, .measure_seconds = 0.001});
  CHECK(names(report, RuleOutcome::passed) == "spec, reset, refusal");
  CHECK(names(report, RuleOutcome::skipped) == "fresh, seeds, looking, instances, threads, clipping, time limit");
  CHECK(report.rules[1].finding == "no such joint at step 4 of the episode with seed 0");
  CHECK_THAT(to_text(report), ContainsSubstring("FAILED   runs") && ContainsSubstring("the same error as under 'runs'"));
  CHECK(report.steps_per_second == 0);

  class ThrowsANumber : public FakeEnv {
   public:
    StepResult step(std::span<const float> action) override {
      if (action.size() != 2) throw 41;
      if (steps == 3) throw 42;
      return FakeEnv::step(action);
    }
  };
  const auto numbers =
      check_contract([] { return std::make_unique<ThrowsANumber>(); }, {.most_steps = 20, .measure_seconds = 0.001});
  CHECK(numbers.rules[1].finding == "something was thrown that is no std::exception at step 4 of the episode with seed 0");
  CHECK_THAT(names(numbers, RuleOutcome::failed), ContainsSubstring("refusal"));

  int made = 0;
  const auto once = [&]() -> std::unique_ptr<Env> {
    if (made++ > 0) throw Error("out of ports");
    return std::make_unique<FakeEnv>();
  };
  CHECK_THAT(findings(check_contract(once)), ContainsSubstring("out of ports"));
  CHECK_THROWS_MATCHES(check_contract(once), Error, MessageMatches(ContainsSubstring("out of ports")));
  CHECK_THROWS_AS(check_contract([] { return std::unique_ptr<Env>(); }), Error);
  CHECK_THROWS_AS(check_contract([] { return std::make_unique<FakeEnv>(); }, {.episodes = 0}), Error);
}

TEST_CASE("a limit from outside ends the episode for good") {
  const auto make = [] { return time_limit(std::make_unique<FakeEnv>(FakeOptions{.max_steps = 10}), 3); };
  CHECK(breaches(check_contract(make)) == "");
}

TEST_CASE("a repeated action keeps what it earned before the simulation became unstable") {
  class Unstable : public FakeEnv {
   public:
    StepResult step(std::span<const float> action) override {
      StepResult result = FakeEnv::step(action);
      if (steps == 5) over = true, result = {.terminated = true, .unstable = true};
      return result;
    }
  };
  const auto once = check_contract([] { return std::make_unique<Unstable>(); });
  CHECK(names(once, RuleOutcome::failed) == "stability");
  CHECK(names(once, RuleOutcome::passed).ends_with("unstable"));
  // Its second action is held for the steps 4 to 6 and ends with the fifth.
  const auto repeated = check_contract([] { return action_repeat(std::make_unique<Unstable>(), 3); });
  CHECK(names(repeated, RuleOutcome::failed) == "stability");
  CHECK_THAT(findings(repeated), ContainsSubstring("(first: seed 0, step 2)"));
  // Ending the episode is asked of it all the same.
  const auto goes_on = [] { return action_repeat(std::make_unique<FlawedEnv>(Flaw::unstable_goes_on), 5); };
  CHECK(names(check_contract(goes_on), RuleOutcome::failed) == "unstable");
}

TEST_CASE("names of the state are as many as its values, and fit for a table") {
  const auto flaw = [](std::vector<std::string> names) {
    EnvSpec spec;
    spec.observation.vector = 2;
    spec.state_names = std::move(names);
    return state_names_flaw(spec);
  };
  CHECK(flaw({}).empty());
  CHECK(flaw({"angle", "speed of joint_1 (m/s)"}).empty());
  CHECK(flaw({"angle"}) == "1 names for the 2 values of the vector");
  CHECK(flaw({"angle", "angle"}) == "the name 'angle' is used twice");
  for (const char* bad : {"", "a,b", "a\"b", "a\nb"})
    CHECK(flaw({"angle", bad}) == text("the name '", bad, "' is empty or has a comma, a quote or a control character"));
}
