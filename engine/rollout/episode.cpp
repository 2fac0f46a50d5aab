module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>
module iap.rollout;
import iap.core;
import iap.env;
import iap.policy;

namespace iap {
namespace {

/// `value` in [-1, 1] with noise, in [-1, 1] again.
float disturbed(float value, double deviation, Random& random) {
  return std::clamp(static_cast<float>(value + deviation * random.normal()), -1.0F, 1.0F);
}

/// Policy outputs, clipped to [-1, 1], onto the action range, which no rounding leaves; the identity for the range [-1, 1] where
/// there is no noise.
void map_action(const EnvSpec& spec, std::span<const float> outputs, double deviation, Random& random, std::span<float> action) {
  const float low = 0.5F * spec.action_low, high = 0.5F * spec.action_high;
  const float middle = low + high, half = high - low;
  for (std::size_t i = 0; i < action.size(); ++i) {
    if (!std::isfinite(outputs[i]))
      throw Error(text("the policy's action ", i + 1, " is ", outputs[i], "; actions must be finite"));
    const float clipped = std::clamp(outputs[i], -1.0F, 1.0F);
    const float mapped = middle + half * (deviation > 0 ? disturbed(clipped, deviation, random) : clipped);
    action[i] = std::clamp(mapped, spec.action_low, spec.action_high);
  }
}

/// Steps are counted from 1, and by decisions of the policy.
std::string step_name(const EnvSpec& spec, int step) {
  const Config* repeat = spec.config.find("action_repeat");
  const auto times = repeat ? repeat->integer().value_or(1) : 1;
  return times > 1 ? text("step ", step, " (each repeats its action ", times, " times)") : text("step ", step);
}

/// Plays from the reset to the end; `episode.steps` counts on, and `began` turns true after the reset, for the message of whoever
/// catches.
void play(Env& env, Policy& policy, std::uint64_t seed, const StepObserver& observer, const ActionNoise& noise, Episode& episode,
          bool& began) {
  const EnvSpec& spec = env.spec();
  check_fit(spec, policy);
  std::vector<float> action(static_cast<std::size_t>(spec.action_size));
  // Neither environments nor blocks draw for this purpose.
  Random random({.seed = noise.seed, .purpose = Purpose::perturbation});
  env.reset(seed);
  policy.reset(seed);
  began = true;
  while (!episode.terminated && !episode.truncated) {
    check_interrupt();
    const Observation observation = env.observe();
    if (const auto flaw = observation_flaw(spec, observation); !flaw.empty()) throw Error(text("before it, ", flaw));
    map_action(spec, policy.act(observation), noise.deviation, random, action);
    if (observer) observer(observation, action, policy);
    const StepResult result = env.step(action);
    if (!std::isfinite(result.reward)) throw Error(text("the reward is ", result.reward, "; rewards must be finite"));
    episode.total += result.reward;
    // Finite rewards may still sum to more than a double holds.
    if (!std::isfinite(episode.total)) throw Error(text("the return is ", episode.total, "; returns must be finite"));
    episode.terminated = result.terminated || result.unstable;
    episode.truncated = result.truncated;
    episode.unstable = result.unstable;
    ++episode.steps;
  }
  if (!policy.moments().empty()) episode.gathered = policy.gathered();
}

}  // namespace

void check_fit(const EnvSpec& spec, const Policy& policy) {
  if (policy.action_size() != spec.action_size)
    throw Error(text("the policy gives ", policy.action_size(), " action values, '", spec.name, "' takes ", spec.action_size));
  if (const auto difference = observation_difference(spec.observation, policy.observation()); !difference.empty())
    throw Error(text("'", spec.name, "' gives another observation than the policy was built for: ", difference,
                     "; give the environment the options that the policy was trained with"));
}

Episode run_episode(Env& env, Policy& policy, std::uint64_t seed, const StepObserver& observer, const ActionNoise& noise) {
  Episode episode;
  bool began = false;
  const auto failed = [&](const char* why) {
    const std::string moment = began ? step_name(env.spec(), episode.steps + 1) : "before the first step";
    return Error(text("environment '", env.spec().name, "', seed ", seed, ", ", moment, ": ", why));
  };
  try {
    play(env, policy, seed, observer, noise, episode, began);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw failed("out of memory");
  } catch (const std::exception& error) {
    throw failed(error.what());
  } catch (...) {
    throw failed("something was thrown that is no std::exception");
  }
  return episode;
}

}  // namespace iap
