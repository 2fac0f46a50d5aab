module;
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
module iap.env;
import iap.core;

namespace iap {
namespace {

class ActionRepeat final : public EnvWrapper {
 public:
  ActionRepeat(std::unique_ptr<Env> env, int count) : EnvWrapper(std::move(env)), count_(count) {
    const auto* inner = spec_.config.find("action_repeat");
    const Config repeats = count * static_cast<int>(inner ? inner->integer().value_or(1) : 1);
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
  if (count < 1) throw Error(text(env->spec().name, ": action_repeat must be at least 1, got ", count));
  return std::make_unique<ActionRepeat>(std::move(env), count);
}

}  // namespace iap
