#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.ranks;
import iap.rollout;

#include "deadline.hpp"
#include "in_process.hpp"

using namespace iap;
using Catch::Matchers::StartsWith;

namespace {

const Config cartpole = Config::Map{{"name", "cartpole-balance"}, {"time_limit", 5}};

Policy policy() {
  const EnvSpec spec = make_env(cartpole)->spec();
  return Policy(Config::Map{{"kind", "linear"}}, spec.observation, spec.action_size);
}

/// Holds announcements back until the next message has overtaken them, or nothing more is sent.
class Overtaking : public RanksBetween {
 public:
  using RanksBetween::RanksBetween;
  void announce(const std::string& bytes) override { held_.push_back(bytes); }
  void send(int to, std::string bytes) override {
    RanksBetween::send(to, std::move(bytes));
    if (held_.empty()) return;
    // Long enough for the other rank to look at it.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    let_go();
  }
  std::optional<Message> receive() override {
    let_go();
    return RanksBetween::receive();
  }
  void leave() override {
    let_go();
    RanksBetween::leave();
  }

 private:
  void let_go() {
    for (; !held_.empty(); held_.pop_front()) RanksBetween::announce(held_.front());
  }
  std::deque<std::string> held_;
};

}  // namespace

TEST_CASE("a lease that comes before the announcement of its round is played once that is there") {
  const Deadline deadline;
  JobHere here(2, [](auto ranks) { return std::make_unique<Overtaking>(std::move(ranks)); });
  const std::vector<float> parameters(policy().size());
  std::vector<RolloutTask> tasks;
  for (std::uint64_t seed = 0; seed < 6; ++seed) tasks.push_back({.parameters = parameters, .seed = seed});
  const auto rollouts = open_rollouts(cartpole, [] { return make_env(cartpole); }, policy(), 1);
  for (int round = 0; round < 3; ++round) CHECK(rollouts->run(tasks).size() == 6);
}

TEST_CASE("of two failures the first task's is told, though the other comes first") {
  JobHere here(2);
  const std::vector<float> bad(policy().size(), std::numeric_limits<float>::quiet_NaN());
  const std::array<RolloutTask, 2> tasks{RolloutTask{.parameters = bad, .seed = 1}, RolloutTask{.parameters = bad, .seed = 2}};
  // Rank 0, which the first goes to, takes its time.
  const EnvFactory slowly = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return make_env(cartpole);
  };
  CHECK_THROWS_WITH(open_rollouts(cartpole, slowly, policy(), 1)->run(tasks), StartsWith("rank 0 on "));
}
