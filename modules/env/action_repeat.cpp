module;
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
module iap.env;
import iap.core;

namespace iap {
namespace {

/// How often an environment repeats actions already.
std::int64_t repeats_of(const Env& env) {
  const auto* repeats = env.spec().config.find("action_repeat");
  return repeats ? repeats->integer().value_or(1) : 1;
}

class ActionRepeat final : public EnvWrapper {
 public:
  ActionRepeat(std::unique_ptr<Env> env, int count) : EnvWrapper(std::move(env)), count_(count) {
    const Config repeats = count * repeats_of(*env_);
    spec_.config["action_repeat"] = repeats;
    if (spec_.given.map()) spec_.given["action_repeat"] = repeats;
    spec_.control_dt *= count;
    spec_.observation.dt *= count;
    spec_.max_steps = (spec_.max_steps + count - 1) / count;
  }

  StepResult step(std::span<const float> action) override {
    StepResult result;
    for (int i = 0; i < count_ && !result.terminated && !result.truncated; ++i) {
      const double before = result.reward;
      result = env_->step(action);
      result.reward += before;
    }
    return result;
  }

 private:
  int count_;
};

}  // namespace

std::unique_ptr<Env> action_repeat(std::unique_ptr<Env> env, int count) {
  constexpr std::int64_t most = 1000;  // that the option takes, with which files rebuild the environment
  const std::int64_t already = repeats_of(*env);
  if (count < 1 || count * already > most)
    throw Error(text(env->spec().name, ": action_repeat must be at least 1 and at most ", most, ", got ", count,
                     already > 1 ? text(" of an environment that has ", already, " already") : ""));
  return std::make_unique<ActionRepeat>(std::move(env), count);
}

}  // namespace iap
