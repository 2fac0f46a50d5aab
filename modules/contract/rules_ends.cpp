#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

import iap.contract;
import iap.core;
import iap.env;
#include "contract/play.hpp"

/// The rules about an episode's end.
namespace iap::contract {
namespace {

struct Ending {
  int steps = 0;
  bool reached = false;
};

/// The episode without a look at it, up to its end, spec().max_steps or options.most_steps.
Ending play_out(Check& check, Env& env, int episode) {
  Actions actions(check, episode);
  const int limit = check.spec.max_steps, most = limit > 0 ? std::min(limit, check.options.most_steps) : check.options.most_steps;
  reset(check, env, episode);
  for (int i = 1; i <= most; ++i) {
    const StepResult result = step(check, env, actions.next(), episode, i);
    if (result.terminated || result.truncated) return {i, true};
  }
  return {most, false};
}

}  // namespace

Verdict check_stability(Check& check) {
  const int episodes = check.options.episodes;
  int unstable = 0;
  std::string first;
  for (int episode = 0; episode < episodes; ++episode) {
    const Trace& trace = check.reference(episode);
    if (!trace.back().unstable || !trace.back().terminated) continue;
    if (unstable++ == 0) first = text("seed ", check.seed(episode), ", step ", trace.size() - 1);
  }
  if (unstable == 0) return {};
  const std::string finding = text(unstable, " of ", episodes, episodes == 1 ? " episode" : " episodes",
                                   " ended because the simulation became unstable (first: ", first, ")");
  // Some policy may keep away from what only some random actions reach.
  if (unstable == episodes) throw Breach(finding);
  return {RuleOutcome::warning, finding};
}

Verdict check_time_limit(Check& check) {
  const int limit = check.spec.max_steps;
  if (limit == 0) return {RuleOutcome::skipped, "the environment has none"};
  if (limit > check.options.most_steps)
    return {RuleOutcome::skipped, text("its ", limit, " steps are more than the ", check.options.most_steps, " that are played")};
  const auto env = check.make();
  int longest = 0;
  for (int episode = 0; episode < check.options.episodes; ++episode) {
    const Ending ending = play_out(check, *env, episode);
    if (!ending.reached)
      throw Breach(text("the episode with seed ", check.seed(episode), " runs on after spec().max_steps = ", limit, " steps"));
    longest = std::max(longest, ending.steps);
    if (ending.steps == limit) return {RuleOutcome::passed, text("at step ", limit)};
  }
  return {RuleOutcome::skipped, text("no episode came to it: all ended by step ", longest)};
}

Verdict check_end(Check& check) {
  const auto env = check.make();
  for (int episode = 0; episode < check.options.episodes; ++episode) {
    const Ending ending = play_out(check, *env, episode);
    if (!ending.reached) continue;
    bool refused = false;
    try {
      env->step(Actions(check, episode).next());
    } catch (const Error&) {
      refused = true;
    }
    if (!refused) throw Breach(text("a step after the end was accepted", place(check, episode, ending.steps + 1)));
    // Most episodes are longer than what the rules before this one play of them.
    const Trace after = play(check, *env, episode, episode);
    const std::string changed = check.begins_anew ? difference(check, episode, check.reference(episode), after) : "";
    if (!changed.empty())
      throw Breach(
          text("after an episode of ", ending.steps, " steps that came to its end, other than in a fresh environment, ", changed));
    return {RuleOutcome::passed, text("the episode with seed ", check.seed(episode), " ended at step ", ending.steps)};
  }
  return {RuleOutcome::skipped, text("no episode ended in ", check.options.most_steps, " steps")};
}

}  // namespace iap::contract
