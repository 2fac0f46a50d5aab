#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
import iap.core;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;

TEST_CASE("nearest names are found within a plausible number of typos and nowhere else") {
  const std::vector<std::string> names{"population", "sigma", "learning_rate", "seed"};
  CHECK(nearest_name("popluation", names) == "population");
  CHECK(nearest_name("sigam", names) == "sigma");
  CHECK(nearest_name("learningrate", names) == "learning_rate");
  CHECK(nearest_name("seed", names) == "seed");
  CHECK(nearest_name("x", {std::string(1 << 20, 'x')}) == "");
  CHECK(nearest_name("quadruped", names).empty());
  CHECK(nearest_name("anything", {}).empty());
  // Both are one letter away: the first one wins, whatever the machine.
  CHECK(nearest_name("rat", {"rag", "ran"}) == "rag");
  // Neighbours that change places are one typo; of four letters one may be wrong, of many a third: what is half another name is
  // another word.
  CHECK(nearest_name("tow", {"two"}) == "two");
  CHECK(nearest_name("top", {"log", "stop"}) == "stop");
  CHECK(nearest_name("top", {"log", "fit", "out"}).empty());
  CHECK(nearest_name("lsat", {"last"}) == "last");
  CHECK(nearest_name("last", {"best", "final"}).empty());
  CHECK(nearest_name("frames", {"n", "name"}).empty());
  CHECK(nearest_name("hashed", {"hash", "exact"}) == "hash");
  CHECK(did_you_mean("sigam", names) == "; did you mean 'sigma'?");
  CHECK(did_you_mean("quadruped", names) == "; known: population, sigma, learning_rate, seed");
  CHECK(did_you_mean("quadruped", {}).empty());
  // Names may be a file's.
  CHECK(did_you_mean("quadruped", {"sigma", std::string(5000, 'x'), "seed"}) == "; known: sigma, ...");
}

TEST_CASE("numbers and integers of a Config convert only where nothing is lost") {
  CHECK(Config(3).number() == 3.0);
  CHECK(Config(3).integer() == 3);
  CHECK(Config(3.0).integer() == 3);
  CHECK_FALSE(Config(3.5).integer());
  // From 2^53 on a double stands for more than one integer.
  CHECK(Config(9007199254740992.0).integer() == 9007199254740992);
  CHECK_FALSE(Config(9007199254740994.0).integer());
  CHECK_FALSE(Config(1e300).integer());
  CHECK_FALSE(Config(std::numeric_limits<double>::infinity()).integer());
  CHECK_FALSE(Config(std::numeric_limits<double>::quiet_NaN()).integer());
  CHECK(Config(std::numeric_limits<std::int64_t>::min()).integer() == std::numeric_limits<std::int64_t>::min());
  CHECK_FALSE(Config("3").number());
  CHECK_FALSE(Config(true).number());
  CHECK_FALSE(Config().integer());
}

TEST_CASE("a Config is a tree with maps that grow on demand") {
  Config config;
  CHECK(config.is_null());
  config["env"]["pixels"] = Config::List{100, 100};
  config["env"]["name"] = "cheetah-run";
  REQUIRE(config.find("env"));
  CHECK(config.find("env")->find("name")->string() != nullptr);
  CHECK(config.find("missing") == nullptr);
  CHECK(Config(3).find("x") == nullptr);
  CHECK(config.type_name() == "a table");
  CHECK(Config::List{}.empty());
  Config number(4);
  CHECK_THROWS_MATCHES(number["x"], Error, Message("cannot set 'x' inside an integer"));
  Config other;
  other["env"]["name"] = "cheetah-run";
  CHECK_FALSE(config == other);
  other["env"]["pixels"] = Config::List{100, 100};
  CHECK(config == other);
}

TEST_CASE("describe is short") {
  CHECK(Config("tanh").describe() == "\"tanh\"");
  CHECK(Config(Config::List{1, 2.5, true}).describe() == "[1,2.5,true]");
  CHECK(Config(std::string(1000, 'x')).describe().size() <= 63);
}

TEST_CASE("null takes an entry out and creates nothing") {
  Config config = parse_json(R"({"env": {"pixels": [64, 32], "camera": 1}, "list": [1, 2, 3], "quiet": true})", "test");
  set_path(config, "env.camera", "null");
  CHECK(config.find("env")->describe() == R"({"pixels":[64,32]})");
  set_path(config, "env.distraction.camera", "null");
  set_path(config, "nothing", "null");
  set_path(config, "list.2", "null");
  CHECK(config.describe() == R"({"env":{"pixels":[64,32]},"list":[1,3],"quiet":true})");
  CHECK_THROWS_MATCHES(set_path(config, "quiet.x", "null"), Error,
                       Message("option path 'quiet.x': cannot set 'x' inside a boolean (true)"));
  CHECK_THROWS_MATCHES(set_path(config, "list.3", "null"), Error, MessageMatches(ContainsSubstring("no position in a list of 2")));
  Config nothing;
  set_path(nothing, "a.b", "null");
  CHECK(nothing.is_null());
}

TEST_CASE("set_path reads numbers as Lua does, and nothing else that begins like one") {
  const auto read = [](const std::string& value) {
    Config config;
    set_path(config, "x", value);
    return to_json(*config.find("x"));
  };
  CHECK(read(".5") == "0.5");
  CHECK(read("-.5") == "-0.5");
  CHECK(read("1.") == "1.0");
  CHECK(read("+0.5") == "0.5");
  CHECK(read("+1") == "1");
  CHECK(read("-12") == "-12");
  CHECK(read("1.e3") == "1000.0");
  CHECK(read("+.5E-2") == "0.005");
  CHECK(read("9007199254740993") == "9007199254740993");
  for (const std::string word : {".", "+", "-", "+-1", "1.2.3", "..5", ".5.", "007", "01.5", "1e", ".e5", "1.5x", ".lua", "1/2",
                                 "inf", "0x10", "1_000", "--1", "1 2"})
    CHECK(read(word) == "\"" + word + "\"");
}

TEST_CASE("set_path reads JSON where it parses and keeps text otherwise") {
  Config config;
  set_path(config, "env.action_repeat", "4");
  set_path(config, "env.pixels", "[64, 64]");
  set_path(config, "optimizer.sigma", "1e-2");
  set_path(config, "optimizer.kind", "cma_es");
  set_path(config, "quiet", "true");
  set_path(config, "out", "runs/a b");
  CHECK(config.find("env")->find("action_repeat")->integer() == 4);
  CHECK(*config.find("env")->find("pixels") == Config(Config::List{64, 64}));
  CHECK(config.find("optimizer")->find("sigma")->number() == 0.01);
  CHECK(*config.find("optimizer")->find("kind") == Config("cma_es"));
  CHECK(*config.find("quiet") == Config(true));
  CHECK(*config.find("out") == Config("runs/a b"));
  set_path(config, "env.action_repeat", "8");
  CHECK(config.find("env")->find("action_repeat")->integer() == 8);
  for (const std::string path : {"", ".", "env.", ".env", "env..x"})
    CHECK_THROWS_MATCHES(set_path(config, path, "1"), Error, MessageMatches(ContainsSubstring("has an empty part")));
  CHECK_THROWS_MATCHES(set_path(config, "quiet.x", "1"), Error,
                       Message("option path 'quiet.x': cannot set 'x' inside a boolean (true)"));
  set_path(config, "env.pixels.2", "32");
  CHECK(config.find("env")->find("pixels")->describe() == "[64,32]");
  for (const char* position : {"0", "3", "-1", "x", "1x"})
    CHECK_THROWS_MATCHES(set_path(config, text("env.pixels.", position), "1"), Error,
                         MessageMatches(ContainsSubstring("is no position in a list of 2")));
}

TEST_CASE("a path leads through tables and lists, and to nothing where a part is not there") {
  Config config = parse_json(R"({"policy": {"blocks": [{"units": 3}, {"units": 5}]}, "sigma": 0.1})", "test");
  CHECK(first_part("policy.blocks.2.units") == "policy");
  CHECK(first_part("sigma") == "sigma");
  CHECK(path_parts("policy.blocks.2") == std::vector<std::string_view>{"policy", "blocks", "2"});
  for (const char* empty : {"", "a..b", ".a", "a."})
    CHECK_THROWS_MATCHES(path_parts(empty), Error, MessageMatches(ContainsSubstring("has an empty part")));
  REQUIRE(entry_at(config, "policy.blocks.2.units"));
  CHECK(*entry_at(config, "policy.blocks.2.units") == Config(5));
  *entry_at(config, "policy.blocks.1.units") = 4;
  CHECK(entry_at(config, "policy")->describe() == R"({"blocks":[{"units":4},{"units":5}]})");
  for (const char* nothing :
       {"policy.blocks.0", "policy.blocks.3", "policy.blocks.two", "policy.blocks.1x", "sigma.x", "none.at.all"})
    CHECK(entry_at(config, nothing) == nullptr);
}

TEST_CASE("changes take the place of options, and null takes options out") {
  const Config env = Config::Map{{"name", "cheetah-run"}, {"camera", 1}, {"pixels", 64}};
  const Config changes = Config::Map{{"camera", Config()}, {"pixels", 32}, {"seed", Config()}};
  CHECK(with_changes(env, changes) == Config(Config::Map{{"name", "cheetah-run"}, {"pixels", 32}}));
  CHECK(with_changes(env, Config()) == env);
  CHECK(with_changes(Config(), changes) == Config(Config::Map{{"pixels", 32}}));
  CHECK(with_changes(Config(), Config::Map{{"camera", Config()}}).is_null());
}

TEST_CASE("a block's kind and an environment's name say what is Lua") {
  CHECK(is_lua_env(Config::Map{{"name", "maze.lua"}}));
  CHECK_FALSE(is_lua_env(Config::Map{{"name", "cheetah-run"}}));
  CHECK_FALSE(is_lua_env(Config::Map{{"name", 3}}));
  CHECK_FALSE(is_lua_env(Config("maze.lua")));
  CHECK(is_lua_block(Config::Map{{"kind", "script"}}));
  CHECK_FALSE(is_lua_block(Config::Map{{"kind", "mlp"}}));
  CHECK_FALSE(is_lua_block(Config::Map{{"file", "eye.lua"}}));
}
