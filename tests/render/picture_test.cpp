#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.render;
#include "png_chunks.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

Image noise(int height, int width, int channels) {
  Random random(5);
  Image image({height, width, channels, PixelType::uint8});
  for (auto& byte : image.bytes()) byte = static_cast<std::uint8_t>(256 * random.uniform());
  return image;
}

// A progressive JPEG of 8 x 8 grey pixels: a scan of the mean, then so many of nothing more.
std::string progressive_jpeg(int scans) {
  using namespace std::string_literals;
  const std::string table = "\xff\xdb\0\x43\0"s + std::string(64, '\1'), frame = "\xff\xc2\0\x0b\x08\0\x08\0\x08\1\1\x11\0"s,
                    // One code of one bit: no difference; nothing more in the block.
      codes = "\1"s + std::string(16, '\0'), mean_codes = "\xff\xc4\0\x14\0"s + codes, other_codes = "\xff\xc4\0\x14\x10"s + codes,
                    mean = "\xff\xda\0\x08\1\1\0\0\0\0\x7f"s, others = "\xff\xda\0\x08\1\1\0\1\x3f\0\x7f"s;
  std::string jpeg = "\xff\xd8"s + table + frame + mean_codes + other_codes + mean;
  for (int i = 1; i < scans; ++i) jpeg += others;
  return jpeg + "\xff\xd9";
}

// The most that this process has used, in MiB.
double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

TEST_CASE("a JPEG of many scans is refused, and an interrupt ends its reading") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "image.jpg";
  write_file_atomic(path, progressive_jpeg(500));
  const Image grey = read_image(path);
  CHECK((grey.shape() == ImageShape{8, 8, 3, PixelType::uint8}));
  CHECK(std::ranges::all_of(grey.bytes(), [](std::uint8_t byte) { return byte == 128; }));
  request_interrupt();
  CHECK_THROWS_AS(read_image(path), Interrupted);
  clear_interrupt();
  write_file_atomic(path, progressive_jpeg(501));
  CHECK_THROWS_MATCHES(
      read_image(path), Error,
      MessageMatches(ContainsSubstring("image.jpg as a JPEG: it has more than 500 scans; save it again with fewer")));
}

TEST_CASE("a PNG gives back the pixels it was written from") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "image.png";
  for (const auto [height, width] : {std::array{1, 1}, {7, 13}, {240, 320}}) {
    const Image colour = noise(height, width, 3), grey = noise(height, width, 1);
    write_png(path, colour.view());
    Image back = read_png(path);
    CHECK((back.shape() == colour.shape()));
    CHECK(std::ranges::equal(back.bytes(), colour.bytes()));
    write_png(path, grey.view());
    back = read_png(path);
    CHECK(back.shape().channels == 3);
    for (std::size_t i = 0; i < back.bytes().size(); ++i) REQUIRE(back.bytes()[i] == grey.bytes()[i / 3]);
  }
  const Image floats({2, 2, 3, PixelType::float32});
  CHECK_THROWS_AS(write_png(path, floats.view()), Error);
  CHECK_THROWS_AS(write_png(folder.path() / "missing" / "image.png", noise(2, 2, 3).view()), Error);
}

TEST_CASE("broken PNG files are errors that name the file") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "broken.png";
  write_png(path, noise(20, 20, 3).view());
  const std::string good = read_file(path);
  const auto refuses = [&](const std::string& content) {
    write_file_atomic(path, content);
    CHECK_THROWS_MATCHES(read_png(path), Error, MessageMatches(ContainsSubstring("broken.png")));
  };
  for (const std::size_t length : {0, 4, 8, 20, 33, 60, 700}) refuses(good.substr(0, length));
  refuses(good.substr(0, good.size() - 13));
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 0x5a);
  refuses(flipped);
  std::string wrong_header = good;
  wrong_header[24] = 3;  // bits a pixel
  refuses(wrong_header);
  refuses("this is no picture");
  CHECK_THROWS_AS(read_png(folder.path() / "missing.png"), Error);
}

TEST_CASE("texts and colour profiles of a PNG are never unpacked") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "texts.png";
  const std::string large = zlib_packed(std::string(7'500'000, 'a')), larger = zlib_packed(std::string(100'000'000, '\0'));
  std::string others = png_chunk("iCCP", std::string("p\0\0", 3) + large);
  for (int i = 0; i < 50; ++i)
    others += png_chunk("zTXt", std::string("k\0\0", 3) + large) + png_chunk("iTXt", std::string("k\0\1\0\0\0", 6) + large);
  write_file_atomic(path, png_of(1, 1, zlib_packed(std::string("\0abc", 4)), others));
  const double before = peak_memory();
  const Image image = read_png(path);
  CHECK(std::ranges::equal(image.bytes(), std::string_view("abc")));
  CHECK(peak_memory() - before < 50);
  // Neither are more pixels than there are.
  write_file_atomic(path, png_of(1, 1, larger));
  CHECK((read_png(path).shape() == ImageShape{1, 1, 3, PixelType::uint8}));
  CHECK(peak_memory() - before < 50);
}

TEST_CASE("of a PNG's other chunks only those that pixels need count") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "chunks.png";
  const std::string others = png_chunk("gAMA", big_endian(20000)) + png_chunk("tRNS", std::string(6, '\0')) +
                             png_chunk("bKGD", std::string(6, '\0')) + png_chunk("tEXt", std::string("k\0v", 3));
  write_file_atomic(path, png_of(1, 1, zlib_packed(std::string("\0abc", 4)), others));
  const Image image = read_png(path);
  CHECK(std::ranges::equal(image.bytes(), std::string_view("abc")));
}

TEST_CASE("a PNG's palette gives its colours, and a pixel that names none of them is an error") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "palette.png";
  const std::string colours = "abcdefghi";
  // Two rows of three pixels, numbers of colours of `bits` bits.
  const auto write = [&](int bits, const std::string& rows) {
    const std::string header = big_endian(3) + big_endian(2) + static_cast<char>(bits) + std::string("\3\0\0\0", 4);
    write_file_atomic(path, "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("PLTE", colours) +
                                png_chunk("tRNS", std::string("\0\7", 2)) + png_chunk("IDAT", zlib_packed(rows)) +
                                png_chunk("IEND", ""));
  };
  for (const auto& [bits, rows] : {std::pair{8, std::string("\0\2\0\1\0\1\1\2", 8)}, {2, std::string("\0\x84\0\x58", 4)}}) {
    write(bits, rows);
    CHECK(std::ranges::equal(read_png(path).bytes(), std::string_view("ghiabcdefdefdefghi")));
  }
  write(2, std::string("\0\x84\0\x5c", 4));
  CHECK_THROWS_MATCHES(
      read_png(path), Error,
      MessageMatches(ContainsSubstring("palette.png as a PNG: a pixel has the colour 3, and its palette has 3, counted from 0")));
}

TEST_CASE("pictures are enlarged and set side by side pixel by pixel") {
  const Image image = noise(3, 5, 3);
  const Image large = enlarge(image.view(), 4);
  REQUIRE((large.shape() == ImageShape{12, 20, 3, PixelType::uint8}));
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 20; ++x)
      for (int channel = 0; channel < 3; ++channel)
        REQUIRE(large.bytes()[(y * 20 + x) * 3 + channel] == image.bytes()[(y / 4 * 5 + x / 4) * 3 + channel]);
  CHECK_THROWS_AS(enlarge(image.view(), 0), Error);

  const std::array images{noise(3, 5, 3), noise(3, 2, 3)};
  const Image row = side_by_side(images, 4);
  REQUIRE((row.shape() == ImageShape{3, 11, 3, PixelType::uint8}));
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 11; ++x) {
      const int truth = x < 5 ? images[0].bytes()[(y * 5 + x) * 3] : x < 9 ? 255 : images[1].bytes()[(y * 2 + x - 9) * 3];
      REQUIRE(row.bytes()[(y * 11 + x) * 3] == truth);
    }
  const std::array uneven{noise(3, 5, 3), noise(4, 5, 3)};
  CHECK_THROWS_AS(side_by_side(uneven, 1), Error);
  CHECK_THROWS_AS(side_by_side({}, 1), Error);
  CHECK_THROWS_WITH(side_by_side(images, 2147483641), ContainsSubstring("would be 2147483648 pixels wide"));
}
