#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

import iap.contract;
import iap.core;
import iap.env;
#include "contract/play.hpp"

/// The rules that compare episodes with each other.
namespace iap::contract {
namespace {

void require_same(const Check& check, int episode, const Trace& first, const Trace& second, int from = 0) {
  const std::string found = difference(check, episode, first, second, from);
  if (!found.empty()) throw Breach(found);
}

}  // namespace

Verdict check_reset(Check& check) {
  const auto env = check.make();
  for (int episode = 0; episode < check.options.episodes; ++episode) {
    Actions actions(check, episode);
    reset(check, *env, episode);
    const Trace first{{.parts = look(check, *env, episode, 0)}};
    for (int i = 1; i <= 3 && !shown(step(check, *env, actions.next(), episode, i)).ended(); ++i) {
    }
    reset(check, *env, episode);
    require_same(check, episode, first, {{.parts = look(check, *env, episode, 0)}});
  }
  return {};
}

Verdict check_steps(Check& check) {
  const auto env = check.make();
  for (int episode = 0; episode < check.options.episodes; ++episode) {
    const Trace first = play(check, *env, episode, episode);
    // What the reset shows is a rule of its own.
    require_same(check, episode, first, play(check, *env, episode, episode), 1);
  }
  return {};
}

Verdict check_fresh(Check& check) {
  const auto used = check.make();
  for (int episode = check.options.episodes; episode >= 0; --episode) {
    const Trace trace = play(check, *used, episode, episode);
    require_same(check, episode, check.reference(episode), trace);
  }
  return {};
}

Verdict check_seeds(Check& check) {
  const auto env = check.make();
  const int last = std::max(1, check.options.episodes - 1);
  for (int episode = 1; episode <= last; ++episode)
    if (!difference(check, episode, check.reference(0), play(check, *env, episode, 0)).empty()) return {};
  return {RuleOutcome::warning, text("the seeds ", check.seed(0), " to ", check.seed(last), " give one and the same episode")};
}

Verdict check_looking(Check& check) {
  for (int episode = 0; episode < check.options.episodes; ++episode) {
    const Trace& reference = check.reference(episode);
    for (const Looks looks : {Looks::at_the_end, Looks::twice}) {
      const auto env = check.make();
      const std::string found = difference(check, episode, reference, play(check, *env, episode, episode, looks));
      if (!found.empty())
        throw Breach(text("with ", looks == Looks::twice ? "two looks" : "no look", " at each step instead of one ", found));
    }
  }
  return {};
}

Verdict check_instances(Check& check) {
  const std::unique_ptr<Env> envs[]{check.make(), check.make()};
  Actions actions[]{Actions(check, 0), Actions(check, 1)};
  Trace traces[2];
  for (const int i : {0, 1}) reset(check, *envs[i], i);
  for (const int i : {0, 1}) traces[i].push_back({.parts = look(check, *envs[i], i, 0)});
  for (int count = 1; count <= check.options.steps; ++count)
    for (const int i : {0, 1}) {
      if (traces[i].back().ended()) continue;
      traces[i].push_back(shown(step(check, *envs[i], actions[i].next(), i, count)));
      traces[i].back().parts = look(check, *envs[i], i, count);
    }
  for (const int i : {0, 1}) require_same(check, i, check.reference(i), traces[i]);
  return {};
}

Verdict check_threads(Check& check) {
  constexpr int count = 3;
  std::vector<std::unique_ptr<Env>> envs;
  for (int i = 0; i < count; ++i) envs.push_back(check.make());
  std::vector<Trace> traces(count);
  std::vector<std::exception_ptr> errors(count);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        try {
          traces[i] = play(check, *envs[i], i, i);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
  }
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
  for (int i = 0; i < count; ++i) require_same(check, i, check.reference(i), traces[i]);
  return {RuleOutcome::passed, text(count, " threads")};
}

Verdict check_clipping(Check& check) {
  const auto env = check.make();
  const float range = check.spec.action_high - check.spec.action_low;
  std::vector<float> action(static_cast<std::size_t>(check.spec.action_size));
  const auto held = [&](float value) {
    std::ranges::fill(action, value);
    reset(check, *env, 0);
    Trace trace(1);
    for (int i = 1; i <= 5 && !trace.back().ended(); ++i) {
      trace.push_back(shown(step(check, *env, std::span<const float>(action), 0, i)));
      trace.back().parts = look(check, *env, 0, i);
    }
    return trace;
  };
  for (const float sign : {1.0F, -1.0F}) {
    const float end = sign > 0 ? check.spec.action_high : check.spec.action_low;
    const float beyond = end + sign * range;
    const std::string found = difference(check, 0, held(end), held(beyond));
    if (!found.empty()) throw Breach(text("actions of ", beyond, " are not clipped: other than for ", end, ", ", found));
  }
  return {};
}

}  // namespace iap::contract
