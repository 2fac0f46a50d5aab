module;
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import :probe;
import :readout;
import :recording;

namespace iap {
namespace {

constexpr int held_steps = 3;
/// A row of the table each, and a solution for each fold and lambda.
constexpr int most_state_values = 1 << 16;

void append(std::vector<float>& to, std::span<const float> values, const std::string& owner) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i])) throw Error(text(owner, " ", i + 1, " is ", values[i], "; only finite values can be fitted"));
  reserve_growing(to, values.size(), "what the probe keeps of an episode's steps", 2.0 * sizeof(float));
  to.insert(to.end(), values.begin(), values.end());
}

void collect_paths(const Block& block, bool attention, std::vector<std::string>& paths) {
  if (attention ? is_attention_block(block.kind()) : block.children().empty()) paths.push_back(block.path());
  for (const auto& child : block.children()) collect_paths(*child, attention, paths);
}

}  // namespace

StateEnv::StateEnv(std::unique_ptr<Env> env, bool hidden) : EnvWrapper(std::move(env)), hidden_(hidden) {
  if (hidden_) spec_.observation.vector = 0;
  action_.resize(static_cast<std::size_t>(spec_.action_size));
}

std::unique_ptr<StateEnv> StateEnv::make(const Config& config, const ObservationSpec& seen) {
  auto env = make_env(config);
  const std::string name = env->spec().name;
  if (env->spec().observation.vector == 0) {
    Config with_state = config;
    with_state["state"] = true;
    try {
      env = make_env(with_state);
    } catch (const OptionError&) {
      // It takes no such option: the message below says what to do.
    }
  }
  if (env->spec().observation.vector == 0)
    throw Error(text("probe: environment '", name,
                     "' has no state vector beside its pixels; probe one that takes the option state = true, or let an environment "
                     "in Lua say spec.vector and observe its state first"));
  if (const int values = env->spec().observation.vector; values > most_state_values)
    throw Error(text("probe: environment '", name, "' has a state of ", values, " numbers, at most ", most_state_values,
                     " can be fitted; let it show fewer"));
  return std::unique_ptr<StateEnv>(new StateEnv(std::move(env), seen.vector == 0));
}

void StateEnv::reset(std::uint64_t seed) {
  EnvWrapper::reset(seed);
  seed_ = seed;
  steps_ = 0;
}

void StateEnv::draw_action() {
  Random random({.seed = seed_, .iteration = static_cast<std::uint32_t>(steps_ / held_steps), .purpose = Purpose::user});
  for (float& value : action_) value = static_cast<float>(random.uniform(spec_.action_low, spec_.action_high));
}

StepResult StateEnv::step(std::span<const float> action) {
  if (random_ && steps_ % held_steps == 0) draw_action();
  StepResult result = EnvWrapper::step(random_ ? std::span<const float>(action_) : action);
  result.truncated = result.truncated || ++steps_ == most_steps_;
  return result;
}

Observation StateEnv::observe() {
  Observation seen = EnvWrapper::observe();
  state_ = seen.vector;
  if (hidden_) seen.vector = {};
  return seen;
}

std::vector<std::string> StateEnv::state_names() const {
  if (!spec_.state_names.empty()) return spec_.state_names;
  std::vector<std::string> names;
  for (int i = 1; i <= env_->spec().observation.vector; ++i) names.push_back(text("state ", i));
  return names;
}

std::vector<std::string> probed_blocks(const Policy& policy) {
  std::vector<std::string> paths;
  collect_paths(policy.root(), true, paths);
  if (paths.empty()) collect_paths(policy.root(), false, paths);
  return paths;
}

Recording::Recording(const Policy& policy, std::vector<std::string> paths_, const StateEnv& env, int count)
    : paths(std::move(paths_)), variables(env.state_names()), episodes(static_cast<std::size_t>(count)) {
  const std::vector<std::vector<float>> room(episodes.size());
  for (const auto& path : paths) outputs.push_back({policy.block(path).outputs(), room});
  state = {static_cast<int>(variables.size()), room};
}

StepObserver Recording::observer(int episode, const StateEnv& env) {
  return [this, at = static_cast<std::size_t>(episode), &env](const Observation&, std::span<const float>, const Policy& policy) {
    for (std::size_t i = 0; i < paths.size(); ++i)
      append(outputs[i].episodes[at], policy.outputs(paths[i]), text("block '", paths[i], "': output"));
    append(state.episodes[at], env.state(), "the state's value");
  };
}

Recording record(const Policy& policy, const Config& env, const ProbeOptions& options) {
  struct Worker {
    std::unique_ptr<StateEnv> env;
    std::optional<Policy> policy;
  };
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  std::vector<Worker> workers(static_cast<std::size_t>(threads));
  std::mutex building;
  const auto prepare = [&](Worker& worker) {
    const std::lock_guard lock(building);
    worker.env = StateEnv::make(env, policy.observation());
    worker.env->stop_after(options.steps);
    worker.env->play_random(options.random_actions);
    worker.policy.emplace(policy.clone());
  };
  prepare(workers.front());
  Recording recording(policy, options.blocks.empty() ? probed_blocks(policy) : options.blocks, *workers.front().env,
                      options.episodes);
  parallel_for(recording.episodes.size(), threads, [&](std::size_t episode, int number) {
    Worker& worker = workers[static_cast<std::size_t>(number)];
    if (!worker.env) prepare(worker);
    const StreamKey key{.seed = options.seed, .episode = static_cast<std::uint32_t>(episode), .purpose = Purpose::evaluation};
    recording.episodes[episode] =
        run_episode(*worker.env, *worker.policy, derive_seed(key), recording.observer(static_cast<int>(episode), *worker.env));
  });
  return recording;
}

}  // namespace iap
