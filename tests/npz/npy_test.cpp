#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>
import iap.core;
import iap.npz;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string npy(int major, const std::string& header, const std::string& data, int minor = 0) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += static_cast<char>(minor);
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) file += static_cast<char>(header.size() >> 8 * i & 0xFF);
  return file + header + data;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }     \n";
}

void check_refused(const std::string& file, const std::string& reason) {
  CAPTURE(reason);
  CHECK_THROWS_MATCHES(parse_npy(file, "a.npy"), Error, MessageMatches(ContainsSubstring("a.npy") && ContainsSubstring(reason)));
}

}  // namespace

TEST_CASE("arrays of both types are read in all three versions of the format") {
  const std::vector<float> singles{1.5F, -0.0F, 3e-42F, 0.1F};
  const std::vector<double> doubles{1.0 / 3, -2, 1e300};
  for (const int version : {1, 2, 3}) {
    const auto a = parse_npy(npy(version, header("<f4", "(2, 2)"), bytes_of(singles)), "a.npy");
    CHECK(a.type == NpyType::float32);
    CHECK(a.shape == std::vector<std::size_t>{2, 2});
    for (std::size_t i = 0; i < singles.size(); ++i) CHECK(static_cast<float>(a.values[i]) == singles[i]);
    CHECK(std::signbit(a.values[1]));
    const auto b = parse_npy(npy(version, header("<f8", "(3,)"), bytes_of(doubles)), "a.npy");
    CHECK(b.type == NpyType::float64);
    CHECK(b.values == doubles);
  }
  CHECK(parse_npy(npy(1, header("<f8", "()"), bytes_of(std::vector{7.0})), "a.npy").values == std::vector{7.0});
  CHECK(parse_npy(npy(1, header("<f4", "(0, 5)"), ""), "a.npy").values.empty());
  CHECK(parse_npy(npy(1, R"({"shape":(1,),"fortran_order":False,"descr":"<f8"})", bytes_of(std::vector{7.0})), "a.npy").values[0] ==
        7);
}

TEST_CASE("what is written is what NumPy writes") {
  const std::vector<float> values{1, 2, 3};
  const auto file = format_npy({.name = "x", .shape = {3}, .type = NpyType::float32, .values = {1, 2, 3}});
  std::string expected = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  expected += std::string(117 - expected.size(), ' ') + "\n";
  CHECK(file == npy(1, expected, bytes_of(values)));
  for (const auto& shape : std::vector<std::vector<std::size_t>>{{}, {6}, {2, 3}, {1, 2, 3}}) {
    NpyArray array{.name = "", .shape = shape, .type = NpyType::float64, .values = {}};
    for (std::size_t i = 0; i < (shape.empty() ? 1 : 6); ++i) array.values.push_back(0.1 * static_cast<double>(i));
    const auto written = format_npy(array);
    CHECK(written.find('\n') % 64 == 63);
    const auto read = parse_npy(written, "a.npy");
    CHECK(read.shape == shape);
    CHECK(read.values == array.values);
    CHECK(format_npy(read) == written);
  }
}

TEST_CASE("anything else is refused with the reason") {
  const std::string four = bytes_of(std::vector<float>{1}), eight = four + four;
  check_refused("", "mark of NumPy");
  check_refused("PK\x03\x04", "mark of NumPy");
  check_refused(npy(4, header("<f4", "(1,)"), four), "version 4.0");
  check_refused(npy(1, header("<f4", "(1,)"), four, 1), "version 1.1");
  check_refused(npy(1, header(">f4", "(1,)"), four), "big-endian");
  check_refused(npy(1, header("<i4", "(1,)"), four), "'<i4'");
  check_refused(npy(1, header("<f2", "(2,)"), four), "'<f2'");
  check_refused(npy(1, header("|O", "(1,)"), four), "'|O'");
  check_refused(npy(1, header("<f4", "(1,)", "True"), four), "Fortran order");
  check_refused(npy(1, header("<f4", "(2,)"), four), "4 bytes of values where its shape needs 8");
  check_refused(npy(1, header("<f4", "(1,)"), eight), "8 bytes of values where its shape needs 4");
  check_refused(npy(1, header("<f4", "(99999999999999999999,)"), four), "extent");
  check_refused(npy(1, header("<f4", "(100000, 100000)"), four), "more than");
  check_refused(npy(1, header("<f4", "(-1,)"), four), "header");
  check_refused(npy(1, header("<f4", "(1,)", "maybe"), four), "header");
  check_refused(npy(1, header("<f4", "1"), four), "header");
  check_refused(npy(1, "{'descr': '<f4', 'fortran_order': False}", four), "header");
  check_refused(npy(1, "{'descr': '<f4', 'descr': '<f4'}", four), "header");
  check_refused(npy(1, "nonsense", four), "header");
  check_refused(npy(1, header("<f4", "(1,)") + "x", four), "header");
}

TEST_CASE("a header takes no more than NumPy's own would, and a message shows the beginning of what it names") {
  const std::string four = bytes_of(std::vector<float>{1});
  const auto ones = [](int count) {
    std::string shape = "(";
    for (int i = 0; i < count; ++i) shape += "1,";
    return shape + ")";
  };
  CHECK(parse_npy(npy(1, header("<f4", ones(32)), four), "a.npy").shape.size() == 32);
  check_refused(npy(1, header("<f4", ones(33)), four), "more than 32 dimensions");
  const std::string filled = header("<f4", "(1,)");
  CHECK(parse_npy(npy(2, filled + std::string((64 << 10) - filled.size(), ' '), four), "a.npy").values.size() == 1);
  check_refused(npy(2, filled + std::string(64 << 10, ' '), four), "its header has 64.1 KiB, at most 64 KiB are read");
  check_refused(npy(2, header("a\n\x1b[31m" + std::string(60'000, 'x'), "(1,)"), four),
                "holds 'a ?[31m" + std::string(33, 'x') + " ...', another type");
}

TEST_CASE("a file cut anywhere is refused, never read beyond its end") {
  for (const int version : {1, 2}) {
    const std::string file = npy(version, header("<f4", "(2, 1)"), bytes_of(std::vector<float>{1, 2}));
    for (std::size_t size = 0; size < file.size(); ++size) CHECK_THROWS_AS(parse_npy(file.substr(0, size), "a.npy"), Error);
    CHECK(parse_npy(file, "a.npy").values == std::vector<double>{1, 2});
  }
}
