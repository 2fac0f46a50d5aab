// Statistics that policies gather over training.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

using namespace iap;
using Catch::Matchers::WithinRel;

namespace {

Config normalised_policy() {
  return Config::Map{{"kind", "sequence"},
                     {"blocks", Config::List{Config::Map{{"kind", "normalise"}, {"over", "training"}}, fake_policy()}}};
}

TrainOptions normalised_run(const std::filesystem::path& out) {
  TrainOptions options = small_run(out);
  options.policy = normalised_policy();
  return options;
}

/// What every episode showed, in the order of their beginnings.
using Shown = std::vector<std::pair<std::uint64_t, std::vector<float>>>;

class Recorded : public FakeEnv {
 public:
  explicit Recorded(Shown& shown) : shown_(shown) {}
  void reset(std::uint64_t seed) override {
    FakeEnv::reset(seed);
    shown_.emplace_back(seed, std::vector<float>());
  }
  Observation observe() override {
    const Observation seen = FakeEnv::observe();
    shown_.back().second.insert(shown_.back().second.end(), seen.vector.begin(), seen.vector.end());
    return seen;
  }

 private:
  Shown& shown_;
};

}  // namespace

TEST_CASE("what is normalised by are mean and variance of all training episodes, evaluations left out") {
  Shown shown;
  TrainOptions options = normalised_run({});
  options.threads = 1;
  options.confirm_episodes = 0;
  options.make_env = [&] { return std::make_unique<Recorded>(shown); };
  const TrainResult result = train(options);
  const auto evaluated = evaluate(result.policy->policy, fake_envs(), options.eval_episodes, options.seed, 1).seeds;
  const std::set<std::uint64_t> left_out(evaluated.begin(), evaluated.end());
  const auto moments = result.policy->policy.moments();
  REQUIRE(moments.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<double> values;
    for (const auto& [seed, episode] : shown)
      for (std::size_t k = i; !left_out.contains(seed) && k < episode.size(); k += 2) values.push_back(episode[k]);
    REQUIRE(values.size() == 5 * 4 * 2 * 12);
    double mean = 0, squares = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    for (const double value : values) squares += (value - mean) * (value - mean);
    CHECK(moments[i].count == static_cast<double>(values.size()));
    CHECK_THAT(moments[i].mean, WithinRel(mean, 1e-10));
    CHECK_THAT(moments[i].squares, WithinRel(squares, 1e-10));
  }
}

TEST_CASE("runs that gather statistics depend neither on threads nor on interruptions") {
  const Scratch scratch("moments");
  TrainOptions options = normalised_run({});
  options.curriculum = {{.through = 2}, {.population = 6}};
  CHECK(dependences(options, scratch) == "");
}

TEST_CASE("policy files hold the statistics of their iteration") {
  const Scratch scratch("moments_files");
  TrainOptions options = normalised_run(scratch / "run");
  options.eval_every = 1;
  options.optimizer["learning_rate"] = 0.4;
  const TrainResult result = train(options);
  const auto value = [&](const char* name) {
    const PolicyFile file = read_policy_file(options.out / name);
    return std::pair(evaluate(file.policy, fake_envs(), options.eval_episodes, options.seed, 1).mean,
                     file.policy.moments()[0].count);
  };
  CHECK(value("best.iap") == std::pair(result.best_eval, result.best_iteration * 96.0));
  CHECK(value("final.iap") == std::pair(result.last_eval, 5 * 96.0));
  // The best policy, which is not the last one, is confirmed with its own.
  CHECK(result.best_iteration < 5);
  PolicyFile best = read_policy_file(options.out / "best.iap");
  FakeEnv env;
  double sum = 0;
  for (std::uint32_t episode = 0; episode < 12; ++episode) {
    const auto seed = derive_seed({.seed = options.seed, .member = 1, .episode = episode, .purpose = Purpose::evaluation});
    sum += run_episode(env, best.policy, seed).total;
  }
  REQUIRE(result.confirmed);
  CHECK_THAT(result.confirmed->mean, WithinRel(sum / 12, 1e-12));
  // A run that begins there takes them along and gathers on.
  TrainOptions next = normalised_run({});
  next.init = (options.out / "final.iap").string();
  next.iterations = 1;
  const TrainResult further = train(next);
  CHECK(further.first_eval == result.last_eval);
  CHECK(further.policy->policy.moments()[0].count == 6 * 96.0);
}

TEST_CASE("a run's end that no schedule evaluates is its best with the statistics of the end") {
  const Scratch scratch("moments_end");
  TrainOptions options = normalised_run(scratch / "run");
  options.eval_every = 4;
  const TrainResult result = train(options);
  REQUIRE(result.best_iteration == 5);
  CHECK(read_file(options.out / "best.iap") == save_policy(result.best_policy->policy, result.best_policy->metadata));
  CHECK(read_policy_file(options.out / "best.iap").policy.moments()[0].count == 5 * 96.0);
}
