module;
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
module iap.env;
import iap.core;

namespace iap {
namespace {

class TimeLimit final : public EnvWrapper {
 public:
  TimeLimit(std::unique_ptr<Env> env, int limit) : EnvWrapper(std::move(env)), limit_(limit) {
    // The option counts steps without action repeat, because it is applied first when the config is read again.
    const auto *repeat = spec_.config.find("action_repeat"), *inner = spec_.config.find("time_limit");
    spec_.max_steps = spec_.max_steps > 0 ? std::min(spec_.max_steps, limit) : limit;
    const std::int64_t product = spec_.max_steps * (repeat ? repeat->integer().value_or(1) : 1);
    // A limit that ends within a repetition is no multiple of it.
    const Config steps = std::min(inner ? inner->integer().value_or(product) : product, product);
    spec_.config["time_limit"] = steps;
    if (spec_.given.map()) spec_.given["time_limit"] = steps;
  }

  void reset(std::uint64_t seed) override {
    env_->reset(seed);
    steps_ = 0;
  }

  StepResult step(std::span<const float> action) override {
    if (steps_ >= limit_) throw Error(text(spec_.name, ": the episode has not begun or is over; call reset before step"));
    StepResult result = env_->step(action);
    if (++steps_ >= limit_) result.truncated = true;
    return result;
  }

 private:
  int limit_;
  int steps_ = 0;
};

}  // namespace

std::unique_ptr<Env> time_limit(std::unique_ptr<Env> env, int max_steps) {
  if (max_steps < 1) throw Error(text(env->spec().name, ": time_limit must be at least 1 step, got ", max_steps));
  return std::make_unique<TimeLimit>(std::move(env), max_steps);
}

}  // namespace iap
