#pragma once
// Included after `import iap.core; import iap.env;`.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

/// What a test does to a step's result: nothing, spoil it, throw, interrupt, wait.
using Meddler = std::function<void(std::uint64_t seed, int step, iap::StepResult& result)>;

/// A point in the plane that is pushed about; it pays for being near the origin.
class FakeEnv : public iap::Env {
 public:
  explicit FakeEnv(int steps = 12, Meddler meddler = {}) : meddler_(std::move(meddler)) {
    spec_.name = "fake";
    spec_.config["name"] = "fake";
    spec_.config["steps"] = steps;
    spec_.observation.vector = 2;
    spec_.action_size = 2;
    spec_.control_dt = 0.1;
    spec_.max_steps = steps;
  }
  const iap::EnvSpec& spec() const override { return spec_; }
  void reset(std::uint64_t seed) override {
    seed_ = seed;
    step_ = 0;
    iap::Random random({.seed = seed, .purpose = iap::Purpose::environment});
    for (float& x : position_) x = static_cast<float>(random.uniform(-1, 1));
  }
  iap::StepResult step(std::span<const float> action) override {
    iap::StepResult result{.reward = 1};
    for (std::size_t i = 0; i < 2; ++i) {
      position_[i] += 0.3F * std::clamp(action[i], -1.0F, 1.0F);
      result.reward -= position_[i] * position_[i];
    }
    result.truncated = ++step_ == spec_.max_steps;
    if (meddler_) meddler_(seed_, step_, result);
    return result;
  }
  iap::Observation observe() override { return {{}, position_}; }

 protected:
  iap::EnvSpec spec_;

 private:
  Meddler meddler_;
  std::uint64_t seed_ = 0;
  int step_ = 0;
  std::array<float, 2> position_{};
};

inline std::function<std::unique_ptr<iap::Env>()> fake_envs(Meddler meddler = {}, int steps = 12) {
  return [=] { return std::make_unique<FakeEnv>(steps, meddler); };
}

inline iap::Config fake_policy() { return iap::Config::Map{{"kind", "linear"}, {"activation", "tanh"}}; }
