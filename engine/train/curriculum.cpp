module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.train;
import iap.core;
import iap.optim;
import iap.policy;
import iap.rollout;
import :checkpoint;
import :progress;
import :run_folder;
import :settings;
import :stages;
import :trainer;
import :types;

namespace iap {

namespace {

/// Whether parameters go from one policy to the other as they are, whatever they are: values that all differ show it, while those
/// that a run begins at may be alike.
bool carries_unchanged(const Policy& from, const Policy& to) {
  if (from.size() != to.size()) return false;
  std::vector<float> probe(from.size());
  for (std::size_t i = 0; i < probe.size(); ++i) probe[i] = 1 + static_cast<float>(i);
  return std::ranges::equal(carried_parameters(from, probe, to), probe);
}

Config without_population(Config optimizer) {
  if (optimizer.is_null()) optimizer = Config::Map{};
  if (auto* options = optimizer.map()) options->erase("population");
  return optimizer;
}

/// @throws Error, naming the stage where that has members of its own.
std::unique_ptr<Optimizer> make_in_stage(std::size_t stage, const Config& optimizer, std::span<const float> parameters,
                                         const TrainOptions& options) {
  try {
    return make_optimizer(optimizer, parameters, options.seed);
  } catch (const Error& error) {
    if (optimizer == options.optimizer) throw;
    throw Error(text("train: option 'curriculum', stage ", stage + 1, ": ", error.what()));
  }
}

}  // namespace

std::unique_ptr<Optimizer> Trainer::optimizer_of(std::size_t stage, std::span<const float> parameters) const {
  return make_in_stage(stage, worlds_.stages[stage].optimizer, parameters, options_);
}

/// Whether the optimizer of the stage before `stage` itself goes on in it, as it has as many members, written down or not.
bool Trainer::keeps_optimizer(std::size_t stage) const {
  const Stage &last = worlds_.stages[stage - 1], &now = worlds_.stages[stage];
  if (!carries_unchanged(last.world.policy, now.world.policy)) return false;
  if (last.optimizer == now.optimizer) return true;
  if (without_population(last.optimizer) != without_population(now.optimizer)) return false;
  const std::span<const float> parameters = now.world.policy.parameters();
  return optimizer_of(stage - 1, parameters)->population() == optimizer_of(stage, parameters)->population();
}

/// The optimizer of `stage`, which goes on from `before` in the stage before it; null if `before` itself can go on.
std::unique_ptr<Optimizer> Trainer::next_optimizer(std::size_t stage, const Optimizer& before) const {
  const Stage &last = worlds_.stages[stage - 1], &now = worlds_.stages[stage];
  if (keeps_optimizer(stage)) return nullptr;
  auto next = optimizer_of(stage, carried_parameters(last.world.policy, before.mean(), now.world.policy));
  try {
    next->adopt(before, carries_unchanged(last.world.policy, now.world.policy));
  } catch (const Error& error) {
    throw Error(text("train: option 'curriculum', stage ", stage + 1, ": ", error.what()));
  }
  return next;
}

/// @throws Error for a stage that this optimizer cannot go on to, or whose episodes need too much memory, before any work is done.
void Trainer::check_stages() const {
  std::unique_ptr<Optimizer> made;
  const Optimizer* before = optimizer_.get();
  check_iteration_memory(before->population(), stage().episodes);
  for (std::size_t i = 1; i < worlds_.stages.size(); ++i) {
    if (auto next = next_optimizer(i, *before)) {
      made = std::move(next);
      before = made.get();
    }
    check_iteration_memory(before->population(), worlds_.stages[i].episodes);
  }
}

Config shared_optimizer(const Config& optimizer, const TrainOptions& options, const Stages& stages) {
  const Policy& first = stages.stages.front().world.policy;
  Config shared = make_optimizer(optimizer, first.parameters(), options.seed)->config();
  for (std::size_t i = 0; i < options.curriculum.size(); ++i) {
    const Policy& policy = stages.stages[i].world.policy;
    const auto population = options.curriculum[i].population;
    if (!population && policy.size() == first.size()) continue;
    Config given = optimizer;
    if (population) given["population"] = *population;
    Config own = make_in_stage(i, given, policy.parameters(), options)->config();
    if (const Config* members = shared.find("population"); members && population) own["population"] = *members;
    keep_shared(shared, own);
  }
  return shared;
}

/// What the option `optimizer` became, as far as it is the same in all stages.
Config Trainer::completed_optimizer() const {
  return options_.curriculum.empty() ? optimizer_->config() : shared_optimizer(options_.optimizer, options_, worlds_);
}

/// Makes the optimizer and the pool those of the stage in which `iteration` was completed, for a state to be loaded.
void Trainer::go_to_stage_of(std::uint32_t iteration) {
  std::size_t wanted = 0;
  while (iteration > worlds_.stages[wanted].through) ++wanted;
  if (wanted == stage_) return;
  bool kept = true;
  for (; stage_ < wanted; ++stage_) kept = kept && keeps_optimizer(stage_ + 1);
  // One that went on through all of them knows what its state does not hold: where restarts of CMA-ES begin.
  if (!kept) optimizer_ = optimizer_of(stage_, stage().world.policy.parameters());
  open_pool();
}

/// Goes on to the stage of the next iteration.
void Trainer::advance() {
  while (optimizer_->iteration() >= stage().through) {
    const std::size_t parameters = optimizer_->parameters();
    const bool same = carries_unchanged(stage().world.policy, worlds_.stages[stage_ + 1].world.policy);
    auto next = next_optimizer(stage_ + 1, *optimizer_);
    ++stage_;
    if (next) optimizer_ = std::move(next);
    if (!same_world(worlds_.stages[stage_ - 1].world, stage().world)) optimizer_->fitness_changes();
    open_pool();
    std::string line =
        text("stage ", stage_ + 1, " of ", worlds_.stages.size(), " begins with iteration ", optimizer_->iteration() + 1, ": ",
             to_json(curriculum_of(options_, worlds_).list()->at(stage_)), ", ", optimizer_->population(), " members");
    if (optimizer_->parameters() != parameters) line += text("; ", optimizer_->parameters(), " parameters instead of ", parameters);
    if (!same) line += "; the mean is resampled, the optimizer's moments begin anew";
    log(line);
    progress_->note(place() + line);
  }
}

/// Environments of the present stage; the ones at hand if they are the same.
void Trainer::open_pool() {
  const World& world = stage().world;
  if (pool_ && same_world(*pool_world_, world)) return;
  pool_world_ = &world;
  pool_ = rollouts_of(world, options_);
}

Rollouts& Trainer::evaluation_pool() {
  if (same_world(*pool_world_, evaluation())) return *pool_;
  if (!evaluation_pool_) evaluation_pool_ = rollouts_of(evaluation(), options_);
  return *evaluation_pool_;
}

/// The optimizer's mean in the policy that evaluations play.
std::vector<float> Trainer::evaluated_mean() const {
  return carried_parameters(stage().world.policy, optimizer_->mean(), evaluation().policy);
}

}  // namespace iap
