#include "temporary_folder.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <iterator>
#include <string>
import iap.core;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
namespace fs = std::filesystem;

namespace {

int entries(const fs::path& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("files are written and replaced whole") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.iap";
  std::string binary;
  for (int i = 0; i < 100000; ++i) binary += static_cast<char>(i);
  for (const std::string& content : {std::string("first"), binary, std::string()}) {
    write_file_atomic(path, content);
    CHECK(read_file(path) == content);
  }
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("a failed write leaves the old content and nothing else") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.iap";
  write_file_atomic(path, "old");
  SECTION("the temporary file cannot be made") {
    fs::create_directory(path.string() + ".part");
    CHECK_THROWS_MATCHES(write_file_atomic(path, "new"), Error,
                         MessageMatches(ContainsSubstring("cannot write '" + path.string())));
    CHECK(read_file(path) == "old");
  }
  SECTION("the disk is full") {
    fs::create_symlink("/dev/full", path.string() + ".part");
    CHECK_THROWS_MATCHES(write_file_atomic(path, "new"), Error, MessageMatches(ContainsSubstring("No space left")));
    CHECK(read_file(path) == "old");
    CHECK(entries(folder.path()) == 1);
  }
  SECTION("the rename fails") {
    const auto taken = folder.path() / "folder.iap";
    fs::create_directories(taken / "inside");
    CHECK_THROWS_MATCHES(write_file_atomic(taken, "new"), Error, MessageMatches(ContainsSubstring(taken.string())));
    CHECK(fs::is_directory(taken / "inside"));
    CHECK(entries(folder.path()) == 2);
  }
}

TEST_CASE("unreadable paths are Errors that name them") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  write_file_atomic(file, "x");
  for (const fs::path& path :
       {folder.path() / "missing", file / "below_a_file", folder.path(), folder.path() / std::string(300, 'n')})
    CHECK_THROWS_MATCHES(read_file(path), Error, MessageMatches(ContainsSubstring("cannot read '" + path.string() + "'")));
  CHECK_THROWS_AS(write_file_atomic(folder.path() / "missing" / "file", "x"), Error);
  CHECK_THROWS_AS(write_file_atomic(file / "below_a_file", "x"), Error);
}

TEST_CASE("folders are made with their parents, and a file in the way is an Error") {
  const TemporaryFolder folder;
  make_folder(folder.path() / "runs" / "a");
  CHECK(fs::is_directory(folder.path() / "runs" / "a"));
  CHECK_NOTHROW(make_folder(folder.path() / "runs" / "a"));
  write_file_atomic(folder.path() / "file", "x");
  for (const fs::path& path : {folder.path() / "file", folder.path() / "file" / "below"})
    CHECK_THROWS_MATCHES(make_folder(path), Error, MessageMatches(ContainsSubstring(path.string())));
}

TEST_CASE("a line that the disk has no room for is not half there") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  AppendFile file(path);
  file.append("1,2.5\n");
  // To a program a limit on its files' size is a full disk, once the signal is ignored.
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  rlimit limit = old;
  limit.rlim_cur = 10;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  CHECK_THROWS_MATCHES(file.append("2,7.125\n"), Error, MessageMatches(ContainsSubstring("metrics.csv")));
  ::setrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, handler);
  CHECK(read_file(path) == "1,2.5\n");
  file.append("2,7.125\n");
  CHECK(read_file(path) == "1,2.5\n2,7.125\n");
}

TEST_CASE("a file has one holder at a time") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "log.txt";
  {
    AppendFile first(path), second(path);
    CHECK(first.lock() == FileLock::held);
    CHECK(second.lock() == FileLock::taken);
    CHECK(first.lock() == FileLock::held);
  }
  CHECK(AppendFile(path).lock() == FileLock::held);
}
