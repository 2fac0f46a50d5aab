module;
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>
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
    std::vector<float> actions;
    const StepObserver each_step = [&](const Observation&, std::span<const float> action, const Policy&) {
      if (wanted && !wanted()) throw Interrupted();
      if (!task.keep_actions) return;
      // Whoever keeps them writes them out as text, too.
      constexpr double bytes_a_value = sizeof(float) + 16;
      reserve_growing(actions, action.size(), "what is kept of an episode's actions", bytes_a_value);
      actions.insert(actions.end(), action.begin(), action.end());
    };
    Episode episode = run_episode(*env_, policy_, task.seed, wanted || task.keep_actions ? each_step : StepObserver(), task.noise);
    episode.actions = std::move(actions);
    return episode;
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
