#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

namespace {

Policy sample() {
  Policy policy(
      config("{'kind': 'sequence', 'blocks': [{'kind': 'rank', 'patch': 2, 'd': 2, 'top': 2}, {'kind': 'rnn', 'units': 2},"
             "{'kind': 'linear', 'activation': 'tanh'}]}"),
      image_spec(4, 6, 1), 1);
  randomise(policy, 1);
  return policy;
}

Config metadata() { return config("{'env': {'name': 'cheetah-run', 'pixels': [4, 6]}, 'return': 812.25, 'iteration': 100}"); }

/// A sealed file with this header and these parameters, as save_policy lays it out.
std::string forge(const Config& header, std::span<const float> parameters) {
  Writer writer;
  writer.put_string(to_json(header));
  writer.put_all(parameters);
  return seal("IAPPOLCY", 1, writer.bytes());
}

Config header_of(const Policy& policy) {
  const std::string payload = unseal(save_policy(policy, metadata()), "IAPPOLCY", 1, "test");
  return parse_json(Reader(payload, "test").get_string(), "test");
}

}  // namespace

TEST_CASE("Lua in a config is marked at any depth, and nothing else is") {
  const Config plain =
      config("{'kind': 'sequence', 'blocks': [{'kind': 'linear', 'units': 2}], 'name': 'x', 'env': 'cheetah-run'}");
  Config marked = plain;
  confine_lua(marked, "p.iap");
  CHECK(marked == plain);
  const Config written = config(
      "{'env': 'a.lua', 'list': [{'kind': 'concat', 'blocks': [{'kind': 'script', 'file': 'b'}]}],"
      " 'deep': {'er': {'name': 'c.lua', 'source': 'return 1', 'loaded_from': 3}}}");
  marked = written;
  confine_lua(marked, "p.iap");
  CHECK(marked ==
        config("{'env': {'name': 'a.lua', 'loaded_from': 'p.iap'}, 'list': [{'kind': 'concat', 'blocks': [{'kind': "
               "'script', 'file': 'b', 'loaded_from': 'p.iap'}]}], 'deep': {'er': {'name': 'c.lua', 'source': 'return 1', "
               "'loaded_from': 'p.iap'}}}"));
  trust_lua(marked);
  CHECK(marked == config("{'env': {'name': 'a.lua'}, 'list': [{'kind': 'concat', 'blocks': [{'kind': 'script', 'file': 'b'}]}],"
                         " 'deep': {'er': {'name': 'c.lua', 'source': 'return 1'}}}"));
}

TEST_CASE("Lua is marked where its reader makes it, and its own options stay as they are") {
  const auto marks = [](ConfigKind kind, const std::string& written, const std::string& expected) {
    Config marked = config(written);
    confine_lua(marked, "p.iap", kind);
    CHECK(marked == config(expected));
    trust_lua(marked, kind);
    CHECK(marked == config(written));
  };
  // A block's kind alone says what it is, and where others stand inside it.
  marks(ConfigKind::policy,
        "{'kind': 'mirror', 'name': 'x.lua', 'block': {'kind': 'script', 'name': 'cheetah-run', 'own': {'kind': 'script'}}}",
        "{'kind': 'mirror', 'name': 'x.lua', 'block': {'kind': 'script', 'name': 'cheetah-run', 'own': {'kind': 'script'},"
        " 'loaded_from': 'p.iap'}}");
  marks(ConfigKind::policy, "{'kind': 'sequence', 'blocks': [{'kind': 'script', 'level': {'name': 'f.lua', 'env': 'g.lua'}}]}",
        "{'kind': 'sequence', 'blocks': [{'kind': 'script', 'level': {'name': 'f.lua', 'env': 'g.lua'}, 'loaded_from': 'p.iap'}]}");
  // An environment's name does.
  marks(ConfigKind::env, "{'name': 'x.lua', 'kind': 'mirror', 'block': {'kind': 'script'}, 'level': {'name': 'f.lua'}}",
        "{'name': 'x.lua', 'kind': 'mirror', 'block': {'kind': 'script'}, 'level': {'name': 'f.lua'}, 'loaded_from': 'p.iap'}");
  marks(ConfigKind::env, "{'name': 'cheetah-run', 'inside': {'kind': 'script'}}",
        "{'name': 'cheetah-run', 'inside': {'kind': 'script', 'loaded_from': 'p.iap'}}");
  marks(ConfigKind::metadata,
        "{'env': {'name': 'x.lua', 'o': {'name': 'f.lua'}}, 'env_given': {'name': 'x.lua'}, 'more': [{'kind': 'script'}]}",
        "{'env': {'name': 'x.lua', 'o': {'name': 'f.lua'}, 'loaded_from': 'p.iap'},"
        " 'env_given': {'name': 'x.lua', 'loaded_from': 'p.iap'}, 'more': [{'kind': 'script', 'loaded_from': 'p.iap'}]}");
  // A name alone is an environment, too.
  for (const char* named : {"{'env': 'x.lua'}", "{'env_given': 'x.lua'}"}) {
    Config marked = config(named);
    confine_lua(marked, "p.iap", ConfigKind::metadata);
    CHECK(marked.map()->begin()->second == config("{'name': 'x.lua', 'loaded_from': 'p.iap'}"));
  }
  // So is the text of a table, at any depth, and the whole of what a file holds beside its policy.
  for (const char* key : {"env", "env_given"}) {
    Config marked = config(text("{'more': {'", key, "': '{ name = 1 }'}}"));
    confine_lua(marked, "p.iap", ConfigKind::metadata);
    CHECK(marked.find("more")->find(key)->map());
  }
  marks(ConfigKind::metadata, "{'name': 'x.lua', 'source': 'return 1'}",
        "{'name': 'x.lua', 'source': 'return 1', 'loaded_from': 'p.iap'}");
  marks(ConfigKind::metadata, "{'kind': 'script', 'file': 'x.lua'}", "{'kind': 'script', 'file': 'x.lua', 'loaded_from': 'p.iap'}");
  // A program makes a table Lua, whatever else it says: another name or kind may be given to it.
  marks(
      ConfigKind::metadata,
      "{'head': {'file': 'x', 'source': 'f()'}, 'deep': [{'required_modules': {'m': 'f()'}}], 'note': {'source': 'paper'}}",
      "{'head': {'file': 'x', 'source': 'f()', 'loaded_from': 'p.iap'}, 'deep': [{'required_modules': {'m': 'f()'}, 'loaded_from': "
      "'p.iap'}], 'note': {'source': 'paper'}}");
  for (const char* program : {"for e in os.exit do end", "while-1do;end", "a paper"})
    marks(ConfigKind::metadata, text("{'head': {'source': '", program, "'}}"),
          text("{'head': {'source': '", program, "', 'loaded_from': 'p.iap'}}"));
  // Nobody takes these for Lua.
  for (const char* name : {"x.LUA", "x.lua ", "x.lua/", ".luac"})
    marks(ConfigKind::env, text("{'name': '", name, "'}"), text("{'name': '", name, "'}"));
}

TEST_CASE("an environment that is not in Lua has nothing that would be the text of another one") {
  const auto becomes = [](const std::string& written, const std::string& expected) {
    for (const char* key : {"env", "env_given"}) {
      Config env = config(written), metadata = Config::Map{{key, env}};
      confine_lua(env, "p.iap", ConfigKind::env);
      CHECK(env == config(expected));
      confine_lua(metadata, "p.iap", ConfigKind::metadata);
      CHECK(metadata == Config(Config::Map{{key, env}}));
    }
  };
  becomes("{'source': 'f()', 'steps': 3}", "{'steps': 3}");
  becomes("{'required_modules': {'m': 'f()'}, 'loaded_from': 'mine.iap'}", "{}");
  becomes("{'name': 'cheetah-run', 'source': 'f()', 'required_modules': {}}", "{'name': 'cheetah-run'}");
  becomes("{'name': 'legged', 'model_files': {'a.obj': 'v 0 0 0'}}", "{'name': 'legged', 'model_files': {'a.obj': 'v 0 0 0'}}");
  becomes("{'name': 'probe', 'source': 'left-eye'}", "{'name': 'probe', 'source': 'left-eye'}");
  becomes("{'name': '{name = 1}'}", "{'name': './{name = 1}'}");
  // Laid over one with a mark, it takes none off.
  becomes("{'time_limit': 3, 'loaded_from': null}", "{'time_limit': 3}");
  Config metadata = config("{'more': [{'time_limit': 3, 'loaded_from': null}]}");
  confine_lua(metadata, "p.iap", ConfigKind::metadata);
  CHECK(metadata == config("{'more': [{'time_limit': 3}]}"));
}

TEST_CASE("a policy comes back from its file alone, bit for bit") {
  Policy policy = sample();
  const std::string file = save_policy(policy, metadata());
  auto loaded = load_policy(file, "x.iap");
  CHECK(loaded.metadata == metadata());
  CHECK(loaded.policy.architecture() == policy.architecture());
  CHECK(loaded.policy.observation() == policy.observation());
  CHECK(loaded.policy.action_size() == 1);
  REQUIRE(loaded.policy.size() == policy.size());
  CHECK(std::memcmp(loaded.policy.parameters().data(), policy.parameters().data(), policy.size() * sizeof(float)) == 0);
  CHECK(save_policy(loaded.policy, loaded.metadata) == file);
  for (std::uint64_t step = 0; step < 5; ++step) {
    const Frame frame(policy.observation(), step);
    CHECK(act(loaded.policy, frame) == act(policy, frame));
  }
}

TEST_CASE("a policy from a file begins as one that was initialised, projections of an episode included") {
  Policy policy(config("{'kind': 'rank', 'patch': 4, 'top': 2, 'kernel': 'exp', 'm': 3, 'redraw': 'episode'}"), image_spec(24, 24),
                4);
  policy.initialise(3);
  Policy loaded = load_policy(save_policy(policy, {}), "x.iap").policy;
  const Frame frame(policy.observation(), 1);
  CHECK(act(loaded, frame) == act(policy, frame));
  CHECK(std::ranges::equal(loaded.views().at(0).scores, policy.views().at(0).scores));
}

TEST_CASE("a file in which levels of a hierarchy have names, though paths call them high and low, is read as it was written") {
  const auto levels = [](const char* name) {
    return config(text("{'kind': 'hierarchy', 'high': {'kind': 'linear', 'units': 3", name,
                       "}, 'low': {'kind': 'sequence', 'blocks': [{'kind': 'linear'}]}}"));
  };
  Policy policy(levels(""), vector_spec(2), 1);
  randomise(policy, 3);
  Config header = header_of(policy);
  header["architecture"]["high"]["name"] = "brain";
  Policy loaded = load_policy(forge(header, policy.parameters()), "x.iap").policy;
  CHECK(loaded.architecture() == policy.architecture());
  const Frame frame(policy.observation(), 1);
  CHECK(act(loaded, frame) == act(policy, frame));
  // Those whose paths have the name keep it, and what fits neither way is told as it is written.
  const Policy named(levels(", 'name': 'brain'"), vector_spec(2), 1);
  CHECK(load_policy(save_policy(named, {}), "x.iap").policy.architecture() == named.architecture());
  header["slices"] = Config::List{};
  CHECK_THROWS_WITH(load_policy(forge(header, policy.parameters()), "x.iap"), ContainsSubstring("brain.weight"));
}

TEST_CASE("policy files are written and read on disk, and errors name the path") {
  const auto path = std::filesystem::temp_directory_path() / ("iap_policy_" + std::to_string(::getpid()) + ".iap");
  const Policy policy = sample();
  write_policy_file(path, policy, metadata());
  CHECK(read_policy_file(path).policy.size() == policy.size());
  CHECK_THROWS_MATCHES(write_policy_file(path.string() + ".lua", policy, metadata()), Error,
                       MessageMatches(ContainsSubstring("a policy is no script")));
  write_file_atomic(path, "IAPPOLCY and then nonsense");
  CHECK_THROWS_MATCHES(read_policy_file(path), Error, MessageMatches(StartsWith(path.string())));
  std::filesystem::remove(path);
  CHECK_THROWS_MATCHES(read_policy_file(path), Error, MessageMatches(ContainsSubstring(path.string())));
}

TEST_CASE("every flipped byte and every truncation of a policy file is an Error that names it") {
  const std::string file = save_policy(sample(), metadata());
  for (std::size_t byte = 0; byte < file.size(); ++byte)
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::string damaged = file;
      damaged[byte] = static_cast<char>(damaged[byte] ^ mask);
      CHECK_THROWS_MATCHES(load_policy(damaged, "x.iap"), Error, MessageMatches(StartsWith("x.iap: ")));
    }
  for (std::size_t size = 0; size < file.size(); ++size)
    CHECK_THROWS_MATCHES(load_policy(std::string_view(file).substr(0, size), "x.iap"), Error,
                         MessageMatches(StartsWith("x.iap: ")));
}

TEST_CASE("a sealed file whose content does not fit together is refused") {
  const Policy policy = sample();
  const Config header = header_of(policy);
  CHECK_NOTHROW(load_policy(forge(header, policy.parameters()), "x.iap"));
  const auto refuse = [&](const Config& changed, std::span<const float> parameters, const std::string& part) {
    CHECK_THROWS_MATCHES(load_policy(forge(changed, parameters), "x.iap"), Error,
                         MessageMatches(StartsWith("x.iap: ") && ContainsSubstring(part)));
  };
  const auto with = [&](const std::string& path, const std::string& value) {
    Config changed = header;
    set_path(changed, path, value);
    return changed;
  };
  refuse(header, policy.parameters().first(3), "got 3 parameters, it has");
  refuse(with("action_size", "3"), policy.parameters(), "the environment takes 3 action values");
  refuse(with("action_size", "0"), policy.parameters(), "'action_size'");
  refuse(with("architecture", "{\"kind\": \"linear\"}"), policy.parameters(), "has no input values");
  refuse(with("slices", "[]"), policy.parameters(), "parameter slice 1 is null");
  refuse(with("observation.vector", "-1"), policy.parameters(), "'vector'");
  refuse(with("observation.images", "[{\"name\": \"pixels\", \"height\": 4, \"width\": 6, \"channels\": 9, \"type\": \"uint8\"}]"),
         policy.parameters(), "'channels'");
  refuse(with("metadata", "[1]"), policy.parameters(), "its metadata are [1], not a table");
  refuse(with("colour", "1"), policy.parameters(), "unknown option 'colour'");
  std::vector<float> not_finite(policy.parameters().begin(), policy.parameters().end());
  not_finite[2] = std::numeric_limits<float>::infinity();
  refuse(header, not_finite, "parameter 3 of '1.rank.query'");
  Writer longer;
  longer.put_string(to_json(header));
  longer.put_all(policy.parameters());
  longer.put('x');
  CHECK_THROWS_MATCHES(load_policy(seal("IAPPOLCY", 1, longer.bytes()), "x.iap"), Error,
                       MessageMatches(ContainsSubstring("bytes after")));
  CHECK_THROWS_MATCHES(load_policy(seal("IAPPOLCY", 2, longer.bytes()), "x.iap"), Error,
                       MessageMatches(ContainsSubstring("version 2")));
  CHECK_THROWS_MATCHES(load_policy(seal("IAPCHECK", 1, longer.bytes()), "x.iap"), Error,
                       MessageMatches(ContainsSubstring("is no policy file")));
}

TEST_CASE("the environment in a file is a table, whatever its text says") {
  const auto env = [](const char* text) {
    return *load_policy(save_policy(sample(), Config::Map{{"env", text}}), "x.iap").metadata.find("env");
  };
  CHECK(env("cartpole-swingup") == Config(Config::Map{{"name", "cartpole-swingup"}}));
  CHECK(env("x.lua") == Config(Config::Map{{"name", "x.lua"}, {"loaded_from", "x.iap"}}));
  // Handed on alone, its name is none either.
  for (const std::string table : {"{name = 'x.lua'}", " {}", "\xEF\xBB\xBF\n--\n{}", "[1]/x.lua"})
    CHECK(*env(table.c_str()).find("name") == Config("./" + table));
  CHECK(load_policy(save_policy(sample(), {}), "x.iap").metadata == Config(Config::Map{}));
}

TEST_CASE("observation specs survive as configs") {
  ObservationSpec timed = vector_spec(2);
  timed.dt = 0.04;
  const ObservationSpec specs[] = {{},
                                   vector_spec(7),
                                   timed,
                                   image_spec(100, 80, 3, 2),
                                   {{{"left", {3, 4, 4, PixelType::uint8}}, {"depth", {5, 6, 1, PixelType::float32}}}, 1}};
  for (const auto& spec : specs) CHECK(observation_from_config(parse_json(to_json(to_config(spec)), "test"), "test") == spec);
}
