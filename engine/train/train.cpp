module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.train;
import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.policy;
import iap.rollout;
import :evaluation;
import :initial;
import :run_folder;
import :settings;
import :stages;
import :trainer;
import :types;
#include "core/held_interrupt.hpp"

namespace iap {
namespace {

constexpr const char* no_exception = "something was thrown that is no std::exception";

std::vector<float> initial_parameters(const TrainOptions& options, const std::optional<Initial>& initial, const World& world) {
  if (!initial) {
    Policy policy = world.policy.clone();
    policy.initialise(options.seed);
    return {policy.parameters().begin(), policy.parameters().end()};
  }
  try {
    const Policy& given = initial->file.policy;
    auto parameters = carried_parameters(given, given.parameters(), world.policy);
    if (const auto difference = moments_difference(given, world.policy); has_seen(given) && !difference.empty())
      throw Error(difference);
    return parameters;
  } catch (const Error& error) {
    throw Error(text("train: option 'init' (", initial->place, "): ", error.what()));
  }
}

}  // namespace

Trainer::Trainer(const TrainOptions& options)
    : options_(options),
      initial_(read_initial(options)),
      worlds_(build_stages(options, initial_ ? &initial_->file.policy : nullptr)),
      optimizer_(optimizer_of(0, initial_parameters(options, initial_, stage().world))),
      identity_(identity_of(options, worlds_, completed_optimizer(), initial_ ? &*initial_ : nullptr)) {
  check_stages();
  check_task_memory(text("train: option 'eval_episodes' (", options.eval_episodes, ")"), options.eval_episodes);
  check_task_memory(text("train: option 'confirm_episodes' (", confirm_episodes(options), ")"), confirm_episodes(options));
  state_.identity = identity_;
  state_.moments.resize(evaluation().policy.moments().size());
  if (initial_) {
    state_.initial = initial_->bytes;
    const Policy& given = initial_->file.policy;
    if (moments_difference(given, evaluation().policy).empty())
      state_.moments.assign(given.moments().begin(), given.moments().end());
  }
  open_pool();
  keep_mean();
}

double Trainer::seconds() const { return seconds_before_ + seconds_since(begin_); }

/// Iterates to the end and names it. Whatever ends the run, the last completed iteration is on disk afterwards.
std::string Trainer::iterate_until_stopped() {
  try {
    begin();
    if (had_enough_) return "on_iteration";
    while (!finished())
      if (!iterate() && !finished()) return "on_iteration";
    return optimizer_->stop_reason().empty() ? "iterations" : optimizer_->stop_reason();
  } catch (const Interrupted&) {
    return "interrupted";
  } catch (const std::exception& error) {
    rescue(error.what());
    throw;
  } catch (...) {
    rescue(no_exception);
    throw;
  }
}

/// Puts what is complete on disk, and on record what ended the run, as far as that goes: memory may be what is missing.
void Trainer::rescue(const char* what) noexcept {
  const auto record = [this](const char* line) noexcept {
    try {
      log(text("error: ", line));
    } catch (const std::exception&) {
      return;
    }
  };
  record(what);
  try {
    if (folder_) save_checkpoint();
  } catch (const std::exception& second) {
    record(second.what());
  }
}

TrainResult Trainer::run() {
  progress_ = make_progress(options_.quiet);
  if (!options_.out.empty()) folder_.emplace(options_.out, options_.resume, options_.script);
  if (folder_ && !folder_->locked())
    warn(text("the file system of '", folder_->path().string(), "' gives no locks; see to it that no other process writes there"));
  std::string stop_reason = iterate_until_stopped();
  TrainResult result = [&] {
    const HeldInterrupt interrupt;
    if (folder_) save_checkpoint();
    return result_of(std::move(stop_reason));
  }();
  if (result.stop_reason != "interrupted") confirm(result);
  {
    const HeldInterrupt interrupt;
    look_after_tables_at_end();
  }
  tell_end(result);
  return result;
}

TrainingPlan Trainer::plan() {
  bool resumed = false;
  if (!options_.out.empty() && !options_.script.empty()) {
    RunFolder::check(options_.out, options_.resume, options_.script);
    resumed = options_.resume && take_up(options_.out);
    check_files(options_.out, resumed);
  }
  if (!resumed) check_episodes();
  TrainResult result = result_of("iterations");
  result.iterations = static_cast<std::uint32_t>(options_.iterations);
  result.first_eval = result.last_eval = result.best_eval = 0;
  result.confirmed = Confirmation{};
  return {std::move(result), run_config(options_, identity_), planned_stages(), options_.safeguards};
}

/// Those that the run's iterations come to, each with what it has left to do.
std::vector<PlannedStage> Trainer::planned_stages() const {
  std::vector<PlannedStage> planned;
  const auto all = static_cast<std::uint32_t>(options_.iterations);
  const std::uint32_t done = finished() ? all : optimizer_->iteration();
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < worlds_.stages.size() && before < all; ++i) {
    const Stage& stage = worlds_.stages[i];
    Policy policy = stage.world.policy.clone();
    policy.initialise(options_.seed);
    const std::size_t population = optimizer_of(i, policy.parameters())->population();
    const std::uint32_t through = std::min(stage.through, all);
    planned.push_back({static_cast<int>(through - std::clamp(done, before, through)), stage.episodes, population,
                       stage.world.spec.config, std::move(policy), stage.optimizer});
    before = through;
  }
  return planned;
}

namespace {

template <typename Work>
auto with_trainer(const TrainOptions& options, Work work) {
  check_options(options);
  try {
    Trainer trainer(options);
    return work(trainer);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(text("train: ", error.what()));
  } catch (...) {
    throw Error(text("train: ", no_exception));
  }
}

}  // namespace

TrainResult train(const TrainOptions& options) {
  return with_trainer(options, [](Trainer& trainer) { return trainer.run(); });
}

TrainingPlan plan_training(const TrainOptions& options) {
  return with_trainer(options, [](Trainer& trainer) { return trainer.plan(); });
}

}  // namespace iap
