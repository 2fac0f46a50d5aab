// The table "What travels" of docs/clusters.md, by the sizes of what rank 0 sends and receives.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.policy;
import iap.ranks;
import iap.rollout;

#include "in_process.hpp"

using namespace iap;

namespace {

struct Sizes {
  std::vector<std::size_t> sent, received, announced;
};

class Listening final : public RanksBetween {
 public:
  Listening(std::unique_ptr<Ranks> others, Sizes& sizes) : RanksBetween(std::move(others)), sizes_(sizes) {}
  void send(int to, std::string bytes) override {
    sizes_.sent.push_back(bytes.size());
    RanksBetween::send(to, std::move(bytes));
  }
  std::optional<Message> receive() override {
    auto message = RanksBetween::receive();
    if (message) sizes_.received.push_back(message->bytes.size());
    return message;
  }
  void announce(const std::string& bytes) override {
    sizes_.announced.push_back(bytes.size());
    RanksBetween::announce(bytes);
  }

 private:
  Sizes& sizes_;
};

/// Twelve members of a policy that gathers moments, an episode each, dealt to two ranks.
class Played {
 public:
  Played() {
    const EnvSpec spec = make_env(env_)->spec();
    policy_.emplace(
        parse_json(R"({"kind": "sequence", "blocks": [{"kind": "normalise", "over": "training"}, {"kind": "linear"}]})", "test"),
        spec.observation, spec.action_size);
    rollouts_ = open_rollouts(env_, [this] { return make_env(env_); }, policy_->clone(), 1);
    for (std::uint32_t k = 0; k < 12; ++k) members_.emplace_back(policy_->size(), 0.1F * static_cast<float>(k));
    for (std::uint32_t k = 0; k < 12; ++k) tasks_.push_back({.parameters = members_[k], .seed = k, .member = k});
  }
  std::size_t parameters() const { return policy_->size(); }
  std::size_t moments() const { return policy_->moments().size(); }
  std::vector<RolloutTask>& tasks() { return tasks_; }

  /// What one round takes.
  Sizes round(const std::optional<Derivation>& derivation = {}) {
    sizes_ = {};
    if (derivation)
      rollouts_->run_members(tasks_, [&] { return *derivation; });
    else
      rollouts_->run(tasks_);
    return sizes_;
  }

 private:
  const Config env_ = Config::Map{{"name", "cartpole-balance"}, {"time_limit", 20}};
  Sizes sizes_;
  JobHere here_{2, [this](auto ranks) { return std::make_unique<Listening>(std::move(ranks), sizes_); }};
  std::optional<Policy> policy_;
  std::unique_ptr<Rollouts> rollouts_;
  std::vector<std::vector<float>> members_;
  std::vector<RolloutTask> tasks_;
};

std::size_t sum(const std::vector<std::size_t>& sizes) { return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}); }

Derivation derivation_of(const char* options, std::size_t parameters) {
  const std::vector<float> initial(parameters, 0.5F);
  const auto optimizer = make_optimizer(parse_json(options, "test"), initial, 1);
  std::vector<float> population;
  optimizer->ask_resized(population);
  Writer writer;
  optimizer->save(writer);
  return {optimizer->config(), 1, writer.bytes()};
}

}  // namespace

TEST_CASE("an optimizer's state has the bytes a parameter that the document says") {
  const std::vector<std::pair<const char*, std::size_t>> table{{R"({"kind": "es"})", 24},
                                                               {R"({"kind": "es", "optimizer": "sgd"})", 16},
                                                               {R"({"kind": "es", "optimizer": "clipup"})", 16},
                                                               {R"({"kind": "ars"})", 16},
                                                               {R"({"kind": "pgpe"})", 32},
                                                               {R"({"kind": "pgpe", "optimizer": "sgd"})", 24},
                                                               {R"({"kind": "pgpe", "optimizer": "clipup"})", 24},
                                                               {R"({"kind": "simple_ga", "parents": 3})", 12}};
  for (const auto& [options, bytes] : table) {
    CAPTURE(options);
    CHECK(derivation_of(options, 300).state.size() == derivation_of(options, 100).state.size() + 200 * bytes);
    CHECK(derivation_of(options, 100).state.size() < 100 * bytes + 100);
  }
}

TEST_CASE("a lease has 32 bytes and 37 an episode, a result 76, and each moment 24") {
  Played played;
  REQUIRE(played.moments() > 0);
  const std::size_t moments = 24 * played.moments(), parameters = 4 * played.parameters();
  const auto largest_is = [](const Sizes& sizes, std::size_t expected) { return std::ranges::max(sizes.announced) == expected; };
  const auto results_fit = [&](const Sizes& sizes) {
    return !sizes.received.empty() && std::ranges::all_of(sizes.received, [&](std::size_t size) { return size == 76 + moments; });
  };

  const Derivation derivation = derivation_of(R"({"kind": "es", "population": 12})", played.parameters());
  const Sizes derived = played.round(derivation);
  CHECK(sum(derived.sent) == 32 * derived.sent.size() + 37 * derived.received.size());
  CHECK(results_fit(derived));
  CHECK(largest_is(derived, 66 + moments + derivation.state.size() + to_json(derivation.optimizer).size()));

  // As of an optimizer whose members each need their parameters.
  const Sizes given = played.round();
  CHECK(sum(given.sent) == 32 * given.sent.size() + (37 + 4 + parameters) * given.received.size());
  CHECK(results_fit(given));

  // As in an evaluation.
  for (auto& task : played.tasks()) task.parameters = played.tasks()[0].parameters;
  const Sizes evaluated = played.round();
  CHECK(sum(evaluated.sent) == 32 * evaluated.sent.size() + 37 * evaluated.received.size());
  CHECK(results_fit(evaluated));
  CHECK(largest_is(evaluated, 42 + moments + parameters));
}
