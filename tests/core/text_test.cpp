#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../comma_locale.hpp"
import iap.core;

using namespace iap;

namespace {

std::string printed(const char* format, double value) {
  std::array<char, 512> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

std::string printed_integer(const char* format, int value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

std::string streamed(double value) {
  std::ostringstream stream;
  stream.imbue(std::locale::classic());
  stream << value;
  return stream.str();
}

/// Edges and a few thousand doubles of every size, drawn bit by bit.
std::vector<double> doubles() {
  std::vector<double> values{0.0,  -0.0, 1.0,     -1.0, 0.1,    2.5,  0.5,      1e5,   999999.5, 999999.4,           1e6,
                             1e15, 1e16, 1234567, 1e-4, 0.0001, 1e-5, 1.5e-300, 1e300, 5e-324,   0.30000000000000004};
  for (const double value : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::quiet_NaN()})
    values.push_back(value);
  Random random(7);
  for (int i = 0; i < 4000; ++i) values.push_back(std::ldexp(random.uniform(-1, 1), static_cast<int>(random.below(120)) - 60));
  return values;
}

}  // namespace

TEST_CASE("text joins strings, characters, numbers and truths") {
  const std::string word = "word";
  CHECK(text() == "");
  CHECK(text("a", word, std::string_view("bc"), 'd', word.c_str()) == "awordbcdword");
  CHECK(text(0, " ", -7, " ", 7U, " ", std::uint8_t{200}, " ", std::int64_t{-9223372036854775807 - 1}, " ",
             std::numeric_limits<std::uint64_t>::max()) == "0 -7 7 200 -9223372036854775808 18446744073709551615");
  CHECK(text(true, false) == "10");
  CHECK(text(1.5, " ", 0.1f, " ", 1e-7, " ", 1234567.0) == "1.5 0.1 1e-07 1.23457e+06");
}

TEST_CASE("numbers are printed as the C library prints them in the C locale") {
  for (const double value : doubles()) {
    CAPTURE(value);
    REQUIRE(text(value) == printed("%g", value));
    REQUIRE(text(value) == streamed(value));
    REQUIRE(text(static_cast<float>(value)) == streamed(static_cast<float>(value)));
    for (const int digits : {0, 1, 2, 6}) REQUIRE(fixed_text(value, digits) == printed(text("%.", digits, "f").c_str(), value));
    for (const int digits : {3, 4, 17}) REQUIRE(general_text(value, digits) == printed(text("%.", digits, "g").c_str(), value));
    // A subnormal number's bits are the same in a few ways of writing them.
    if (std::fpclassify(value) != FP_SUBNORMAL) REQUIRE(hex_text(value) == printed("%a", value));
    if (std::isfinite(value)) REQUIRE(std::strtod(hex_text(value).c_str(), nullptr) == value);
  }
}

TEST_CASE("no locale of the host's changes a text or a Config's JSON") {
  const Config config = Config::Map{{"number", 1234567.25}, {"whole", 1234567}, {"list", Config::List{0.5, -1e-9}}};
  const auto all = [&] {
    return text(1234567, " ", 1234.5, " ", 0.5f, " ", std::int64_t{-1234567}, fixed_text(1234567.25, 2), general_text(1234.5, 17),
                hex_text(1234.5), to_json(config), parse_json("[1234.5]", "test").describe(), config.describe());
  };
  const std::string plain = all();
  const CommaLocale here;
  std::ostringstream stream;
  stream << 1234.5;
  REQUIRE(stream.str() == "1.234,5");  // what follows the locale
  CHECK(all() == plain);
  CHECK(plain.find("1234567 1234.5 0.5 -12345671234567.25") == 0);
  Options options("thing", config);
  std::string message;
  try {
    options.number_in("number", 0, 0.5);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message == "thing: option 'number' must be in [0, 0.5], got 1.23457e+06");
}

TEST_CASE("columns are padded with spaces, whole numbers with zeros, and nothing is cut") {
  CHECK(left_text("ab", 4) == "ab  ");
  CHECK(right_text("ab", 4) == "  ab");
  CHECK(left_text("abcde", 4) == "abcde");
  CHECK(right_text("", 2) == "  ");
  for (const int value : {0, 7, -7, 123, -123, 99999}) CHECK(zero_padded(value, 4) == printed_integer("%04d", value));
}

TEST_CASE("one line shows what a terminal may show, with spaces for ends of lines and tabs") {
  CHECK(one_line("two\nlines\tof \x1b[31mred\r") == "two lines of ?[31mred?");
  CHECK(one_line("") == "");
}

TEST_CASE("words of a shell's command line are quoted where they need it, and always one line of plain text", "[text]") {
  CHECK(shell_word("runs/a_b-c=1,2.5:%@+") == "runs/a_b-c=1,2.5:%@+");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("two words") == "'two words'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("$HOME") == "'$HOME'");
  CHECK(shell_word("\u00fc") == "'\u00fc'");
  CHECK(shell_word("a\nb'\\\xff") == "$'a\\012b\\'\\\\\\377'");
}
