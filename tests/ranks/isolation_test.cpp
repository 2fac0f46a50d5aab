#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.policy;
import iap.ranks;
import iap.rollout;

#include "../rollout/trouble.hpp"
#include "deadline.hpp"
#include "in_process.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

constexpr std::uint64_t bad_seed = 77;

Config troubled(const std::string& trouble) {
  return Config::Map{{"name", "fake"}, {"trouble", trouble}, {"seed", static_cast<std::int64_t>(bad_seed)}};
}

Policy policy() { return Policy(fake_policy(), FakeEnv().spec().observation, 2); }

std::unique_ptr<Rollouts> open(const Config& env, const Safeguards& safeguards) {
  set_worker(IAP_ROLLOUT_WORKER, {"worker"});
  return open_rollouts(env, [env] { return make_troubled(env); }, policy(), 1, safeguards);
}

/// What two ranks say of an episode that fails on both.
void fails_on_both(const std::string& trouble, Safeguards safeguards, const std::string& reason) {
  safeguards.retries = 0;
  safeguards.failed_return = -5;
  const Deadline deadline;
  JobHere here(2);
  const std::vector<float> parameters(policy().size());
  const std::vector<RolloutTask> tasks(2, RolloutTask{.parameters = parameters, .seed = bad_seed});
  const auto episodes = open(troubled(trouble), safeguards)->run(tasks);
  for (std::size_t rank = 0; rank < episodes.size(); ++rank)
    CHECK_THAT(episodes[rank].failure, StartsWith("rank " + std::to_string(rank) + " on ") && ContainsSubstring(reason));
}

}  // namespace

TEST_CASE("each rank cuts off what hangs") { fails_on_both("hang", {.episode_timeout = 0.5}, "took longer than 0.5 s"); }

#if !defined(__has_feature) || (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
TEST_CASE("each rank limits the memory of what it isolates") {
  fails_on_both("leak", {.worker_memory = 256}, "worker_memory = 256 MiB");
}
#endif

TEST_CASE("another rank tries an episode as often as it is told, and says why it did so again") {
  const std::filesystem::path marker = std::filesystem::temp_directory_path() / ("iap-ranks-isolation-" + std::to_string(getpid()));
  Config env = troubled("throw");
  env["marker"] = marker.string();
  const std::vector<float> parameters(policy().size());
  // The first goes to rank 0, the second to rank 1.
  const std::array<RolloutTask, 2> tasks{RolloutTask{.parameters = parameters, .seed = 1},
                                         RolloutTask{.parameters = parameters, .seed = bad_seed}};
  JobHere here(2);
  const auto play = [&](int retries) {
    std::filesystem::remove(marker);
    return open(env, {.isolate = true, .retries = retries, .failed_return = -5})->run(tasks)[1];
  };
  const Episode once = play(0), twice = play(1);
  std::filesystem::remove(marker);
  CHECK(once.total == -5);
  CHECK_THAT(once.failure, StartsWith("rank 1 on ") && ContainsSubstring("a world of trouble"));
  CHECK(twice.failure.empty());
  CHECK(twice.retries == 1);
  CHECK_THAT(twice.retried_for, StartsWith("rank 1 on ") && ContainsSubstring("a world of trouble"));
}

TEST_CASE("a round that has failed does not wait for isolated episodes that nobody wants any more") {
  const auto begin = std::chrono::steady_clock::now();
  {
    const Deadline deadline;
    JobHere here(2);
    const std::vector<float> good(policy().size()), bad(good.size(), std::numeric_limits<float>::quiet_NaN());
    const std::array<RolloutTask, 2> tasks{RolloutTask{.parameters = bad, .seed = 1},
                                           RolloutTask{.parameters = good, .seed = bad_seed}};
    CHECK_THROWS_AS(open(troubled("hang"), {.isolate = true, .retries = 0})->run(tasks), Error);
  }
  CHECK(std::chrono::steady_clock::now() - begin < Deadline::seconds);
}
