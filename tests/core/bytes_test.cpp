#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
import iap.core;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

TEST_CASE("crc32 gives the published check value") {
  CHECK(crc32("123456789") == 0xCBF43926);
  CHECK(crc32("") == 0);
}

TEST_CASE("base64 is that of RFC 4648, section 10, there and back") {
  const std::vector<std::pair<std::string, std::string>> published{{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, coded] : published) {
    CHECK(to_base64(bytes) == coded);
    CHECK(from_base64(coded) == bytes);
  }
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  CHECK(from_base64(to_base64(all)) == all);
  for (const char* none : {"Zg=", "Zg", "Z===", "Zm9-", "Zg==Zg==", "Zm 9"}) CHECK(from_base64(none) == std::nullopt);
}

TEST_CASE("a Reader gives back what a Writer took, and is bounds-checked") {
  const std::vector<float> floats{1.5f, -0.0f, 3e-38f};
  Writer writer;
  writer.put(std::uint8_t{7});
  writer.put(std::int64_t{-5});
  writer.put(2.25);
  writer.put_all(std::span<const float>(floats));
  writer.put_all(std::span<const double>());
  writer.put_string("patch");
  Reader reader(writer.bytes(), "test");
  CHECK(reader.get<std::uint8_t>() == 7);
  CHECK(reader.get<std::int64_t>() == -5);
  CHECK(reader.get<double>() == 2.25);
  CHECK(reader.get_all<float>() == floats);
  CHECK(reader.get_all<double>().empty());
  CHECK(reader.get_string() == "patch");
  CHECK(reader.at_end());
  CHECK_THROWS_MATCHES(reader.get<char>(), Error, MessageMatches(StartsWith("test: ends too early")));
}

TEST_CASE("every shortened byte string is noticed by the Reader") {
  Writer writer;
  writer.put(std::uint32_t{1});
  writer.put_string("four");
  const std::string whole = writer.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Reader reader(std::string_view(whole).substr(0, size), "short");
    CHECK_THROWS_AS((reader.get<std::uint32_t>(), reader.get_string()), Error);
  }
}

TEST_CASE("a length beyond the end does not allocate") {
  Writer writer;
  writer.put(~std::uint64_t{0});
  CHECK_THROWS_AS(Reader(writer.bytes(), "huge").get_all<double>(), Error);
  CHECK_THROWS_AS(Reader(writer.bytes(), "huge").get_string(), Error);
}

TEST_CASE("get_into wants the stored size") {
  Writer writer;
  writer.put_all(std::span<const int>(std::array{1, 2, 3}));
  std::array<int, 3> three{};
  Reader(writer.bytes(), "test").get_into(std::span<int>(three));
  CHECK(three == std::array{1, 2, 3});
  std::array<int, 2> two{};
  CHECK_THROWS_MATCHES(Reader(writer.bytes(), "test").get_into(std::span<int>(two)), Error,
                       MessageMatches(ContainsSubstring("holds 3 values where 2 were expected")));
}

TEST_CASE("a sealed file opens again") {
  for (const std::size_t size : {0, 1, 1000}) {
    const std::string payload(size, 'p');
    CHECK(unseal(seal("IAPTESTS", 3, payload), "IAPTESTS", 3, "x.iap") == payload);
    CHECK(unseal(seal("IAP", 3, payload), "IAP", 3, "x.iap") == payload);
  }
}

TEST_CASE("wrong kind and wrong version are told apart") {
  const std::string file = seal("IAPTESTS", 3, "payload");
  CHECK_THROWS_MATCHES(unseal(file, "IAPOTHER", 3, "x.iap"), Error,
                       MessageMatches(ContainsSubstring("x.iap: is not a file of the kind 'IAPOTHER'")));
  CHECK_THROWS_MATCHES(unseal(file, "IAPTESTS", 4, "x.iap"), Error,
                       MessageMatches(ContainsSubstring("format version 3, this program reads version 4")));
  CHECK_THROWS_MATCHES(unseal("", "IAPTESTS", 3, "x.iap"), Error, MessageMatches(ContainsSubstring("too short")));
}

TEST_CASE("bytes behind the payload are noticed though the checksum is theirs, too") {
  Writer writer;
  for (const char letter : std::string_view("IAPTESTS")) writer.put(letter);
  writer.put(std::uint32_t{3});
  writer.put_string("payload");
  for (const bool more : {false, true}) {
    if (more) writer.put('x');
    Writer sum;
    sum.put(crc32(writer.bytes()));
    const std::string file = writer.bytes() + sum.bytes();
    if (more)
      CHECK_THROWS_MATCHES(unseal(file, "IAPTESTS", 3, "x.iap"), Error,
                           MessageMatches(ContainsSubstring("x.iap: has bytes after its end; the file is damaged")));
    else
      CHECK(unseal(file, "IAPTESTS", 3, "x.iap") == "payload");
  }
}

TEST_CASE("every flipped bit, truncation and extension of a sealed file is noticed") {
  std::string payload;
  for (int i = 0; i < 100; ++i) payload += static_cast<char>(37 * i);
  const std::string file = seal("IAPTESTS", 1, payload);
  for (std::size_t byte = 0; byte < file.size(); ++byte)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = file;
      damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << bit));
      CHECK_THROWS_AS(unseal(damaged, "IAPTESTS", 1, "x.iap"), Error);
    }
  for (std::size_t size = 0; size < file.size(); ++size)
    CHECK_THROWS_AS(unseal(file.substr(0, size), "IAPTESTS", 1, "x.iap"), Error);
  for (const char extra : {'\0', 'x'}) CHECK_THROWS_AS(unseal(file + extra, "IAPTESTS", 1, "x.iap"), Error);
  CHECK_THROWS_AS(unseal(file + file, "IAPTESTS", 1, "x.iap"), Error);
}
