#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
import iap.core;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
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

TEST_CASE("JSON text is what the library would write of such a tree") {
  Random random(8);
  // A tree and its twin in the library's own type.
  const std::function<std::pair<Config, nlohmann::json>(int)> tree = [&](int depth) -> std::pair<Config, nlohmann::json> {
    const auto kind = static_cast<int>(random.uniform(0, depth > 0 ? 8 : 6));
    const double number = random.normal() * std::pow(10, random.uniform(-12, 12));
    if (kind == 0) return {Config(), nullptr};
    if (kind == 1) return {true, true};
    if (kind == 2) return {static_cast<std::int64_t>(number), static_cast<std::int64_t>(number)};
    if (kind == 3) return {number, number};
    if (kind == 4) return {"\x01 \"\\/\n\xc3\xa4 \x7f", "\x01 \"\\/\n\xc3\xa4 \x7f"};
    if (kind == 5) return {std::round(number), std::round(number)};
    std::pair<Config, nlohmann::json> both = kind == 6 ? std::pair(Config(Config::List{}), nlohmann::json::array())
                                                       : std::pair(Config(Config::Map{}), nlohmann::json::object());
    for (auto entries = static_cast<int>(random.uniform(0, 5)); entries > 0; --entries) {
      const auto [own, twin] = tree(depth - 1);
      if (kind == 6) {
        both.first.list()->push_back(own);
        both.second.push_back(twin);
      } else {
        const std::string key = text("key \"", entries * 37 % 5, "\"");
        both.first[key] = own;
        both.second[key] = twin;
      }
    }
    return both;
  };
  for (int i = 0; i < 300; ++i) {
    const auto [own, twin] = tree(4);
    for (const int indent : {-1, 0, 2}) CHECK(to_json(own, indent) == twin.dump(indent));
    CHECK(parse_json(twin.dump(2), "test") == own);
  }
}

TEST_CASE("of a key that stands twice the last value counts") {
  CHECK(parse_json(R"({"a": {"b": 1}, "a": 2})", "test") == Config(Config::Map{{"a", 2}}));
}

TEST_CASE("what is wrong with JSON is told with its place") {
  CHECK_THROWS_MATCHES(parse_json("{\n\"a\": 1,\n]", "x.json"), Error, MessageMatches(ContainsSubstring("line 3, column 1")));
}

TEST_CASE("an interrupt ends a long text, not a short one") {
  std::string list = "[1", map = "{\"0\":1";
  for (int i = 1; i < 100'000; ++i) {
    list += ",1";
    map += ",\"" + std::to_string(i) + "\":1";
  }
  request_interrupt();
  CHECK_THROWS_AS(parse_json(list + "]", "test"), Interrupted);
  CHECK_THROWS_AS(parse_json(map + "}", "test"), Interrupted);
  CHECK_NOTHROW(parse_json("[1, 2, 3]", "test"));
  clear_interrupt();
  CHECK(parse_json(list + "]", "test").list()->size() == 100'000);
}
