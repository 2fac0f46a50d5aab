#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.rollout;

#include "../train/fake_env.hpp"

using namespace iap;

namespace {

constexpr std::array<std::uint64_t, 1> first_seed{5};
constexpr std::array<float, 2> still{};

/// Notes the seeds that it is reset with.
class Noting : public FakeEnv {
 public:
  explicit Noting(std::vector<std::uint64_t>& seeds) : FakeEnv(3), seeds_(seeds) {}
  void reset(std::uint64_t seed) override {
    seeds_.push_back(seed);
    FakeEnv::reset(seed);
  }

 private:
  std::vector<std::uint64_t>& seeds_;
};

/// Breaks down in its first step and shows NaN from there on.
class Broken : public FakeEnv {
 public:
  Broken() : FakeEnv(9, [](auto, int, StepResult& result) { result.unstable = true; }) {}
  Observation observe() override { return {{}, seen_}; }
  StepResult step(std::span<const float> action) override {
    seen_[0] = std::numeric_limits<float>::quiet_NaN();
    return FakeEnv::step(action);
  }

 private:
  std::array<float, 2> seen_{};
};

}  // namespace

TEST_CASE("a batch that is reset again goes as a new one does") {
  std::vector<std::uint64_t> seeds;
  EnvBatch batch([&] { return std::make_unique<Noting>(seeds); }, 1, 1);
  const auto play = [&] {
    seeds.clear();
    batch.reset(first_seed);
    std::vector<bool> over;
    for (int i = 0; i < 7; ++i) over.push_back(batch.step(still)[0].truncated);
    return std::pair(seeds, over);
  };
  // It ends where an episode is over.
  const auto once = play();
  CHECK(once.second == std::vector<bool>{false, false, true, false, false, false, true});
  CHECK(once.first == std::vector<std::uint64_t>{5, derive_seed({.seed = 5, .episode = 1, .purpose = Purpose::environment})});
  CHECK(play() == once);
}

TEST_CASE("a batch lets its environments show anything after an unstable step, be it the first, and not after the next reset") {
  EnvBatch batch([] { return std::make_unique<Broken>(); }, 1, 1);
  batch.reset(first_seed);
  CHECK_NOTHROW(batch.step(still));
  CHECK_THROWS_AS(batch.reset(first_seed), Error);
}
