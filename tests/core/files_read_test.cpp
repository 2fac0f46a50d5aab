#include <sys/stat.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "temporary_folder.hpp"
import iap.core;
#include "core/files_read.hpp"

using namespace iap;
namespace fs = std::filesystem;

namespace {

std::string noted(std::span<const fs::path> files, bool contents = false) {
  const FilesLog log;
  contents ? note_contents("files", files) : note_files("files", files);
  return log.files.at("files");
}

}  // namespace

TEST_CASE("files are told from others by their number, order, names, sizes and ends, or by what they hold") {
  const TemporaryFolder folder, other;
  const std::array files{folder.path() / "a", folder.path() / "b"}, swapped{files[1], files[0]};
  for (const auto& file : files) write_file_atomic(file, "same");
  const std::string before = noted(files), contents = noted(files, true);
  CHECK(before.starts_with("2 files, 8 bytes, checksum "));
  CHECK(noted(files) == before);
  CHECK(noted(swapped) != before);
  CHECK(noted({files.data(), 1}).starts_with("1 file, 4 bytes, checksum "));

  write_file_atomic(files[0], "diff");
  CHECK(noted(files) != before);
  CHECK(without_ends(noted(files)) == without_ends(before));
  CHECK(noted(files, true) != contents);
  write_file_atomic(files[0], "longer");
  CHECK(noted(files) != before);

  write_file_atomic(other.path() / "c", "longer");
  CHECK(noted(std::array{other.path() / "c"}, true) == noted({files.data(), 1}, true));
}

TEST_CASE("of a large file the beginning and the end count, of what has no size nothing is read") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "a", other = folder.path() / "b";
  const std::string zeros(200'000, '\0');
  write_file_atomic(file, zeros);
  const std::string before = noted({&file, 1});
  const auto with_one_at = [&](std::size_t place) {
    std::string content = zeros;
    content[place] = 1;
    write_file_atomic(file, content);
    return noted({&file, 1});
  };
  CHECK(with_one_at(100'000) == before);
  for (const std::size_t place : {std::size_t{0}, std::size_t{65'535}, zeros.size() - 65'536, zeros.size() - 1}) {
    CHECK(with_one_at(place) != before);
    CHECK(without_ends(with_one_at(place)) == without_ends(before));
  }
  REQUIRE(::mkfifo(other.c_str(), 0600) == 0);
  CHECK(noted({&other, 1}).starts_with("1 file, "));
}

TEST_CASE("a log of files read holds each once, and gives way to one inside it") {
  const TemporaryFolder folder;
  const std::array files{folder.path() / "a", folder.path() / "b"};
  for (const auto& file : files) write_file_atomic(file, "same");
  note_files("nobody's", files);
  const FilesLog log;
  {
    const FilesLog inner;
    note_files("inside", files);
    CHECK(inner.files.size() == 1);
  }
  note_files("none", {});
  CHECK(log.files.empty());
  note_files("files", files);
  note_files("files", files);
  const std::string all = log.files.at("files");
  CHECK(all == noted(files));
  CHECK(without_ends(all + "; " + all) == without_ends(all) + "; " + without_ends(all));
  note_files("files", {files.data(), 1});
  CHECK(log.files.at("files") == all + "; " + noted({files.data(), 1}));
}
