#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>

#include "objects.hpp"
import iap.core;
import iap.script;

// Tables as texts: what is read, what is refused and where.

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;

namespace {

std::string refused(const std::string& text) {
  try {
    iap::parse_table(text, "text");
  } catch (const iap::Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("a table in Lua is the tree that the same table is in JSON") {
  const char* json = R"({"a": [1, 2.5, -3], "b": {"c": true, "d": "x\ny"}, "e": []})";
  const char* lua = "-- a comment\n{ a = { 1, 2.5, -3 }, b = { c = true; ['d'] = 'x\\ny' }, e = {}, f = nil }";
  const iap::Config expected = iap::parse_table(json, "text");
  iap::Config read = iap::parse_table(lua, "text");
  // An empty table is no list and no map before somebody reads it.
  CHECK(read["e"].map());
  read["e"] = iap::Config::List{};
  CHECK(read == expected);
  CHECK(iap::parse_table("[1, 2]", "text").list()->size() == 2);
  CHECK(iap::parse_table(R"({ "a", "b" })", "text").list()->size() == 2);
  CHECK(iap::parse_table(R"({ ["a b"] = 1 })", "text").find("a b"));
  const std::string marked = std::string("\xEF\xBB\xBF") + R"({"name": "cartpole-swingup"})";
  CHECK_THAT(spec_of(make_env(marked).get()).name, Equals("cartpole-swingup"));
  // A quote in the first key is not its end.
  for (const char* key : {"a\"b", "\\", "a\\\"", "\"\":"})
    CHECK(iap::parse_table(iap::to_json(iap::Config::Map{{key, 1}, {"name", "x"}}), "text").find(key));
  CHECK(iap::parse_table(R"({ "a\"b\\", "c" })", "text").list()->size() == 2);
  CHECK_THAT(refused(R"({ "a\")"), ContainsSubstring("text:1: "));
}

TEST_CASE("a text has the numbers that Lua calls by name") {
  const auto table = iap::parse_table("{ math.pi, math.huge, math.maxinteger, math.mininteger }", "text");
  CHECK(iap::to_json(table) ==
        iap::to_json(iap::Config::List{std::numbers::pi, std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}));
}

TEST_CASE("a text that is no table is refused with its line") {
  CHECK_THAT(refused("{\n  name = 'x',\n  pixels = { 64, 64 \n"), ContainsSubstring("text:4: '}' expected"));
  CHECK_THAT(refused("{\n  name = cheetah }"), Equals("text:2: there is no 'cheetah'; a text stands in quotes"));
  CHECK_THAT(refused("{ a = math.cos }"),
             Equals("text:1: there is no 'math.cos'; a text has its numbers alone: huge, pi, maxinteger and mininteger"));
  CHECK_THAT(refused("{ \"name\": \"x\", }"), ContainsSubstring("text: not valid JSON") && ContainsSubstring("line 1"));
  CHECK_THAT(refused("{ name = 'x' } os.exit()"), ContainsSubstring("text:1:"));
  CHECK_THAT(refused("{ f = function() end }"),
             Equals("text: option 'f': expected a plain value, a list or a table, got a function"));
  CHECK_THAT(refused("{ 1, name = 'x' }"), ContainsSubstring("mixes list items"));
}

TEST_CASE("a text can neither call anything nor use up time and memory") {
  for (const char* called : {"os.exit(3)", "io.open('x')", "require 'x'", "print(1)", "load('')", "string.rep('x', 9)"})
    CHECK_THAT(refused(iap::text("{ a = ", called, " }")), ContainsSubstring("text:1: there is no '"));
  CHECK_THAT(refused("{ a = ('x'):rep(9) }"), ContainsSubstring("attempt to index a string value"));
  CHECK_THAT(refused("{ a = (function() while true do end end)() }"), ContainsSubstring("takes too long"));
  CHECK_THAT(refused("{ a = (function() local x = 'x' while true do x = x .. x end end)() }"),
             ContainsSubstring("too much memory"));
  // What takes long in few instructions: copies, comparisons, keys that all collide, chains in the parser.
  const std::string large = "{ a = (function() local s = 'x' for i = 1, 23 do s = s .. s end ";
  CHECK_THAT(refused(large + "while true do local t = s .. 'y' end end)() }"), ContainsSubstring("takes too long"));
  CHECK_THAT(refused(large + "local t = s .. 'y' s = s .. 'x' while s < t do end end)() }"), ContainsSubstring("takes too long"));
  CHECK_THAT(refused("{ a = (function() local t = {} for i = 1, 1 << 20 do t[i * ((1 << 20) - 1)] = 1 end end)() }"),
             ContainsSubstring("too much memory"));
  std::string chain = "{ a = nil";
  for (int i = 0; i < 100'000; ++i) chain += " and nil";
  CHECK_THAT(refused(chain + " }"), ContainsSubstring("the Lua text has 800011 bytes, at most 262144 are taken; write JSON"));
  CHECK_THAT(refused(std::string(100'000, '{')), ContainsSubstring("text:") && ContainsSubstring("overflow"));
  CHECK_THAT(refused("\x1bLua"), ContainsSubstring("text"));
}

TEST_CASE("a short text that stands for much is refused before it fills the memory") {
  std::string tables = "{ name = 'cartpole-balance', x = (function() local a = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } ";
  for (int i = 0; i < 8; ++i) tables += "a = { a, a, a, a, a, a, a, a, a, a } ";
  tables += "return a end)() }";
  CHECK_THAT(refused(tables), StartsWith("text: option 'x.") && ContainsSubstring("there are more than 1000000 values"));
  CHECK_THAT(refused_env(tables.c_str()),
             StartsWith("iap_env_make: 'text': option 'x.") && ContainsSubstring("there are more than 1000000 values"));
  const std::string strings =
      "{ x = (function() local s = 'x' for i = 1, 20 do s = s .. s end local a = { s, s, s, s, s, s, s, s } return { a, a, a, a, "
      "a, a, a, a, a } "
      "end)() }";
  CHECK_THAT(refused(strings), ContainsSubstring("there are more than 67108864 bytes of text"));
}

TEST_CASE("an environment is described by a table in JSON, in Lua, or by its name") {
  const auto json = make_env(R"({"name": "cartpole-swingup", "action_repeat": 4})"),
             lua = make_env("{ name = 'cartpole-swingup', action_repeat = 4 }"), name = make_env("  cartpole-swingup\n");
  CHECK_THAT(spec_of(json.get()).config, Equals(spec_of(lua.get()).config));
  CHECK(spec_of(json.get()).control_dt == 4 * spec_of(name.get()).control_dt);
  const auto again = make_env(spec_of(json.get()).config);
  CHECK_THAT(spec_of(again.get()).config, Equals(spec_of(json.get()).config));
}

TEST_CASE("a null in a list of a table in JSON is refused, as its hole is in Lua") {
  const auto list = [](const char* items) {
    return refused_env((std::string(R"({"name": "cheetah-run", "render": {"samples": )") + items + "}}").c_str());
  };
  constexpr const char* said = "' is null; a list has a value at each place";
  CHECK_THAT(list("[1, null, 3]"), Equals("iap_env_make: 'text': option 'render.samples.2" + std::string(said)));
  CHECK_THAT(list("[[1, null]]"), Equals("iap_env_make: 'text': option 'render.samples.1.2" + std::string(said)));
  // As an option of its own it is one that nobody gave.
  CHECK(spec_of(make_env(R"({"name": "cheetah-run", "time_limit": null})").get()).max_steps > 0);
}

TEST_CASE("a NUL in a table is refused whole, before it cuts names and messages") {
  const auto env = [](const std::string& table) { return refused_env(table.c_str()); };
  CHECK_THAT(env(R"({"name": "cheetah-run\u0000"})"),
             Equals("iap_env_make: 'text': option 'name' is 'cheetah-run?', which holds a character NUL; take it out"));
  CHECK_THAT(env(R"({ name = "cheetah-run", camera = "side\0x", pixels = { 8, 8 } })"),
             Equals("iap_env_make: 'text': option 'camera' is 'side?x', which holds a character NUL; take it out"));
  CHECK_THAT(env(R"({"name": "cheetah-run", "render": {"a\u0000b": 1}})"),
             Equals("iap_env_make: 'text': the name of option 'render.a?b' holds a character NUL; take it out"));
  iap_rollouts* rollouts = nullptr;
  Message message{};
  const char* blocks = R"({"kind": "sequence", "blocks": [{"kind": "linear\u0000"}]})";
  CHECK(iap_rollouts_make("cheetah-run", blocks, 1, &rollouts, message.data(), message.size()) == IAP_BAD_ARGUMENT);
  CHECK_THAT(message.data(),
             Equals("iap_rollouts_make: 'policy': option 'blocks.1.kind' is 'linear?', which holds a character NUL; "
                    "take it out"));
  // What a Lua file holds is no name.
  const Folder folder;
  const std::string file = folder.file("zero.lua", "-- " + std::string(1, '\0') + "\n" + lua_world(false));
  const auto made = make_env(file);
  CHECK_THAT(spec_of(make_env(spec_of(made.get()).config).get()).config, Equals(spec_of(made.get()).config));
}

TEST_CASE("a bad description of an environment is one message") {
  CHECK_THAT(refused_env(nullptr), Equals("iap_env_make: 'text' is null; give the environment as a table or its name"));
  CHECK_THAT(refused_env(" "), Equals("iap_env_make: 'text' is empty; give the environment as a table or its name"));
  CHECK_THAT(refused_env("cheeta-run"), ContainsSubstring("iap_env_make: 'text': ") &&
                                            ContainsSubstring("there is no environment 'cheeta-run'; did you mean 'cheetah-run'?"));
  CHECK_THAT(refused_env("{ name = 'cheetah-run',\n pixel = { 64, 64 } }"), ContainsSubstring("did you mean 'pixels'?"));
  CHECK_THAT(refused_env("{ name = 'cheetah-run',\n pixels = { 64, 64 }"), ContainsSubstring("iap_env_make: 'text':2:"));
  CHECK_THAT(refused_env("{ pixels = { 64, 64 } }"), ContainsSubstring("name"));
  CHECK_THAT(refused_env("[1, 2]"), ContainsSubstring("iap_env_make: 'text'"));
  CHECK_THAT(refused_env("nowhere.lua"), ContainsSubstring("nowhere.lua"));
  Message message{};
  CHECK(iap_env_make("cartpole-swingup", nullptr, message.data(), message.size()) == IAP_BAD_ARGUMENT);
  CHECK_THAT(message.data(), Equals("iap_env_make: 'env' is null; it receives the environment"));
}
