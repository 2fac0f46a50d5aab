#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

import iap.contract;
import iap.core;
import iap.env;
#include "contract/play.hpp"
#include "env/keys.hpp"

namespace iap::contract {
namespace {

void require(bool kept, std::string_view breach) {
  if (!kept) throw Breach(std::string(breach));
}

void check_observation(const Check& check, const Observation& observation, const std::string& where) {
  const std::string flaw = observation_flaw(check.spec, observation);
  require(flaw.empty(), flaw + where);
}

/// Whether a step is several of the environment's own.
bool repeats_actions(const EnvSpec& spec) {
  const Config* repeats = spec.config.find("action_repeat");
  return repeats && repeats->integer().value_or(1) > 1;
}

}  // namespace

Verdict check_spec(Check& check) {
  const EnvSpec& spec = check.spec;
  require(!spec.name.empty(), "spec().name is empty");
  const std::string flaw = spec_flaw(spec);
  require(flaw.empty(), flaw);
  require(spec.control_dt > 0, "spec().control_dt is 0");
  require(spec.observation.vector > 0 || !spec.observation.images.empty(), "nothing is observed");
  if (const Config* keys = spec.config.find("keys"); keys && !keys->is_null()) {
    const std::string unfit = keys_flaw("option 'keys'", *keys, static_cast<std::size_t>(spec.action_size));
    if (!unfit.empty()) return {RuleOutcome::warning, unfit};
  }
  return {};
}

Verdict check_runs(Check& check) {
  for (int episode = 0; episode < check.options.episodes; ++episode) check.reference(episode);
  const auto env = check.make();
  play(check, *env, high_seed, high_seed);
  return {RuleOutcome::passed, text(check.steps, " steps")};
}

Verdict check_observations(Check& check) {
  const auto env = check.make();
  for (int episode = 0; episode < check.options.episodes; ++episode) {
    Actions actions(check, episode);
    reset(check, *env, episode);
    check_observation(check, observe(check, *env, episode, 0), place(check, episode, 0));
    for (int i = 1; i <= check.options.steps; ++i) {
      const bool ended = shown(step(check, *env, actions.next(), episode, i)).ended();
      check_observation(check, observe(check, *env, episode, i), place(check, episode, i));
      if (ended) break;
    }
  }
  return {};
}

Verdict check_rewards(Check& check) {
  double least = INFINITY, most = -INFINITY;
  for (int episode = 0; episode < check.options.episodes; ++episode) {
    const Trace& trace = check.reference(episode);
    for (std::size_t i = 1; i < trace.size(); ++i) {
      const auto reward = std::bit_cast<double>(trace[i].reward);
      require(std::isfinite(reward), text("the reward is ", reward, place(check, episode, static_cast<int>(i))));
      least = std::min(least, reward);
      most = std::max(most, reward);
    }
  }
  return {RuleOutcome::passed, text("from ", least, " to ", most)};
}

Verdict check_refusal(Check& check) {
  const auto env = check.make();
  const auto size = static_cast<std::size_t>(check.spec.action_size);
  const auto refuses = [&](const std::vector<float>& action) {
    // An environment that took the last one may be beyond its end.
    reset(check, *env, 0);
    try {
      env->step(action);
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  require(refuses(std::vector<float>(size + 1)), "an action with one value too many was accepted");
  require(refuses(std::vector<float>(size - 1)), "an action with one value too few was accepted");
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    std::vector<float> action(size);
    action.back() = bad;
    require(refuses(action), text("an action of ", bad, " was accepted"));
  }
  return {};
}

Verdict check_unstable(Check& check) {
  // A repeated action keeps what its steps before the unstable one have earned.
  const bool repeats = repeats_actions(check.spec);
  const auto judge = [&](const Shown& moment, int episode, int step) {
    if (!moment.unstable) return;
    require(moment.terminated, text("an unstable simulation did not terminate its episode", place(check, episode, step)));
    const auto reward = std::bit_cast<double>(moment.reward);
    require(repeats || reward == 0, text("an unstable simulation paid ", reward, place(check, episode, step)));
  };
  for (int episode = 0; episode < check.options.episodes; ++episode) {
    const Trace& trace = check.reference(episode);
    for (std::size_t i = 1; i < trace.size(); ++i) judge(trace[i], episode, static_cast<int>(i));
  }
  return {RuleOutcome::passed, check.unstable == 0 ? text("none became unstable in ", check.steps, " steps") : ""};
}

}  // namespace iap::contract
