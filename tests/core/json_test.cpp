#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
import iap.core;

using namespace iap;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

TEST_CASE("JSON text keeps types and values") {
  Config config;
  config["none"] = Config();
  config["flag"] = false;
  config["whole"] = -7;
  config["real"] = 2.0;
  config["text"] =
      "a \"quoted\" line\nand a t\xc3\xa4"
      "b\t";
  config["list"] = Config::List{1, "two", Config::List{}, Config::Map{}};
  CHECK(parse_json(to_json(config), "test") == config);
  CHECK(parse_json(to_json(config, 2), "test") == config);
  CHECK(to_json(Config::Map{{"b", 1}, {"a", 2.0}}) == R"({"a":2.0,"b":1})");
}

TEST_CASE("numbers survive JSON bit for bit") {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t bits = std::uint64_t{random.bits()} << 32 | random.bits();
    double number;
    std::memcpy(&number, &bits, sizeof number);
    if (!std::isfinite(number)) continue;
    const Config read = parse_json(to_json(Config(number)), "test");
    const double back = read.number().value();
    CHECK(std::memcmp(&back, &number, sizeof number) == 0);
    const auto whole = static_cast<std::int64_t>(bits);
    CHECK(parse_json(to_json(Config(whole)), "test").integer() == whole);
  }
  CHECK(std::signbit(*parse_json(to_json(Config(-0.0)), "test").number()));
}

TEST_CASE("numbers that JSON lacks become words") {
  CHECK(to_json(Config(std::numeric_limits<double>::infinity())) == "\"inf\"");
  CHECK(to_json(Config(-std::numeric_limits<double>::infinity())) == "\"-inf\"");
  CHECK(to_json(Config(std::numeric_limits<double>::quiet_NaN())) == "\"nan\"");
}

TEST_CASE("integers beyond 64 signed bits are read as numbers") {
  CHECK(parse_json("9223372036854775807", "test").integer() == std::numeric_limits<std::int64_t>::max());
  CHECK(parse_json("18446744073709551615", "test").number() == 18446744073709551615.0);
  CHECK(parse_json("100000000000000000000", "test").number() == 1e20);
}

TEST_CASE("malformed JSON is an Error that names its source") {
  for (const std::string bad : {"", "{", "[1,]", "{\"a\" 1}", "nul", "1 2", "\"open", "{\"a\":1}}", "1e999", "\"\xff\""})
    CHECK_THROWS_MATCHES(parse_json(bad, "header of x.iap"), Error, MessageMatches(StartsWith("header of x.iap: ")));
  for (const char bracket : {'[', '{'}) {
    std::string deep;
    for (int level = 0; level < 100000; ++level) deep += bracket == '[' ? "[" : "{\"a\":";
    deep += "1";
    deep.append(100000, bracket == '[' ? ']' : '}');
    CHECK_THROWS_MATCHES(parse_json(deep, "deep"), Error, MessageMatches(StartsWith("deep: JSON is nested")));
  }
}

TEST_CASE("text that is not UTF-8 does not stop a file from being written") {
  CHECK_NOTHROW(parse_json(to_json(Config("\xff\xfe")), "test"));
}
