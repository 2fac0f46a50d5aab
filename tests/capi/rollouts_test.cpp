#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "objects.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.policy;
import iap.rollout;
import iap.script;
import iap.train;

// Rollouts for an optimizer outside against what the engine's own trainer and evaluation play.

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

namespace {

constexpr const char* world = R"({"name": "cartpole-swingup", "time_limit": 9, "action_repeat": 2})";
constexpr const char* plain =
    R"({"kind": "sequence", "blocks": [{"kind": "lstm", "units": 3}, {"kind": "linear", "activation": "tanh"}]})";
constexpr const char* gathering =
    R"({"kind": "sequence", "blocks": [{"kind": "normalise", "over": "training"}, {"kind": "linear", "activation": "tanh"}]})";

iap_rollout_options options_of(std::uint64_t seed, std::uint32_t iteration, std::uint32_t episodes, int seeds) {
  return {.size = sizeof(iap_rollout_options), .seed = seed, .iteration = iteration, .episodes = episodes, .seeds = seeds};
}

std::vector<double> run(iap_rollouts* rollouts, const std::vector<float>& population, const iap_rollout_options& options) {
  const std::size_t size = iap_rollouts_parameter_count(rollouts), members = population.size() / size;
  std::vector<double> returns(members * options.episodes);
  const auto status = iap_rollouts_run(rollouts, population.data(), members, size, &options, returns.data(), nullptr);
  INFO(iap_rollouts_error(rollouts));
  REQUIRE(status == IAP_OK);
  return returns;
}

std::vector<float> initial(iap_rollouts* rollouts, std::uint64_t seed) {
  std::vector<float> parameters(iap_rollouts_parameter_count(rollouts));
  REQUIRE(iap_rollouts_initial(rollouts, seed, parameters.data(), parameters.size()) == IAP_OK);
  return parameters;
}

/// What each iteration of a training earned, and where it ended.
struct Trained {
  std::vector<double> returns;
  std::vector<float> parameters;
  std::vector<iap::Moment> moments;
};

iap::Config optimizer() { return iap::parse_json(R"({"kind": "es", "population": 6, "sigma": 0.2})", "test"); }

/// By the engine's trainer.
Trained trained_inside(const char* policy, iap::EpisodeSeeds seeds) {
  Trained trained;
  iap::TrainOptions options;
  options.env = iap::parse_json(world, "test");
  options.policy = iap::parse_json(policy, "test");
  options.optimizer = optimizer();
  options.iterations = 3;
  options.episodes = 2;
  options.seed = 11;
  options.episode_seeds = seeds;
  options.eval_episodes = 1;
  options.confirm_episodes = 0;
  options.quiet = true;
  options.on_iteration = [&](const iap::IterationReport& report) {
    trained.returns.push_back(report.return_mean);
    return true;
  };
  const auto result = iap::train(options);
  trained.parameters = result.parameters;
  const auto moments = result.policy->policy.moments();
  trained.moments.assign(moments.begin(), moments.end());
  return trained;
}

/// By a loop outside over the C interface, with the same optimizer.
Trained trained_outside(const char* policy, int seeds, int threads, const std::string& file) {
  Trained trained;
  const auto owned = make_rollouts(world, policy, threads);
  const auto search = iap::make_optimizer(optimizer(), std::span<const float>(initial(owned.get(), 11)), 11);
  std::vector<float> population;
  for (std::uint32_t iteration = 0; iteration < 3; ++iteration) {
    search->ask_resized(population);
    const auto returns = run(owned.get(), population, options_of(11, iteration, 2, seeds));
    std::vector<double> fitness(6);
    double mean = 0;
    for (std::size_t i = 0; i < returns.size(); ++i) fitness[i / 2] += returns[i] / 2;
    for (const double value : fitness) mean += value / 6;
    trained.returns.push_back(mean);
    search->tell(std::span<const double>(fitness));
  }
  trained.parameters.assign(search->mean().begin(), search->mean().end());
  REQUIRE(iap_rollouts_save(owned.get(), file.c_str(), trained.parameters.data(), trained.parameters.size()) == IAP_OK);
  const auto saved = iap::read_policy_file(file);
  CHECK(std::ranges::equal(saved.policy.parameters(), trained.parameters));
  trained.moments.assign(saved.policy.moments().begin(), saved.policy.moments().end());
  return trained;
}

}  // namespace

TEST_CASE("a search over the C interface is iap.train's, bit for bit: returns, parameters and moments") {
  const Folder folder;
  const std::array<iap::EpisodeSeeds, 3> kinds{iap::EpisodeSeeds::common, iap::EpisodeSeeds::pairs, iap::EpisodeSeeds::own};
  for (const char* policy : {plain, gathering})
    for (const int kind : {IAP_SEEDS_COMMON, IAP_SEEDS_PAIRS, IAP_SEEDS_OWN}) {
      const Trained inside = trained_inside(policy, kinds[static_cast<std::size_t>(kind)]);
      for (const int threads : {1, 3}) {
        const Trained outside = trained_outside(policy, kind, threads, folder.file("end.iap"));
        CHECK(outside.returns == inside.returns);
        CHECK(outside.parameters == inside.parameters);
        CHECK(outside.moments == inside.moments);
      }
    }
}

TEST_CASE("evaluation episodes are those of the engine, gather nothing, and play what was saved") {
  const Folder folder;
  const auto owned = make_rollouts(world, gathering, 2);
  const auto parameters = initial(owned.get(), 4);
  run(owned.get(), parameters, options_of(4, 0, 2, IAP_SEEDS_COMMON));
  const std::string file = folder.file("policy.iap");
  REQUIRE(iap_rollouts_save(owned.get(), file.c_str(), parameters.data(), parameters.size()) == IAP_OK);
  const auto saved = iap::read_policy_file(file);
  const auto expected =
      iap::evaluate(saved.policy, saved.metadata.find("env") ? *saved.metadata.find("env") : iap::Config(), 4, 21, 1);
  const auto options = options_of(21, 5, 4, IAP_SEEDS_EVALUATION);
  std::vector<double> returns(8);
  std::vector<std::uint32_t> steps(8);
  std::vector<float> twice = parameters;
  twice.insert(twice.end(), parameters.begin(), parameters.end());
  for (int time = 0; time < 2; ++time) {
    REQUIRE(iap_rollouts_run(owned.get(), twice.data(), 2, parameters.size(), &options, returns.data(), steps.data()) == IAP_OK);
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(returns[i] == expected.episodes[i % 4].total);
      CHECK(steps[i] == static_cast<std::uint32_t>(expected.episodes[i % 4].steps));
    }
  }
  // The file again, in its own environment, with its parameters and moments.
  const auto loaded = make_rollouts(nullptr, file, 1);
  std::vector<float> own(parameters.size());
  REQUIRE(iap_rollouts_parameters(loaded.get(), own.data(), own.size()) == IAP_OK);
  CHECK(own == parameters);
  const auto again = run(loaded.get(), own, options);
  CHECK(std::equal(again.begin(), again.end(), returns.begin()));
}

TEST_CASE("each argument of a rollout's functions that is wrong is named") {
  iap_rollouts* none = nullptr;
  Message message{};
  const auto refuse = [&](const char* env, const char* policy, int threads, iap_status expected = IAP_BAD_ARGUMENT) {
    CHECK(iap_rollouts_make(env, policy, threads, &none, message.data(), message.size()) == expected);
    CHECK(none == nullptr);
    return std::string(message.data());
  };
  CHECK_THAT(refuse(world, nullptr, 1), ContainsSubstring("iap_rollouts_make: 'policy' is null"));
  CHECK_THAT(refuse(nullptr, plain, 1), ContainsSubstring("iap_rollouts_make: 'env' is null"));
  CHECK_THAT(refuse(world, plain, 5000), Equals("iap_rollouts_make: 'threads' is 5000; give 0 (all) to 4096"));
  CHECK_THAT(refuse("cheeta-run", plain, 1), ContainsSubstring("'env': ") && ContainsSubstring("did you mean 'cheetah-run'?"));
  CHECK_THAT(refuse(world, "{ kind = 'sequence',\n blocks = {", 1),
             ContainsSubstring("iap_rollouts_make: 'policy':2: unexpected symbol"));
  CHECK_THAT(refuse(world, "{ kind = 'liner' }", 1),
             ContainsSubstring("iap_rollouts_make: 'policy': ") && ContainsSubstring("did you mean 'linear'?"));
  CHECK_THAT(refuse(world, "nowhere.iap", 1, IAP_BAD_FILE), ContainsSubstring("nowhere.iap"));
  CHECK(iap_rollouts_make(world, plain, 1, nullptr, message.data(), message.size()) == IAP_BAD_ARGUMENT);

  const auto owned = make_rollouts(world, plain, 1);
  iap_rollouts* rollouts = owned.get();
  const std::size_t size = iap_rollouts_parameter_count(rollouts);
  std::vector<float> population = initial(rollouts, 1);
  population.resize(3 * size);
  std::vector<double> returns(3, 77);
  const auto good = options_of(1, 0, 1, IAP_SEEDS_COMMON);
  const auto refused = [&](const float* parameters, std::size_t members, std::size_t count, const iap_rollout_options* options,
                           double* into) {
    CHECK(iap_rollouts_run(rollouts, parameters, members, count, options, into, nullptr) == IAP_BAD_ARGUMENT);
    CHECK(returns[0] == 77);
    return std::string(iap_rollouts_error(rollouts));
  };
  const std::string parameters = iap::text(size, " parameters");
  CHECK_THAT(refused(nullptr, 3, size, &good, returns.data()),
             Equals("iap_rollouts_run: 'parameters' is null; the policy has " + parameters));
  CHECK_THAT(refused(population.data(), 3, size + 1, &good, returns.data()),
             Equals(iap::text("iap_rollouts_run: 'parameter_count' is ", size + 1, "; the policy has ", parameters)));
  CHECK_THAT(refused(population.data(), 0, size, &good, returns.data()), ContainsSubstring("'members' is 0"));
  CHECK_THAT(refused(population.data(), 3, size, nullptr, returns.data()), ContainsSubstring("'options' is null"));
  CHECK_THAT(refused(population.data(), 3, size, &good, nullptr),
             Equals("iap_rollouts_run: 'returns' is null; it receives 3 x 1 values"));
  auto bad = options_of(1, 0, 0, IAP_SEEDS_COMMON);
  CHECK_THAT(refused(population.data(), 3, size, &bad, returns.data()), ContainsSubstring("'options.episodes' is 0"));
  constexpr std::uint32_t most = (1 << 24) - 1;
  bad = options_of(1, 0, most + 1, IAP_SEEDS_OWN);
  CHECK_THAT(refused(population.data(), 1, size, &bad, returns.data()),
             Equals("iap_rollouts_run: 'options.episodes' is 16777216; give 1 to 16777215"));
  bad = options_of(1, 0, most, IAP_SEEDS_OWN);
  CHECK_THAT(refused(population.data(), 6, size, &bad, returns.data()),
             Equals("iap_rollouts_run: 'options.episodes' is 16777215; give all 6 members together at most 100000000"));
  bad = options_of(1, 0, 1, 9);
  CHECK_THAT(refused(population.data(), 3, size, &bad, returns.data()), ContainsSubstring("'options.seeds' is 9"));
  bad = good;
  bad.size = 1;
  CHECK_THAT(refused(population.data(), 3, size, &bad, returns.data()), ContainsSubstring("sizeof(iap_rollout_options)"));
  population[2 * size + 1] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(refused(population.data(), 3, size, &good, returns.data()),
             Equals("iap_rollouts_run: 'parameters' holds nan as value 1 of member 2; give finite values"));
  CHECK(iap_rollouts_initial(rollouts, 1, population.data(), size - 1) == IAP_BAD_ARGUMENT);
  CHECK(iap_rollouts_parameters(rollouts, nullptr, size) == IAP_BAD_ARGUMENT);
  CHECK(iap_rollouts_save(rollouts, nullptr, population.data(), size) == IAP_BAD_ARGUMENT);
  const Folder folder;
  const std::string unwritten = folder.file("policy.iap");
  CHECK(iap_rollouts_save(rollouts, unwritten.c_str(), population.data() + 2 * size, size) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_rollouts_error(rollouts), ContainsSubstring("iap_rollouts_save: 'parameters' holds nan as value 1"));
  CHECK_FALSE(std::filesystem::exists(unwritten));
  CHECK(iap_rollouts_save(rollouts, "/nowhere/policy.iap", population.data(), size) == IAP_BAD_FILE);
  CHECK_THAT(iap_rollouts_error(rollouts), ContainsSubstring("/nowhere/policy.iap"));
  CHECK_THAT(iap_rollouts_error(nullptr), Equals("the rollouts are null"));
  CHECK(iap_rollouts_parameter_count(nullptr) == 0);
  CHECK(iap_rollouts_run(nullptr, population.data(), 1, size, &good, returns.data(), nullptr) == IAP_BAD_ARGUMENT);
  iap_rollouts_free(nullptr);
}

TEST_CASE("parameters of rollouts are the file's, or the initial ones of seed 0, whatever was drawn since") {
  const Folder folder;
  const auto described = make_rollouts(world, plain, 1);
  const auto own_of = [](iap_rollouts* rollouts) {
    std::vector<float> own(iap_rollouts_parameter_count(rollouts));
    REQUIRE(iap_rollouts_parameters(rollouts, own.data(), own.size()) == IAP_OK);
    return own;
  };
  const auto zero = initial(described.get(), 0), one = initial(described.get(), 1);
  CHECK(one != zero);
  CHECK(own_of(described.get()) == zero);
  const std::string file = folder.file("policy.iap");
  REQUIRE(iap_rollouts_save(described.get(), file.c_str(), one.data(), one.size()) == IAP_OK);
  const auto loaded = make_rollouts(nullptr, file, 1);
  CHECK(initial(loaded.get(), 0) == zero);
  CHECK(own_of(loaded.get()) == one);
}

TEST_CASE("a policy file plays in the environment that is given, if it fits") {
  const Folder folder;
  const auto described = make_rollouts(world, plain, 1);
  const auto parameters = initial(described.get(), 1);
  const std::string file = folder.file("policy.iap");
  REQUIRE(iap_rollouts_save(described.get(), file.c_str(), parameters.data(), parameters.size()) == IAP_OK);
  const auto steps_in = [&](const char* env) {
    const auto owned = make_rollouts(env, file, 1);
    const auto options = options_of(1, 0, 1, IAP_SEEDS_OWN);
    double value = 0;
    std::uint32_t steps = 0;
    REQUIRE(iap_rollouts_run(owned.get(), parameters.data(), 1, parameters.size(), &options, &value, &steps) == IAP_OK);
    return steps;
  };
  // The limit counts steps of which an action takes two.
  CHECK(steps_in(R"({"name": "cartpole-swingup", "time_limit": 4, "action_repeat": 2})") == 2);
  CHECK(steps_in(nullptr) == 5);
  CHECK(steps_in(world) == 5);
  iap_rollouts* none = nullptr;
  Message message{};
  CHECK(iap_rollouts_make("cheetah-run", file.c_str(), 1, &none, message.data(), message.size()) == IAP_BAD_ARGUMENT);
  CHECK(none == nullptr);
  CHECK_THAT(message.data(), ContainsSubstring("iap_rollouts_make: 'policy': "));
}

TEST_CASE("a file that may not grow is an error and ends no process, and the host's signals are as they were") {
  const Folder folder;
  const auto owned = make_rollouts(world, plain, 1);
  const auto parameters = initial(owned.get(), 1);
  const std::string file = folder.file("policy.iap");
  sigset_t signal, before, pending;
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  for (const bool host_has_one : {false, true}) {
    REQUIRE(pthread_sigmask(host_has_one ? SIG_BLOCK : SIG_UNBLOCK, &signal, &before) == 0);
    if (host_has_one) raise(SIGXFSZ);
    rlimit limit{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    const rlimit small{.rlim_cur = 64, .rlim_max = limit.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto status = iap_rollouts_save(owned.get(), file.c_str(), parameters.data(), parameters.size());
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK(status == IAP_BAD_FILE);
    CHECK_THAT(iap_rollouts_error(owned.get()), ContainsSubstring("policy.iap"));
    CHECK_FALSE(std::filesystem::exists(file));
    REQUIRE(sigpending(&pending) == 0);
    CHECK(sigismember(&pending, SIGXFSZ) == (host_has_one ? 1 : 0));
    const timespec at_once{};
    if (host_has_one) sigtimedwait(&signal, nullptr, &at_once);
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, &before, &now);
    CHECK(sigismember(&now, SIGXFSZ) == (host_has_one ? 1 : 0));
  }
}

TEST_CASE("a policy file is read by its name even where that could be a table") {
  const Folder folder;
  const std::string name = R"({ kind = "linear" })";
  const auto described = make_rollouts(world, name, 1);
  const std::vector<float> saved(iap_rollouts_parameter_count(described.get()), 0.25F);
  REQUIRE(iap_rollouts_save(described.get(), folder.file(name).c_str(), saved.data(), saved.size()) == IAP_OK);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.file(""));
  const auto read = make_rollouts(world, name, 1);
  std::filesystem::current_path(before);
  std::vector<float> parameters(saved.size());
  REQUIRE(iap_rollouts_parameters(read.get(), parameters.data(), parameters.size()) == IAP_OK);
  CHECK(parameters == saved);
}

TEST_CASE("all episodes play the world that was read when the rollouts were made, whatever becomes of its file") {
  const Folder folder;
  const std::string file = folder.file("world.lua", lua_world(false));
  for (const bool trained : {false, true}) {
    // As a text and as that of a policy file.
    auto owned = make_rollouts(file.c_str(), R"({ kind = "linear" })", 2);
    const auto parameters = initial(owned.get(), 1);
    if (trained) {
      const std::string policy = folder.file("policy.iap");
      REQUIRE(iap_rollouts_save(owned.get(), policy.c_str(), parameters.data(), parameters.size()) == IAP_OK);
      owned = make_rollouts(nullptr, policy, 2);
    }
    folder.file("world.lua", lua_world(true));
    const auto returns = run(owned.get(), parameters, options_of(1, 0, 3, IAP_SEEDS_COMMON));
    folder.file("world.lua", lua_world(false));
    const auto unchanged = make_rollouts(file.c_str(), R"({ kind = "linear" })", 1);
    CHECK(returns == run(unchanged.get(), parameters, options_of(1, 0, 3, IAP_SEEDS_COMMON)));
  }
}

TEST_CASE("an episode that fails is a failure of the library that says where") {
  const Folder folder;
  const std::string env = folder.file("world.lua", lua_world(true));
  const auto owned = make_rollouts(env.c_str(), R"({ kind = "linear" })", 2);
  const auto parameters = initial(owned.get(), 1);
  const auto options = options_of(1, 0, 1, IAP_SEEDS_COMMON);
  double value = 77;
  CHECK(iap_rollouts_run(owned.get(), parameters.data(), 1, parameters.size(), &options, &value, nullptr) == IAP_FAILED);
  CHECK_THAT(iap_rollouts_error(owned.get()), ContainsSubstring("step 3") && ContainsSubstring("no further"));
  CHECK(value == 77);
}

TEST_CASE("rollouts refuse a block in Lua that keeps something of an episode, as iap.train does") {
  iap::register_lua();
  const Folder folder;
  const auto made = [&](const char* env, const std::string& policy, iap_status expected) {
    Message message{};
    iap_rollouts* rollouts = nullptr;
    CHECK(iap_rollouts_make(env, policy.c_str(), 1, &rollouts, message.data(), message.size()) == expected);
    const OwnedRollouts owned(rollouts);
    return std::string(message.data());
  };
  for (const bool puts_back : {false, true}) {
    const std::string block =
        folder.file("count.lua", std::string("return function() local n = 0 return { parameters = 0, outputs = 1, ") +
                                     (puts_back ? "reset = function() n = 0 end, " : "") +
                                     "forward = function() n = n + 1 return { math.sin(n) } end } end");
    const std::string blocks = R"({"kind": "script", "file": ")" + block + R"("})";
    const iap::Policy policy(iap::parse_json(blocks, "test"), {.vector = 5}, 1);
    const std::string file = folder.file("policy.iap");
    iap::write_policy_file(file, policy, iap::Config(iap::Config::Map{{"env", iap::parse_json(world, "test")}}));
    const iap_status expected = puts_back ? IAP_OK : IAP_BAD_ARGUMENT;
    for (const auto& message : {made(world, blocks, expected), made(world, file, expected), made(nullptr, file, expected)}) {
      INFO(message);
      CHECK(message.starts_with("iap_rollouts_make: 'policy': block 'policy' (" + block + "): from step 1 of an episode") ==
            !puts_back);
    }
  }
}

TEST_CASE("nothing is saved over what a run keeps in its folder, by a link neither") {
  const Folder folder;
  const auto rollouts = make_rollouts(world, plain, 1);
  const auto parameters = initial(rollouts.get(), 1);
  const auto save = [&](const std::string& path) {
    return iap_rollouts_save(rollouts.get(), path.c_str(), parameters.data(), parameters.size());
  };
  const std::string best = folder.file("best.iap"), run = std::filesystem::path(best).parent_path();
  CHECK(save(best) == IAP_OK);
  folder.file("config.json", "{}");
  std::filesystem::create_directory(run + "/elsewhere");
  const std::string linked = run + "/elsewhere/link";
  std::filesystem::create_symlink(best, linked);
  for (const std::string& path :
       {best, linked, folder.file("checkpoint.iap"), folder.file("metrics.csv"), folder.file("config.json")}) {
    CHECK(save(path) == IAP_BAD_FILE);
    CHECK_THAT(iap_rollouts_error(rollouts.get()),
               Equals("cannot write '" + path + "': the run in '" + run + "' keeps it; choose another place"));
  }
  CHECK(save(folder.file("mine.iap")) == IAP_OK);
}
