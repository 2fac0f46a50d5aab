#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <string>
#include <vector>
import iap.core;
import iap.npz;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

std::string data(const std::string& name) { return read_file(std::string(IAP_TEST_DATA) + "/" + name); }

std::vector<NpyArray> sample() {
  return {{"weights", {2, 3}, NpyType::float32, {1, 2, 3, 4, 5, 6}}, {"bias", {2}, NpyType::float64, {0.1, -0.2}}};
}

}  // namespace

TEST_CASE("arrays come back from an .npz file in order, and the same arrays make the same file") {
  const auto file = format_npz(sample());
  CHECK(file == format_npz(sample()));
  const auto arrays = parse_npz(file, "a.npz");
  REQUIRE(arrays.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(arrays[i].name == sample()[i].name);
    CHECK(arrays[i].shape == sample()[i].shape);
    CHECK(arrays[i].type == sample()[i].type);
    CHECK(arrays[i].values == sample()[i].values);
  }
}

TEST_CASE("one array of a file is found by its name, and the others stay packed") {
  auto file = format_npz(sample());
  const auto bias = find_npz(file, "bias", "a.npz");
  REQUIRE(bias);
  CHECK(bias->name == "bias");
  CHECK(bias->values == sample()[1].values);
  CHECK_FALSE(find_npz(file, "params", "a.npz"));
  file[file.find("weights.npy") + 11 + 128 + 5] ^= 4;
  CHECK(find_npz(file, "bias", "a.npz")->values == sample()[1].values);
  CHECK_THROWS_MATCHES(find_npz(file, "weights", "a.npz"), Error,
                       MessageMatches(ContainsSubstring("a.npz: weights.npy: cannot be unpacked")));
}

TEST_CASE("arrays that fit into memory one by one must do so together") {
  constexpr int count = 2000;
  std::vector<NpyArray> arrays;
  for (int i = 0; i < count; ++i) arrays.push_back({text("a", i), {1}, NpyType::float32, {1}});
  auto file = format_npz(arrays);
  // Each says that it is compressed and unpacks to almost 2 GiB, in its own header and in the file's index.
  const auto claim = [&](const std::string& header, std::size_t method_at, std::size_t size_at) {
    for (auto at = file.find(header); at != std::string::npos; at = file.find(header, at + 1)) {
      file.replace(at + method_at, 1, "\x08");
      file.replace(at + size_at, 4, "\xff\xff\xff\x7f");
    }
  };
  claim("PK\3\4", 8, 22);
  claim("PK\1\2", 10, 24);
  CHECK_THROWS_MATCHES(parse_npz(file, "a.npz"), Error, MessageMatches(ContainsSubstring("a.npz needs 11.7 TiB of memory")));
}

TEST_CASE("a compressed file is read") {
  // Made by Python's zipfile with deflate: "params", 1000 numbers i / 8 as float64.
  const auto arrays = parse_npz(data("npz/deflated.npz"), "deflated.npz");
  REQUIRE(arrays.size() == 1);
  CHECK(arrays[0].name == "params");
  CHECK(arrays[0].shape == std::vector<std::size_t>{1000});
  for (std::size_t i = 0; i < 1000; ++i) CHECK(arrays[0].values[i] == static_cast<double>(i) / 8);
}

TEST_CASE("a damaged file is an error that names it") {
  const auto file = format_npz(sample());
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{30}, file.size() / 2, file.size() - 1})
    CHECK_THROWS_MATCHES(parse_npz(file.substr(0, size), "a.npz"), Error, MessageMatches(ContainsSubstring("a.npz")));
  CHECK_THROWS_MATCHES(parse_npz("no archive at all", "a.npz"), Error, MessageMatches(ContainsSubstring("a.npz")));
  // One bit of the numbers: only the checksum can tell.
  auto flipped = file;
  flipped[flipped.find("weights.npy") + 11 + 128 + 5] ^= 4;
  CHECK_THROWS_MATCHES(parse_npz(flipped, "a.npz"), Error,
                       MessageMatches(ContainsSubstring("a.npz: weights.npy: cannot be unpacked")));
}

TEST_CASE("every cut of a file is refused") {
  const auto file = data("npz/deflated.npz");
  for (std::size_t size = 0; size < file.size(); size += 7) CHECK_THROWS_AS(parse_npz(file.substr(0, size), "a.npz"), Error);
}

TEST_CASE("a file with something other than arrays is refused by name") {
  auto file = format_npz(sample());
  for (std::size_t at; (at = file.find("bias.npy")) != std::string::npos;) file.replace(at, 8, "bias.txt");
  CHECK_THROWS_MATCHES(parse_npz(file, "a.npz"), Error, MessageMatches(ContainsSubstring("'bias.txt'")));
}
