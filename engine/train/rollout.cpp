module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
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

/// Policy outputs, clipped to [-1, 1], onto the action range; the identity for the range [-1, 1] where there is no noise.
void map_action(const EnvSpec& spec, std::span<const float> outputs, double deviation, Random& random, std::span<float> action) {
  const float middle = 0.5F * (spec.action_low + spec.action_high), half = 0.5F * (spec.action_high - spec.action_low);
  for (std::size_t i = 0; i < action.size(); ++i) {
    if (!std::isfinite(outputs[i])) throw Error(text("the policy's action ", i, " is ", outputs[i], "; actions must be finite"));
    const float clipped = std::clamp(outputs[i], -1.0F, 1.0F);
    action[i] = middle + half * (deviation > 0 ? disturbed(clipped, deviation, random) : clipped);
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
    map_action(spec, policy.act(observation), noise.deviation, random, action);
    if (observer) observer(observation, action, policy);
    const StepResult result = env.step(action);
    if (!std::isfinite(result.reward)) throw Error(text("the reward is ", result.reward, "; rewards must be finite"));
    episode.total += result.reward;
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
  const ObservationSpec seen = comparable(spec.observation, policy.observation());
  if (policy.observation() != seen)
    throw Error(text("the policy was built for the observation ", to_json(to_config(policy.observation())), ", '", spec.name,
                     "' gives ", to_json(to_config(seen))));
}

Episode run_episode(Env& env, Policy& policy, std::uint64_t seed, const StepObserver& observer, const ActionNoise& noise) {
  Episode episode;
  bool began = false;
  try {
    play(env, policy, seed, observer, noise, episode, began);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    const std::string moment = began ? step_name(env.spec(), episode.steps + 1) : "before the first step";
    throw Error(text("environment '", env.spec().name, "', seed ", seed, ", ", moment, ": ", error.what()));
  }
  return episode;
}

struct RolloutPool::Impl {
  struct Worker {
    std::unique_ptr<Env> env;
    std::optional<Policy> policy;
  };

  Episode run(const RolloutTask& task, Worker& worker, const StepObserver& observer = {}) {
    if (!worker.env) {
      // Factories may come from a host that never thought of threads, so they run one at a time.
      const std::lock_guard lock(building);
      worker.policy.emplace(prototype.clone());
      worker.env = make_env();
      if (!worker.env) throw Error("the environment factory returned no environment");
    }
    worker.policy->set_parameters(task.parameters);
    if (!task.moments.empty()) worker.policy->set_moments(task.moments);
    return run_episode(*worker.env, *worker.policy, task.seed, observer, task.noise);
  }

  void serve(TaskFeed& feed, Worker& worker) {
    const StepObserver while_wanted = [&feed](const Observation&, std::span<const float>, const Policy&) {
      if (!feed.wanted()) throw Interrupted();
    };
    while (const auto next = feed.next()) {
      try {
        feed.played(next->number, run(next->task, worker, while_wanted));
      } catch (const Interrupted&) {
        feed.failed(next->number);
      } catch (const std::exception&) {
        worker = {};
        feed.failed(next->number);
      }
    }
  }

  EnvFactory make_env;
  Policy prototype;
  std::vector<Worker> workers;
  std::mutex building;
};

RolloutPool::RolloutPool(EnvFactory make_env, Policy prototype, int threads)
    : impl_(new Impl{std::move(make_env), std::move(prototype), {}, {}}) {
  if (threads < 0) throw Error(text("rollout: the number of threads must not be negative, got ", threads));
  impl_->workers.resize(static_cast<std::size_t>(threads == 0 ? hardware_threads() : threads));
}

RolloutPool::~RolloutPool() = default;

int RolloutPool::threads() const { return static_cast<int>(impl_->workers.size()); }

std::vector<Episode> RolloutPool::run(std::span<const RolloutTask> tasks) {
  std::vector<Episode> episodes(tasks.size());
  parallel_for(tasks.size(), threads(), [&](std::size_t index, int number) {
    auto& worker = impl_->workers[static_cast<std::size_t>(number)];
    try {
      episodes[index] = impl_->run(tasks[index], worker);
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      // What broke in the middle of an episode is not to be trusted with the next one.
      worker = {};
      throw Error(error.what());
    }
  });
  return episodes;
}

void RolloutPool::serve(TaskFeed& feed) {
  // As many indices as workers: each stays with its worker until the feed ends.
  parallel_for(impl_->workers.size(), threads(),
               [&](std::size_t, int number) { impl_->serve(feed, impl_->workers[static_cast<std::size_t>(number)]); });
}

std::vector<Episode> Rollouts::run_members(std::span<const RolloutTask> tasks, const std::function<Derivation()>&) {
  return run(tasks);
}

namespace {

RolloutsFactory& rollouts_factory() {
  static RolloutsFactory factory;
  return factory;
}

}  // namespace

void set_rollouts(RolloutsFactory factory) { rollouts_factory() = std::move(factory); }

std::unique_ptr<Rollouts> open_rollouts(const Config& env, EnvFactory make_env, Policy prototype, int threads) {
  if (!env.is_null() && rollouts_factory()) return rollouts_factory()(env, std::move(make_env), std::move(prototype), threads);
  return std::make_unique<RolloutPool>(std::move(make_env), std::move(prototype), threads);
}

}  // namespace iap
