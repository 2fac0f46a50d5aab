module;
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
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
import :settings;
import :trainer;
import :types;

namespace iap {
namespace {

EnvFactory factory_of(const TrainOptions& options) {
  if (options.make_env) return options.make_env;
  return [env = options.env] { return make_env(env); };
}

EnvSpec spec_of(const EnvFactory& make) {
  const auto env = make();
  if (!env) throw Error("train: the environment factory returned no environment");
  return env->spec();
}

Policy initial_policy(const TrainOptions& options, const EnvSpec& spec) {
  Policy policy(options.policy, spec.observation, spec.action_size);
  policy.initialise(options.seed);
  return policy;
}

}  // namespace

Trainer::Trainer(const TrainOptions& options)
    : options_(options),
      make_env_(factory_of(options)),
      spec_(spec_of(make_env_)),
      policy_(initial_policy(options, spec_)),
      optimizer_(make_optimizer(options.optimizer, policy_.parameters(), options.seed)),
      identity_(identity_of(options, spec_, policy_, *optimizer_)),
      pool_(make_env_, policy_.clone(), options.threads) {
  state_.identity = identity_;
  keep_mean();
}

double Trainer::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

/// Iterates to the end and names it. Whatever ends the run, the last completed iteration is on disk afterwards.
std::string Trainer::iterate_until_stopped() {
  try {
    begin();
    while (!finished())
      if (!iterate()) return "on_iteration";
    return optimizer_->stop_reason().empty() ? "iterations" : optimizer_->stop_reason();
  } catch (const Interrupted&) {
    return "interrupted";
  } catch (const std::exception& error) {
    log(text("error: ", error.what()));
    try {
      if (folder_) save_checkpoint();
    } catch (const Error& second) {
      log(text("error: ", second.what()));
    }
    throw;
  }
}

TrainResult Trainer::run() {
  progress_ = make_progress(options_.quiet);
  if (!options_.out.empty()) folder_.emplace(options_.out, options_.resume, options_.script);
  std::string stop_reason = iterate_until_stopped();
  if (folder_) save_checkpoint();
  TrainResult result = result_of(std::move(stop_reason));
  if (result.stop_reason != "interrupted") confirm(result);
  tell_end(result);
  return result;
}

TrainResult train(const TrainOptions& options) {
  check_options(options);
  try {
    return Trainer(options).run();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(text("train: ", error.what()));
  }
}

}  // namespace iap
