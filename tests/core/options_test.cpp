#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>
import iap.core;

using namespace iap;
using Catch::Matchers::Message;

namespace {

Config sample() {
  Config config;
  config["population"] = 64;
  config["sigma"] = 0.1;
  config["whole"] = 5.0;
  config["name"] = "es";
  config["quiet"] = true;
  config["pixels"] = Config::List{100, 80};
  return config;
}

}  // namespace

TEST_CASE("options of every type are read, with fallbacks for missing keys") {
  const Config config = sample();
  Options options("optimizer", config);
  CHECK(options.integer_in("population", 1, 100) == 64);
  CHECK(options.integer_in("whole", 1, 100) == 5);
  CHECK(options.number("sigma") == 0.1);
  CHECK(options.number("population") == 64.0);
  CHECK(options.string("name") == "es");
  CHECK(options.boolean("quiet"));
  CHECK(options.integers("pixels") == std::vector<std::int64_t>{100, 80});
  CHECK(options.choice("name", {"es", "cma_es"}) == "es");
  CHECK(options.number("missing_1", 2.5) == 2.5);
  CHECK(options.integer_in("missing_2", 1, 9, 7) == 7);
  CHECK(options.boolean("missing_3", false) == false);
  CHECK(options.string("missing_4", "x") == "x");
  CHECK(options.integers("missing_5", std::vector<std::int64_t>{1}) == std::vector<std::int64_t>{1});
  CHECK(options.value("missing_6").is_null());
  CHECK(options.list("missing_7").empty());
  CHECK(options.list("pixels").size() == 2);
  CHECK(options.has("sigma"));
  CHECK_FALSE(options.has("missing_1"));
  CHECK_NOTHROW(options.finish());
}

TEST_CASE("wrong options are errors that name owner, key and value") {
  const Config config = sample();
  Options options("optimizer 'es'", config);
  CHECK_THROWS_MATCHES(options.number("rate"), Error, Message("optimizer 'es': option 'rate' is missing"));
  CHECK_THROWS_MATCHES(options.number("name"), Error, Message("optimizer 'es': option 'name' must be a number, got \"es\""));
  CHECK_THROWS_MATCHES(options.integer_in("sigma", 0, 1), Error,
                       Message("optimizer 'es': option 'sigma' must be an integer, got 0.1"));
  CHECK_THROWS_MATCHES(options.integer_in("population", 1, 10), Error,
                       Message("optimizer 'es': option 'population' must be in [1, 10], got 64"));
  CHECK_THROWS_MATCHES(options.number_in("sigma", 1, 2), Error,
                       Message("optimizer 'es': option 'sigma' must be in [1, 2], got 0.1"));
  CHECK_THROWS_AS(options.number_in("sigma", 0, std::nextafter(0.1, 0)), Error);
  CHECK_THROWS_AS(options.number_in("sigma", std::nextafter(0.1, 1), 1), Error);
  CHECK(options.number_in("sigma", 0.1, 0.1) == 0.1);
  CHECK_THROWS_MATCHES(options.boolean("population"), Error,
                       Message("optimizer 'es': option 'population' must be true or false, got 64"));
  CHECK_THROWS_MATCHES(options.string("quiet"), Error, Message("optimizer 'es': option 'quiet' must be a string, got true"));
  CHECK_THROWS_MATCHES(options.integers("sigma"), Error,
                       Message("optimizer 'es': option 'sigma' must be a list of integers, got 0.1"));
  CHECK_THROWS_MATCHES(options.list("name"), Error, Message("optimizer 'es': option 'name' must be a list, got \"es\""));
  CHECK_THROWS_MATCHES(options.choice("name", {"esx", "cma"}), Error,
                       Message("optimizer 'es': unknown name 'es'; did you mean 'esx'?"));
  CHECK_THROWS_MATCHES(options.fail("stop"), Error, Message("optimizer 'es': stop"));
}

TEST_CASE("a number just beyond a bound that has many digits is told apart from it") {
  const Config config = Config::Map{{"angle", 6.28319}, {"scale", 1000001.0}};
  CHECK_THROWS_MATCHES(Options("o", config).number_in("scale", 0, 1e6), Error,
                       Message("o: option 'scale' must be in [0, 1e+06], got 1000001.0"));
  CHECK_THROWS_MATCHES(Options("o", config).number_in("angle", 0, 6.283185307179586), Error,
                       Message("o: option 'angle' must be in [0, 6.283185307179586], got 6.28319"));
}

TEST_CASE("numbers that are not finite are refused") {
  Config config;
  config["sigma"] = std::numeric_limits<double>::quiet_NaN();
  config["rate"] = std::numeric_limits<double>::infinity();
  Options options("o", config);
  CHECK_THROWS_AS(options.number("sigma"), Error);
  CHECK_THROWS_AS(options.number_in("rate", 0, 1), Error);
}

TEST_CASE("integers in a list are checked one by one") {
  Config config;
  config["pixels"] = Config::List{100, 80.5};
  Options options("o", config);
  CHECK_THROWS_MATCHES(options.integers("pixels"), Error, Message("o: option 'pixels' must hold integers, got 80.5"));
}

TEST_CASE("an empty table of Lua is an empty list of integers and is completed as one") {
  const Config config = Config::Map{{"hidden", Config::Map{}}, {"odd", Config::List{}}};
  Options options("o", config);
  CHECK(options.integers("hidden").empty());
  CHECK(options.integers("odd", std::vector<std::int64_t>{1}).empty());
  CHECK(to_json(options.completed()) == R"({"hidden":[],"odd":[]})");
}

TEST_CASE("a list without brackets is shown with them") {
  const auto message = [](const char* words) {
    const Config config = Config::Map{{"pixels", words}};
    try {
      Options("env", config).integers("pixels");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string begin = "env: option 'pixels' must be a list of integers, got ";
  CHECK(message("64,64") == begin + "\"64,64\"; write it as [64,64]");
  CHECK(message("64 x 48") == begin + "\"64 x 48\"; write it as [64,48]");
  CHECK(message("{-1, 2}") == begin + "\"{-1, 2}\"; write it as [-1,2]");
  CHECK(message("small") == begin + "\"small\"");
  CHECK(message(", ") == begin + "\", \"");
}

TEST_CASE("a completed table holds whole numbers as such") {
  const Config config = Config::Map{{"count", 3.0}, {"size", Config::List{4.0, 5}}, {"number", 2}};
  Options options("test", config);
  options.integer_in("count", 0, 9);
  options.integers("size");
  options.number("number");
  CHECK(to_json(options.completed()) == R"({"count":3,"number":2,"size":[4,5]})");
  CHECK(options.config() == config);
}

TEST_CASE("finish refuses a key that nobody asked for and names the nearest") {
  Config config;
  config["populaton"] = 64;
  Options options("es", config);
  options.integer_in("population", 1, 100, 32);
  options.number("sigma", 0.1);
  CHECK_THROWS_MATCHES(options.finish(), Error, Message("es: unknown option 'populaton'; did you mean 'population'?"));
  Config unrelated;
  unrelated["horizontal"] = 1;
  Options second("es", unrelated);
  second.number("sigma", 0.1);
  CHECK_THROWS_MATCHES(second.finish(), Error, Message("es: unknown option 'horizontal'; known: sigma"));
}

TEST_CASE("what iap writes into a table by itself is taken and not offered") {
  Config config = parse_json(R"({"source": "text", "origin": "file", "sourse": 1})", "test");
  Options options("block", config);
  options.number("gain", 1);
  CHECK(options.record("source") == Config("text"));
  CHECK(options.record("nothing").is_null());
  options.string("origin");
  options.record("origin");
  CHECK_THROWS_MATCHES(options.finish(), Error, Message("block: unknown option 'sourse'; known: gain"));
  config.map()->erase("sourse");
  CHECK_NOTHROW(options.finish());
}

TEST_CASE("what is asked for again is offered once, where it was asked for first") {
  const Config config = parse_json(R"({"horizontal": 1})", "test");
  Options options("es", config);
  for (const char* key : {"sigma", "rate", "sigma"}) options.value(key);
  CHECK_THROWS_MATCHES(options.finish(), Error, Message("es: unknown option 'horizontal'; known: sigma, rate"));
}

TEST_CASE("a table of many options takes time in proportion to them") {
  constexpr int many = 200'000;
  Config config = Config::Map{};
  for (int i = 0; i < many; ++i) config[text("option", i)] = i;
  Options options("task", config);
  int wrong = 0;
  const auto begin = Clock::now();
  for (const auto& [key, value] : *config.map()) wrong += !(options.value(key) == value);
  options.finish();
  CHECK(seconds_since(begin) < 20);  // in its square, minutes
  CHECK(wrong == 0);
}

TEST_CASE("a missing option is told beside what may have been meant by it") {
  const Config config = parse_json(R"({"pach": 4, "size": 3})", "test");
  Options options("rank", config);
  CHECK_THROWS_MATCHES(options.integer_in("patch", 1, 9), Error, Message("rank: option 'patch' is missing; is it 'pach'?"));
  options.value("pach");
  CHECK_THROWS_MATCHES(options.integer_in("patch", 1, 9), Error, Message("rank: option 'patch' is missing"));
}

TEST_CASE("an option that goes with another one is told so, and is not taken for a typo") {
  const Config config = parse_json(R"({"spread": 3})", "test");
  Options options("rank", config);
  options.integer_in("threads", 1, 9, 1);
  options.goes_with("spread", "kernel = \"favor++\"");
  CHECK_THROWS_MATCHES(options.finish(), Error, Message("rank: option 'spread' goes with kernel = \"favor++\""));
  options.number("spread");
  CHECK_NOTHROW(options.finish());
}

TEST_CASE("an option table is a table; nothing and an empty list count as no options") {
  const Config nothing, empty(Config::List{}), number(3), list(Config::List{1});
  CHECK_NOTHROW(Options("o", nothing).finish());
  CHECK_NOTHROW(Options("o", empty).finish());
  CHECK_THROWS_MATCHES(Options("o", number), Error, Message("o: expected a table of options, got 3"));
  CHECK_THROWS_MATCHES(Options("o", list), Error, Message("o: expected a table of options, got [1]"));
  Config with_null;
  with_null["sigma"] = Config();
  Options options("o", with_null);
  CHECK(options.number("sigma", 0.5) == 0.5);
}

TEST_CASE("a completed table holds what was given and every fallback that was asked for") {
  const Config config = Config::Map{{"given", 3}, {"nothing", Config()}, {"list", Config::List{1, 2}}};
  Options options("test", config);
  CHECK(options.completed() == Config(Config::Map{{"given", 3}, {"list", Config::List{1, 2}}}));
  options.integer_in("given", 0, 9, 7);
  options.integer_in("integer", 0, 9, 7);
  options.number_in("number", 0, 9, 0.5);
  options.boolean("flag", true);
  options.choice("choice", {"a", "b"}, "b");
  options.string("nothing", "text");
  options.integers("integers", std::vector<std::int64_t>{4, 5});
  options.value("raw");
  options.list("list");
  options.complete("inner", Config::Map{{"x", 1}});
  const Config wanted = Config::Map{{"given", 3},
                                    {"integer", 7},
                                    {"number", 0.5},
                                    {"flag", true},
                                    {"choice", "b"},
                                    {"nothing", "text"},
                                    {"integers", Config::List{4, 5}},
                                    {"list", Config::List{1, 2}},
                                    {"inner", Config::Map{{"x", 1}}}};
  CHECK(options.completed() == wanted);
  const Config none;
  CHECK(Options("test", none).completed() == Config(Config::Map{}));
}
