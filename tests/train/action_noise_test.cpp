// Noise in the actions of training episodes.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.optim;
import iap.policy;
import iap.rollout;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

constexpr int many = 20000;

/// Keeps the first value of every action, of a range that is not symmetric.
class Listening : public FakeEnv {
 public:
  Listening() : FakeEnv(many) {
    spec_.action_low = 2;
    spec_.action_high = 6;
  }
  StepResult step(std::span<const float> action) override {
    heard.push_back(action[0]);
    return FakeEnv::step(action);
  }
  std::vector<float> heard;
};

/// What an environment hears of a policy that always says `output`.
std::vector<float> heard(float output, const ActionNoise& noise) {
  Listening env;
  Policy policy(Config::Map{{"kind", "linear"}}, env.spec().observation, 2);
  policy.set_parameters(std::vector<float>{0, 0, 0, 0, output, 0});
  run_episode(env, policy, 1, {}, noise);
  return env.heard;
}

TrainOptions noisy_run(const std::filesystem::path& out) {
  TrainOptions options = small_run(out);
  options.action_noise = 0.3;
  return options;
}

}  // namespace

TEST_CASE("noise in actions is Gaussian, independent between steps, in units of half the range") {
  const auto actions = heard(0.25F, {.deviation = 0.1, .seed = 7});
  REQUIRE(actions.size() == many);
  // Seven deviations from either end: nothing is clipped.
  double mean = 0, square = 0, fourth = 0, product = 0, before = 0;
  for (const float action : actions) {
    const double noise = (action - 4 - 2 * 0.25) / (2 * 0.1);
    mean += noise;
    square += noise * noise;
    fourth += std::pow(noise, 4);
    product += noise * before;
    before = noise;
  }
  const double root = std::sqrt(many);
  CHECK(std::abs(mean / root) < 4);
  CHECK(std::abs((square - many) / root) < 4 * std::sqrt(2.0));
  CHECK(std::abs((fourth - 3.0 * many) / root) < 4 * std::sqrt(96.0));
  CHECK(std::abs(product / root) < 4);
}

TEST_CASE("what noise carries out of the range is clipped; an output beyond the range is clipped before") {
  for (const float output : {1.0F, 50.0F}) {
    const auto actions = heard(output, {.deviation = 0.1, .seed = 7});
    CHECK(std::ranges::max(actions) == 6);
    const auto at_the_end = static_cast<double>(std::ranges::count(actions, 6.0F));
    CHECK(std::abs(at_the_end - many / 2.0) < 4 * std::sqrt(many / 4.0));
    CHECK(std::ranges::min(actions) < 6 - 2 * 0.3);
  }
}

TEST_CASE("noise follows from its seed, and none leaves the bits") {
  CHECK(heard(0.25F, {.deviation = 0.1, .seed = 7}) == heard(0.25F, {.deviation = 0.1, .seed = 7}));
  CHECK(heard(0.25F, {.deviation = 0.1, .seed = 7}) != heard(0.25F, {.deviation = 0.1, .seed = 8}));
  CHECK(heard(0.25F, {.deviation = 0, .seed = 7}) == std::vector<float>(many, 4.5F));
}

TEST_CASE("training episodes have noise of their own, evaluations have none") {
  TrainOptions options = noisy_run({});
  options.iterations = 2;
  options.optimizer["learning_rate"] = 0.0;
  std::vector<double> return_means;
  options.on_iteration = [&](const IterationReport& report) {
    return_means.push_back(report.return_mean);
    return true;
  };
  const TrainResult result = train(options);
  // The mean does not move, so that noise in evaluations would be the only difference.
  CHECK(result.first_eval == result.last_eval);
  const auto plain = evaluate(result.policy->policy, fake_envs(), options.eval_episodes, options.seed, 1);
  CHECK(result.last_eval == plain.mean);

  // A loop over iterations, members and episodes, each with the seed of its own noise.
  const auto optimizer = make_optimizer(options.optimizer, result.parameters, options.seed);
  std::vector<float> population;
  FakeEnv env;
  Policy policy(fake_policy(), env.spec().observation, 2);
  for (std::uint32_t iteration = 0; iteration < 2; ++iteration) {
    optimizer->ask_resized(population);
    double sum = 0, quiet = 0;
    for (std::uint32_t member = 0; member < 4; ++member)
      for (std::uint32_t episode = 0; episode < 2; ++episode) {
        policy.set_parameters(std::span(population).subspan(member * policy.size(), policy.size()));
        const auto seed = training_seed(options.seed, iteration, options.episode_seeds, member, episode);
        const auto noise = derive_seed(
            {.seed = options.seed, .iteration = iteration, .member = member, .episode = episode, .purpose = Purpose::policy});
        sum += run_episode(env, policy, seed, {}, {.deviation = 0.3, .seed = noise}).total / 8;
        quiet += run_episode(env, policy, seed).total / 8;
      }
    CHECK_THAT(return_means.at(iteration), WithinRel(sum, 1e-12));
    CHECK(std::abs(return_means.at(iteration) - quiet) > 1e-3);
    optimizer->tell(std::vector<double>{1, 2, 3, 4});
  }
}

TEST_CASE("runs with noise depend neither on threads nor on interruptions") {
  const Scratch scratch("noise");
  TrainOptions options = noisy_run(scratch / "stopped");
  CHECK(dependences(options, scratch) == "");
  options.resume = true;
  options.action_noise = 0.2;
  CHECK_THROWS_WITH(train(options), ContainsSubstring("action_noise: 0.3 before, 0.2 now"));
  options.action_noise = 0;
  CHECK_THROWS_WITH(train(options), ContainsSubstring("action_noise: 0.3 before, not set now"));
  for (const double bad : {-0.1, 11.0, std::nan("")}) {
    options.action_noise = bad;
    CHECK_THROWS_WITH(train(options), ContainsSubstring("option 'action_noise' must be in [0, 10]"));
  }
}
