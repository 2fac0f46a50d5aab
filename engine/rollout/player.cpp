module;
#include <functional>
#include <memory>
#include <span>
#include <utility>
module iap.rollout;
import iap.core;
import iap.env;
import iap.policy;
import :player;
import :types;

namespace iap {
namespace {

class LocalPlayer final : public Player {
 public:
  LocalPlayer(std::unique_ptr<Env> env, Policy policy) : env_(std::move(env)), policy_(std::move(policy)) {}

  Episode play(const RolloutTask& task, const Wanted& wanted) override {
    policy_.set_parameters(task.parameters);
    if (!task.moments.empty()) policy_.set_moments(task.moments);
    const StepObserver while_wanted = [&wanted](const Observation&, std::span<const float>, const Policy&) {
      if (!wanted()) throw Interrupted();
    };
    return run_episode(*env_, policy_, task.seed, wanted ? while_wanted : StepObserver(), task.noise);
  }

 private:
  std::unique_ptr<Env> env_;
  Policy policy_;
};

}  // namespace

std::unique_ptr<Player> local_player(std::unique_ptr<Env> env, Policy policy) {
  return std::make_unique<LocalPlayer>(std::move(env), std::move(policy));
}

}  // namespace iap
