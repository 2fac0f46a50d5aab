#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.train;

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

Config complete() {
  return parse_json(R"({"env": {"name": "cheetah-run"}, "policy": {"kind": "linear"}, "optimizer": {"kind": "es"},
                        "iterations": 7, "episodes": 3, "action_noise": 0.25, "seed": 11, "threads": 2, "episode_seeds": "pairs",
                        "eval_every": 4, "eval_episodes": 5, "checkpoint_every": 6, "out": "there", "resume": true,
                        "quiet": true})",
                    "test");
}

}  // namespace

TEST_CASE("every option is read") {
  const TrainOptions options = read_train_options(complete());
  CHECK(*options.env.find("name")->string() == "cheetah-run");
  CHECK(*options.policy.find("kind")->string() == "linear");
  CHECK(*options.optimizer.find("kind")->string() == "es");
  CHECK(options.iterations == 7);
  CHECK(options.episodes == 3);
  CHECK(options.action_noise == 0.25);
  CHECK(options.seed == 11);
  CHECK(options.threads == 2);
  CHECK(options.episode_seeds == EpisodeSeeds::pairs);
  CHECK(options.eval_every == 4);
  CHECK(options.eval_episodes == 5);
  CHECK(options.checkpoint_every == 6);
  CHECK(options.out == "there");
  CHECK(options.resume);
  CHECK(options.quiet);
}

TEST_CASE("what is left out has the defaults of TrainOptions") {
  const TrainOptions options = read_train_options(Config::Map{{"env", "cheetah-run"}, {"policy", Config::Map{{"kind", "linear"}}}}),
                     plain;
  CHECK(*options.env.find("name")->string() == "cheetah-run");
  CHECK(*options.optimizer.find("kind")->string() == "es");
  CHECK(options.iterations == plain.iterations);
  CHECK(options.episodes == plain.episodes);
  CHECK(options.action_noise == 0);
  CHECK(options.seed == plain.seed);
  CHECK(options.threads == plain.threads);
  CHECK(options.episode_seeds == plain.episode_seeds);
  CHECK(options.eval_every == plain.eval_every);
  CHECK(options.eval_episodes == plain.eval_episodes);
  CHECK(options.checkpoint_every == plain.checkpoint_every);
  CHECK(options.out.empty());
  CHECK(!options.resume);
  CHECK(!options.quiet);
}

TEST_CASE("a run's config.json has every default, and what was asked for") {
  const TemporaryFolder folder;
  TrainOptions options = read_train_options(parse_json(R"({"env": {"name": "cartpole-balance", "time_limit": 3},
      "policy": {"kind": "linear"}, "optimizer": {"kind": "pepg", "population": 2, "optimizer": "sgd"}, "iterations": 1,
      "episodes": 2, "eval_episodes": 1, "threads": 1, "quiet": true})",
                                                       "test"));
  options.out = folder.path() / "run";
  train(options);
  Config config = parse_json(read_file(options.out / "config.json"), "config.json");
  CHECK(*config.find("instructions")->string() == best_instruction_set(instruction_sets()));
  CHECK(config.find("libraries")->find("MuJoCo")->string());
  config.map()->erase("instructions");
  config.map()->erase("libraries");
  CHECK(
      to_json(config) ==
      R"({"action_noise":0.0,"checkpoint_every":1,"confirm_episodes":4,"env":{"action_repeat":1,"camera":0,"name":"cartpole-balance","render":{"path":"cpu",)"
      R"("reflection":true,"samples":1,"shadows":true,"sky":true},"state":true,"time_limit":3},"episode_seeds":"common",)"
      R"("episodes":2,"eval_episodes":1,"eval_every":10,"fit":"resample","given":{"env":{"name":"cartpole-balance","time_limit":3},)"
      R"("episodes":2,"eval_episodes":1,"iterations":1,"optimizer":{"kind":"pepg","optimizer":"sgd","population":2},)"
      R"("policy":{"kind":"linear"}},"iterations":1,"optimizer":{"directions":"gaussian","kind":"pgpe","learning_rate":0.05,"learning_rate_decay":1.0,)"
      R"("momentum":0.9,"optimizer":"sgd","population":2,"shaping":"centred_ranks","sigma":0.1,"sigma_learning_rate":0.1,)"
      R"("sigma_max_change":0.2,"sigma_min":0.01},"policy":{"activation":"none","bias":true,"kind":"linear","scale":0.1,"units":1},"seed":0})");
  // It is itself an option table, of the same run.
  TrainOptions again = read_train_options(parse_json(read_file(options.out / "config.json"), "config.json"));
  again.threads = 1;
  again.quiet = true;
  again.out = options.out;
  again.resume = true;
  CHECK(train(again).iterations == 1);
  // A run of a version that wrote down no default of these is the same run.
  Config bare = config;
  for (const char* name : {"action_noise", "fit"}) bare.map()->erase(name);
  CHECK(settings_difference(bare, config).empty());
  // It decides where there is another world to bring the policy to.
  bare["fit"] = "pool";
  CHECK(settings_difference(bare, config).empty());
  for (Config* run : {&bare, &config}) (*run)["eval_env"] = Config::Map{{"name", "cartpole-balance"}};
  CHECK_THAT(settings_difference(bare, config), ContainsSubstring("fit"));
}

TEST_CASE("integers that are one double tell runs apart") {
  constexpr std::int64_t large = std::int64_t{1} << 53;
  const auto with = [](const Config& seed, const Config& own) {
    TrainOptions options =
        read_train_options(parse_json(R"({"env": {"name": "cartpole-balance"}, "policy": {"kind": "linear"}})", "test"));
    options.seed = static_cast<std::uint64_t>(*seed.integer());
    options.script_options = Config::Map{{"salt", own}};
    return plan_training(options).config;
  };
  const Config before = with(large, large);
  CHECK(settings_difference(before, before).empty());
  CHECK(settings_difference(before, with(large + 1, large)) == "seed: 9007199254740992 before, 9007199254740993 now");
  CHECK(settings_difference(before, with(large, large + 1)) ==
        "the script's option salt: 9007199254740992 before, 9007199254740993 now");
  CHECK(settings_difference(before, with(large, 9007199254740992.0)).empty());
}

TEST_CASE("the script's own options tell runs apart") {
  const auto with = [](const Config& own) {
    TrainOptions options = read_train_options(parse_json(
        R"({"env": {"name": "cartpole-balance"}, "policy": {"kind": "linear"}, "iterations": 1, "threads": 1})", "test"));
    options.script_options = own;
    return plan_training(options).config;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const Config own =
      Config::Map{{"stop", 1}, {"cap", infinity}, {"bytes", "\xff"}, {"iterations", 3}, {"seed", 2}, {"retries", 1}, {"out", "x"}};
  const Config before = with(own);
  CHECK(to_json(*before.find("script_options")) == "{\"bytes\":\"\xef\xbf\xbd\",\"cap\":\"inf\",\"stop\":1}");
  Config other = own;
  for (const char* name : {"iterations", "seed", "retries"}) other[name] = 9;
  other["stop"] = 1.0;
  CHECK(settings_difference(before, with(other)).empty());
  CHECK(settings_difference(parse_json(to_json(before), "config.json"), with(own)).empty());
  other["stop"] = 4;
  CHECK(settings_difference(before, with(other)) == "the script's option stop: 1 before, 4 now");
  CHECK(deciding_settings(before) != deciding_settings(with(other)));
  // What one of them has not on record: a run of before, another text of the script, a record that iap did not write.
  other["more"] = 1;
  other["stop"] = 1;
  CHECK(settings_difference(before, with(other)).empty());
  CHECK(settings_difference(before, with({})).empty());
  CHECK_FALSE(with({}).find("script_options"));
  Config strange = before;
  for (const Config& record : {Config(5), Config(), Config(Config::List{1, "stop"})}) {
    strange["script_options"] = record;
    CHECK(settings_difference(strange, with(other)).empty());
    CHECK(deciding_settings(strange) == deciding_settings(with({})));
  }
  // What the same options made of the environment decides, too.
  Config shorter = before, longer = before;
  shorter["env_spec"] = Config::Map{{"max_steps", 5}};
  longer["env_spec"] = Config::Map{{"max_steps", 6}};
  CHECK(deciding_settings(shorter) != deciding_settings(longer));
  // A config.json is an option table, whose records are left aside.
  CHECK_FALSE(read_train_options(before).given.is_null());
  CHECK_FALSE(plan_training(read_train_options(before)).config.find("given")->find("script_options"));
}

TEST_CASE("a bad option is named") {
  const auto with = [](const std::string& key, const Config& value) {
    Config config = complete();
    config[key] = value;
    return config;
  };
  CHECK_THROWS_WITH(read_train_options(with("iteration", 3)), ContainsSubstring("did you mean 'iterations'"));
  CHECK_THROWS_WITH(read_train_options(with("iterations", -1)), ContainsSubstring("iterations") && ContainsSubstring("-1"));
  CHECK_THROWS_WITH(read_train_options(with("iterations", "ten")), ContainsSubstring("iterations") && ContainsSubstring("ten"));
  CHECK_THROWS_WITH(read_train_options(with("episodes", 0)), ContainsSubstring("episodes"));
  CHECK_THROWS_WITH(read_train_options(with("seed", -1)), ContainsSubstring("seed"));
  CHECK_THROWS_WITH(read_train_options(with("eval_episodes", 0)), ContainsSubstring("eval_episodes"));
  CHECK_THROWS_WITH(read_train_options(with("checkpoint_every", 0)), ContainsSubstring("checkpoint_every"));
  CHECK_THROWS_WITH(read_train_options(with("env", 3)), ContainsSubstring("env"));
  CHECK_THROWS_WITH(read_train_options(with("policy", Config())), ContainsSubstring("policy"));
  CHECK_THROWS_WITH(read_train_options(with("optimizer", "es")), ContainsSubstring("optimizer"));
  Config blocks = with("units", 3);
  blocks["policy"] = parse_json(R"({"kind": "sequence", "blocks": [{"kind": "linear"}, {"kind": "linear", "units": 2}]})", "test");
  CHECK_THROWS_WITH(read_train_options(blocks), ContainsSubstring("did you mean 'policy.blocks.2.units'?"));
}

TEST_CASE("train checks what a C++ host sets") {
  const auto message = [](auto change) {
    TrainOptions options;
    change(options);
    try {
      train(options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(message([](auto& o) { o.episodes = 0; }), ContainsSubstring("episodes"));
  CHECK_THAT(message([](auto& o) { o.iterations = -3; }), ContainsSubstring("iterations"));
  CHECK_THAT(message([](auto& o) { o.seed = ~0ULL; }), ContainsSubstring("seed"));
  CHECK_THAT(message([](auto& o) { o.threads = -1; }), ContainsSubstring("threads"));
  CHECK_THAT(message([](auto& o) { o.checkpoint_every = 0; }), ContainsSubstring("checkpoint_every"));
  CHECK_THAT(message([](auto& o) { o.resume = true; }), ContainsSubstring("out"));
}

TEST_CASE("files that environments read tell runs apart, where both have them on record") {
  const Config bare = plan_training(read_train_options(parse_json(
                                        R"({"env": {"name": "cartpole-balance"}, "policy": {"kind": "linear"}})", "test")))
                          .config;
  CHECK_FALSE(bare.find("files"));
  Config before = bare, now = bare;
  before["files"]["videos"] = "2 files";
  now["files"]["videos"] = "3 files";
  CHECK(settings_difference(bare, now).empty());
  CHECK(settings_difference(before, before).empty());
  CHECK(settings_difference(before, now) == "files.videos: \"2 files\" before, \"3 files\" now");
  now["files"]["videos"] = "2 files, ends 7; 1 file, ends 8";
  before["files"]["videos"] = "2 files; 1 file";
  CHECK(settings_difference(before, now).empty());
  CHECK_FALSE(settings_difference(now, before).empty());
  before["files"]["videos"] = "2 files, ends 8; 1 file, ends 8";
  CHECK_FALSE(settings_difference(before, now).empty());
  CHECK_FALSE(plan_training(read_train_options(now)).config.find("files"));
}
