#include <unistd.h>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <numbers>
#include <optional>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.policy;
import iap.rollout;
import iap.script;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

using namespace iap;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("Student's t quantiles are those of printed tables") {
  // 97.5% points to four digits, as tables print them.
  const std::vector<std::pair<double, double>> table = {{1, 12.7062}, {2, 4.3027},   {3, 3.1824},   {4, 2.7764},  {5, 2.5706},
                                                        {9, 2.2622},  {10, 2.2281},  {15, 2.1314},  {20, 2.0860}, {30, 2.0423},
                                                        {60, 2.0003}, {120, 1.9799}, {1e6, 1.95997}};
  for (const auto& [degrees, expected] : table) {
    INFO(degrees);
    CHECK(student_t_quantile(0.975, degrees) == Approx(expected).margin(6e-5));
    CHECK(student_t_quantile(0.025, degrees) == Approx(-expected).margin(6e-5));
  }
  CHECK(student_t_quantile(0.995, 10) == Approx(3.1693).margin(6e-5));
  CHECK(student_t_quantile(0.9, 5) == Approx(1.4759).margin(6e-5));
}

TEST_CASE("Student's t quantiles have their closed forms for one, two and four degrees") {
  for (const double p : {0.001, 0.1, 0.3, 0.5, 0.6, 0.75, 0.975, 0.9999}) {
    INFO(p);
    const double alpha = 4 * p * (1 - p);
    CHECK(student_t_quantile(p, 1) == Approx(std::tan(std::numbers::pi * (p - 0.5))).epsilon(1e-10).margin(1e-12));
    CHECK(student_t_quantile(p, 2) == Approx(2 * (p - 0.5) * std::sqrt(2 / alpha)).epsilon(1e-10).margin(1e-12));
    const double q = std::cos(std::acos(std::sqrt(alpha)) / 3) / std::sqrt(alpha);
    CHECK(student_t_quantile(p, 4) == Approx((p < 0.5 ? -2 : 2) * std::sqrt(std::max(0.0, q - 1))).epsilon(1e-7).margin(1e-7));
  }
  for (const double bad : {0.0, 1.0, -1.0}) CHECK_THROWS_AS(student_t_quantile(bad, 3), Error);
  CHECK_THROWS_AS(student_t_quantile(0.5, 0), Error);
}

TEST_CASE("returns whose sum no double holds have a mean") {
  Policy policy(fake_policy(), FakeEnv().spec().observation, 2);
  const auto envs = fake_envs([](auto, int step, StepResult& result) { result.reward = step == 1 ? 1.5e308 : 0; });
  CHECK(evaluate(policy, envs, 4, 5, 1).mean == Approx(1.5e308));
}

TEST_CASE("an evaluation is the mean over fixed seeds with its interval") {
  Policy policy(fake_policy(), FakeEnv().spec().observation, 2);
  policy.initialise(1);
  for (const int count : {1, 2, 7}) {
    const Evaluation evaluation = evaluate(policy, fake_envs(), count, 5, 2);
    REQUIRE(evaluation.episodes.size() == static_cast<std::size_t>(count));
    FakeEnv env;
    double sum = 0, square = 0;
    for (int i = 0; i < count; ++i) {
      const auto seed = derive_seed({.seed = 5, .episode = static_cast<std::uint32_t>(i), .purpose = Purpose::evaluation});
      const double total = run_episode(env, policy, seed).total;
      CHECK(evaluation.episodes[static_cast<std::size_t>(i)].total == total);
      sum += total;
      square += total * total;
    }
    const double mean = sum / count;
    CHECK(evaluation.mean == Approx(mean));
    if (count == 1) {
      CHECK(std::isnan(evaluation.standard_deviation));
      CHECK(std::isnan(evaluation.low));
      CHECK(std::isnan(evaluation.high));
      continue;
    }
    const double deviation = std::sqrt((square - count * mean * mean) / (count - 1));
    const double quantile = count == 2 ? 12.7062 : 2.4469;
    CHECK(evaluation.standard_deviation == Approx(deviation).epsilon(1e-6));
    CHECK(evaluation.high - mean == Approx(quantile * deviation / std::sqrt(count)).epsilon(1e-4));
    CHECK(mean - evaluation.low == Approx(evaluation.high - mean));
  }
  CHECK_THROWS_WITH(evaluate(policy, fake_envs(), 0, 5, 1), ContainsSubstring("got 0"));
}

TEST_CASE("a 95% interval covers the true mean in 95% of evaluations") {
  // Rewards are normal with mean 3 over the seeds, so that Student's interval is exact.
  const auto factory =
      fake_envs([](std::uint64_t seed, int,
                   StepResult& result) { result.reward = 3 + Random({.seed = seed, .purpose = Purpose::user}).normal(); },
                1);
  Policy policy(fake_policy(), FakeEnv().spec().observation, 2);
  int covered = 0;
  const int trials = 1000;
  for (int trial = 0; trial < trials; ++trial) {
    const Evaluation evaluation = evaluate(policy, factory, 4, static_cast<std::uint64_t>(trial), 1);
    covered += evaluation.low < 3 && 3 < evaluation.high;
  }
  CHECK(std::abs(covered - 0.95 * trials) < 4 * std::sqrt(trials * 0.95 * 0.05));
}

TEST_CASE("open_policy takes a run's best, its last or a file") {
  const Scratch scratch("open");
  TrainOptions options = small_run(scratch / "run");
  const TrainResult result = train(options);
  const PolicyFile opened = open_policy(options.out), file = open_policy(options.out / "best.iap");
  CHECK(std::vector<float>(opened.policy.parameters().begin(), opened.policy.parameters().end()) == result.best_parameters);
  CHECK(opened.metadata == file.metadata);
  CHECK(opened.metadata.find("seed")->integer() == 9);
  // The run's own figure again, from nothing but the file.
  CHECK(evaluate(opened.policy, fake_envs(), 3, 9, 1).mean == opened.metadata.find("return")->number());
  std::filesystem::remove(options.out / "best.iap");
  CHECK(open_policy(options.out).metadata.find("iteration")->integer() == 5);
  std::filesystem::remove(options.out / "final.iap");
  CHECK_THROWS_WITH(open_policy(options.out), ContainsSubstring("best.iap"));
  CHECK_THROWS_WITH(open_policy(scratch / "nowhere"), ContainsSubstring("nowhere"));
}

TEST_CASE("an evaluation plays the text that it began with, whatever becomes of the file meanwhile") {
  register_lua();
  const Scratch scratch("text");
  const std::string world = scratch / "world.lua", other = scratch / "other.lua", once = scratch / "once";
  const auto paying = [&](int reward) {
    return text("return function()\n  os.rename('", other, "', '", world, "')\n",
                "  local world = { spec = { action_size = 1, vector = 1, max_steps = 3 } }\n",
                "  function world:reset(seed) if os.remove('", once, "') then error('once') end end\n",
                "  function world:step(action) return ", reward, ", false, false end\n",
                "  function world:observe() return { 1 } end\n  return world\nend\n");
  };
  write_text(world, paying(1));
  write_text(other, paying(2));
  // After a failure it is built anew.
  write_text(once, "");
  const Policy policy(Config::Map{{"kind", "linear"}}, ObservationSpec{.vector = 1}, 1);
  const Evaluation played = evaluate(policy, Config(Config::Map{{"name", world}}), 2, 0, 1, {.retries = 1});
  CHECK(played.episodes[0].retries == 1);
  CHECK(played.mean == 3);
}
