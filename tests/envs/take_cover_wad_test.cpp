#include <sys/resource.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/temporary_folder.hpp"
#include "wad_files.hpp"
import iap.core;
import iap.envs;
import iap.envs.take_cover;
#include "core/files_read.hpp"

using namespace iap;
using namespace iap::take_cover;
using namespace wad_files;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("lumps, pictures, flats and textures are read") {
  const Wad wad(wad_file(sample()), "a.wad");
  CHECK(wad.has("PIC"));
  CHECK_FALSE(wad.has("POC"));
  const Sprite sprite = wad.sprite("PIC");
  CHECK(std::pair{sprite.width, sprite.height} == std::pair{2, 3});
  CHECK(std::pair{sprite.left, sprite.top} == std::pair{1, 2});
  CHECK(sprite.texels == std::vector<std::int16_t>{-1, 7, 8, 9, -1, 5});
  CHECK(wad.flat("FLAT").at(63, 63) == 3);
  const Texture wall = wad.wall("BRICK");
  CHECK(std::pair{wall.width, wall.height} == std::pair{4, 4});
  CHECK(wall.at(1, 3) == 7);
  CHECK(wall.at(2, 2) == 9);
  CHECK(wall.at(0, 0) == 0);
}

TEST_CASE("a later lump of the same name counts") {
  auto lumps = sample();
  lumps.emplace_back("FLAT", std::string(4096, '\x04'));
  CHECK(Wad(wad_file(lumps), "a.wad").flat("FLAT").at(0, 0) == 4);
}

TEST_CASE("a name that stands twice is met once") {
  Lumps lumps;
  for (int i = 0; i < 3; ++i) {
    lumps.emplace_back("TROOA0", picture());
    lumps.emplace_back("trooB0", picture());
  }
  CHECK(Wad(wad_file(lumps), "a.wad").names() == std::vector<std::string>{"TROOA0", "TROOB0"});
}

// The sanitizers need more addresses at any time.
#if !defined(__has_feature) || !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
TEST_CASE("pictures of few bytes that would fill the memory are refused") {
  auto lumps = sample();
  lumps.emplace_back("LARGE", blank_picture(512, 512));
  const Wad wad(wad_file(lumps), "a.wad");
  CHECK(wad.sprite("LARGE").width == 512);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  const rlimit limited{rlim_t{4} << 30, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_AS, &limited) == 0);
  std::string message;
  int read = 0;
  try {
    for (; read < 5000; ++read) (void)wad.sprite("LARGE");
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_AS, &before);
  // 512 KiB each, 2 GiB in all.
  CHECK(read <= 4096);
  CHECK_THAT(message, ContainsSubstring("a.wad: the art up to lump LARGE needs ") && ContainsSubstring("of memory"));
}
#endif

TEST_CASE("a post that is not below the one before counts from it, so that pictures have more than 254 rows") {
  constexpr int rows = 300, first = 254;
  const auto post = [](int top, int begin, int end) {
    std::string bytes{static_cast<char>(top), static_cast<char>(end - begin), '\0'};
    for (int row = begin; row < end; ++row) bytes += static_cast<char>(row % 251);
    return bytes + '\0';
  };
  // As SLADE writes it, with an empty post between, and as others do.
  for (const std::string& column : {post(0, 0, first) + post(first, first, first) + post(0, first, rows),
                                    post(0, 0, 200) + post(200, 200, 250) + post(50, 250, rows)}) {
    const std::string lump = little(1, 2) + little(rows, 2) + little(0, 4) + little(12, 4) + column + '\xff';
    const Sprite tall = Wad(wad_file({{"PIC", lump}}), "a.wad").sprite("PIC");
    for (int row = 0; row < rows; ++row) {
      CAPTURE(row);
      REQUIRE(tall.texels[static_cast<std::size_t>(row)] == row % 251);
    }
  }
}

TEST_CASE("a column of more posts than texels is refused") {
  const auto picture_of = [](int posts, char length) {
    std::string lump = little(1, 2) + little(4, 2) + little(0, 4) + little(12, 4);
    for (int i = 0; i < posts; ++i)
      lump += std::string{'\0', length, '\0'} + std::string(static_cast<std::size_t>(length) + 1, '\7');
    return lump + '\xff';
  };
  const auto read = [&](int posts, char length) {
    return Wad(wad_file({{"PIC", picture_of(posts, length)}}), "a.wad").sprite("PIC");
  };
  CHECK(read(4, 1).texels == std::vector<std::int16_t>{7, -1, -1, -1});
  for (const char length : {'\0', '\x64'})
    CHECK_THROWS_MATCHES(read(1000, length), Error,
                         MessageMatches(ContainsSubstring("a.wad: lump PIC has more in column 0 than its 4 texels")));
}

TEST_CASE("a file cut or changed anywhere is refused or read, never read beyond its end") {
  const std::string file = wad_file(sample());
  const auto read_all = [](const std::string& bytes) {
    try {
      const Wad wad(bytes, "a.wad");
      (void)wad.sprite("PIC");
      (void)wad.flat("FLAT");
      (void)wad.wall("BRICK");
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("a.wad") == 0);
      return false;
    }
    return true;
  };
  CHECK(read_all(file));
  for (std::size_t size = 0; size < file.size(); size += size < 4000 && size > 200 ? 97 : 1)
    CHECK_FALSE(read_all(file.substr(0, size)));
  for (std::size_t at = 0; at < file.size(); at += at < 4100 && at > 60 ? 97 : 1)
    for (const char value : {'\xff', '\x7f', '\0'}) {
      std::string changed = file;
      changed[at] = value;
      (void)read_all(changed);
    }
}

TEST_CASE("what is missing or damaged is named") {
  const auto refused = [](const std::string& file, const std::string& reason) {
    CHECK_THROWS_MATCHES(Wad(file, "a.wad").wall("BRICK"), Error,
                         MessageMatches(ContainsSubstring("a.wad") && ContainsSubstring(reason)));
  };
  refused("", "no WAD");
  refused("PK\x03\x04 and more", "no WAD");
  refused(wad_file({{"PIC", picture()}}), "lump TEXTURE1 is missing");
  auto lumps = sample();
  lumps[0].second.resize(20);
  refused(wad_file(lumps), "lump PIC ends too early");
  lumps = sample();
  lumps[3].second.resize(20);
  refused(wad_file(lumps), "lump TEXTURE1 ends too early");
  lumps = sample();
  lumps.erase(lumps.begin());
  refused(wad_file(lumps), "lump PIC is missing");
  CHECK_THROWS_MATCHES(Wad(wad_file(sample()), "a.wad").wall("STONE"), Error,
                       MessageMatches(ContainsSubstring("no texture STONE")));
}

TEST_CASE("art that is too large to be averaged at all distances is refused where it is read") {
  CHECK(Wad(wad_file(sample("BRICK", 512)), "a.wad").wall("BRICK").width == 512);
  CHECK_THROWS_MATCHES(Wad(wad_file(sample("BRICK", 1024)), "a.wad").wall("BRICK"), Error,
                       MessageMatches(ContainsSubstring("a.wad: texture BRICK measures 1024 x 4; art has 1 to 512 texels a side")));
  auto lumps = sample();
  lumps[0].second.replace(0, 2, little(513, 2));
  CHECK_THROWS_MATCHES(Wad(wad_file(lumps), "a.wad").sprite("PIC"), Error,
                       MessageMatches(ContainsSubstring("a.wad: lump PIC measures 513 x 3; art has 1 to 512 texels a side")));
}

TEST_CASE("the environment names its WAD and what is wrong with it") {
  const TemporaryFolder folder;
  const auto path = (folder.path() / "art.wad").string();
  const auto refused = [](Config::Map options, const std::string& reason) {
    options["name"] = "take-cover";
    CHECK_THROWS_MATCHES(make_env(options), Error, MessageMatches(ContainsSubstring(reason)));
  };
  refused({{"wad", path}}, "cannot read '" + path + "'");
  write_file_atomic(path, wad_file(sample()));
  refused({{"wad", path}}, path + ": lump PLAYPAL is missing");
  refused({{"wad", path}, {"art", "procedural"}}, "option 'wad' belongs to art = \"freedoom\"");
  refused({{"modification", "wall"}}, "did you mean 'walls'");
  refused({{"pixels", Config::List{16385, 96}}}, "at most {16384, 16384}");
  refused({{"art", "doom"}}, "unknown art 'doom'");
}

TEST_CASE("Freedoom's art is complete") {
  const auto path = find_wad();
  if (!path) SKIP("no freedoom2.wad on this machine");
  const FilesLog log;
  make_env(Config::Map{{"name", "take-cover"}});
  CHECK(log.files.at("freedoom2.wad").starts_with("1 file, "));
  const Art art = wad_art(*path);
  CHECK(std::pair{art.wall.width, art.wall.height} == std::pair{64, 128});
  CHECK(art.floor.texels != art.other_floor.texels);
  CHECK(art.bar.width == 320);
  CHECK(art.imp[0][1].mirrored != art.imp[0][7].mirrored);
  CHECK(art.imp[0][1].sprite == art.imp[0][7].sprite);
  CHECK(art.light[0][100] == 100);
}
