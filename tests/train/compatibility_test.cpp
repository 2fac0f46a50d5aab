// What an early 0.1.0 wrote (tests/data/compatibility) is read by every later version: a run goes on to the same end, a policy acts
// as it did. The point's environment and linear policy compute with sums and products alone, the same on every machine; the policy
// with attention may differ in the last bits between processors.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import iap.script;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::filesystem::path data = std::filesystem::path(IAP_TEST_DATA) / "compatibility/early-0.1.0";

/// A copy of the run that stands at iteration 3 of 6, ready to go on.
TrainOptions continued(const std::filesystem::path& out) {
  register_lua();
  std::filesystem::copy(data / "run", out);
  TrainOptions options = read_train_options(parse_json(read_file(out / "config.json"), "config.json"));
  options.iterations = 6;
  options.threads = 1;
  options.quiet = true;
  options.resume = true;
  options.out = out;
  return options;
}

/// A checkpoint without the settings in its head.
std::string state_of(const std::filesystem::path& checkpoint) {
  const std::string payload = unseal(read_file(checkpoint), "IAPCHECK", 1, "checkpoint");
  Reader reader(payload, "checkpoint");
  return payload.substr(reader.get_string().size());
}

std::string without_times(const std::filesystem::path& table) {
  std::string words;
  for (auto& row : read_rows(table)) {
    row.resize(row.size() - 2);
    for (const auto& cell : row) words += cell + ",";
    words += "\n";
  }
  return words;
}

std::vector<float> parameters_of(const std::filesystem::path& policy) {
  const PolicyFile file = read_policy_file(policy);
  return {file.policy.parameters().begin(), file.policy.parameters().end()};
}

/// Every number behind episode and step, row by row, as `iap eval --episodes 2 --seed 5 --actions` writes them.
std::vector<float> recorded(const std::filesystem::path& actions) {
  std::vector<float> values;
  for (const auto& row : read_rows(actions))
    for (std::size_t i = 2; i < row.size(); ++i) values.push_back(static_cast<float>(std::strtod(row[i].c_str(), nullptr)));
  return values;
}

std::vector<float> played(Policy& policy, const Config& env_config) {
  const auto env = make_env(env_config);
  std::vector<float> values;
  for (const std::uint64_t seed : evaluate(policy, env_config, 2, 5, 1).seeds)
    run_episode(*env, policy, seed, [&](const Observation&, std::span<const float> action, const Policy&) {
      values.insert(values.end(), action.begin(), action.end());
    });
  return values;
}

}  // namespace

TEST_CASE("a run of an early 0.1.0 goes on to the end that it gave it") {
  const Scratch scratch("compatible");
  const TrainOptions options = continued(scratch / "run");
  const TrainResult result = train(options);
  CHECK(result.iterations == 6);
  CHECK(without_times(options.out / "metrics.csv") == without_times(data / "end/metrics.csv"));
  CHECK(state_of(options.out / "checkpoint.iap") == state_of(data / "end/checkpoint.iap"));
  CHECK(parameters_of(options.out / "best.iap") == parameters_of(data / "end/best.iap"));
  CHECK(parameters_of(options.out / "final.iap") == parameters_of(data / "end/final.iap"));
  CHECK(result.parameters == parameters_of(data / "end/final.iap"));
}

TEST_CASE("a run of an early 0.1.0 knows its settings, written out or not") {
  CHECK(run_state(data / "run")->complete);  // by its rows: it has no result.json
  const Scratch scratch("compatible_settings");
  const TrainOptions options = continued(scratch / "run");
  const auto message = [&](auto change) {
    TrainOptions changed = options;
    change(changed);
    try {
      train(changed);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(message([](auto& o) { o.optimizer["sigma"] = 0.2; }), ContainsSubstring("optimizer.sigma: 0.1 before, 0.2 now"));
  CHECK_THAT(message([](auto& o) { o.env["steps"] = 13; }), ContainsSubstring("env.steps: 12 before, 13 now"));
  CHECK_THAT(message([](auto& o) { set_path(o.policy, "blocks.1.scale", "0.2"); }),
             ContainsSubstring("scale: 0.1 before, 0.2 now"));
  CHECK(message([](auto& o) {
          o.optimizer["sigma"] = 0.1;
          o.env["action_repeat"] = 2;
          set_path(o.policy, "blocks.1.scale", "0.1");
        }) == "no error");
}

TEST_CASE("a policy of an early 0.1.0 acts bit for bit as it did") {
  register_lua();
  PolicyFile file = open_policy(data / "end/final.iap");
  const auto actions = played(file.policy, *file.metadata.find("env"));
  CHECK(actions.size() == 2 * 6 * 2);
  CHECK(actions == recorded(data / "point_actions.csv"));
}

TEST_CASE("a policy with attention of an early 0.1.0 acts as it did, in its own and in changed distractions") {
  PolicyFile file = open_policy(data / "rank.iap");
  const Config own = *file.metadata.find("env");
  const auto agree = [&](const Config& env, const char* name) {
    CAPTURE(name);
    const auto wanted = recorded(data / name), actions = played(file.policy, env);
    REQUIRE(actions.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CAPTURE(i);
      CHECK(std::abs(actions[i] - wanted[i]) <= 1e-5);
    }
  };
  agree(own, "rank_actions.csv");
  Config hard = given_env(own, file.metadata.find("env_given"));
  set_path(hard, "distraction.difficulty", "hard");
  agree(hard, "rank_hard_actions.csv");
  Config dynamic = given_env(own, file.metadata.find("env_given"));
  set_path(dynamic, "distraction.dynamic", "true");
  set_path(dynamic, "distraction.background", "false");
  agree(dynamic, "rank_dynamic_actions.csv");
}
