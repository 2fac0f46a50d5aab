#include "temporary_folder.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>
import iap.core;
#include "core/there.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
namespace fs = std::filesystem;

namespace {

int entries(const fs::path& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// A limit of this process, as long as it lives.
class Limit {
 public:
  Limit(__rlimit_resource resource, rlim_t most) : resource_(resource) {
    ::getrlimit(resource, &before_);
    rlimit limit = before_;
    limit.rlim_cur = most;
    ::setrlimit(resource, &limit);
  }
  ~Limit() { ::setrlimit(resource_, &before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

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
  SECTION("there are no handles left") {
    const Limit none(RLIMIT_NOFILE, 0);
    CHECK_THROWS_MATCHES(write_file_atomic(path, "new"), Error,
                         MessageMatches(ContainsSubstring("cannot write '" + path.string())));
  }
  SECTION("the disk is full") {
    // To a program a limit on its files' size is a full disk, once the signal is ignored.
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    {
      const Limit small(RLIMIT_FSIZE, 10);
      CHECK_THROWS_MATCHES(write_file_atomic(path, "longer than that"), Error, MessageMatches(ContainsSubstring(path.string())));
    }
    ::signal(SIGXFSZ, handler);
  }
  CHECK(read_file(path) == "old");
  CHECK(entries(folder.path()) == 1);
  const auto taken = folder.path() / "folder.iap";
  fs::create_directories(taken / "inside");
  CHECK_THROWS_MATCHES(write_file_atomic(taken, "new"), Error, MessageMatches(ContainsSubstring(taken.string())));
  CHECK(fs::is_directory(taken / "inside"));
  CHECK(entries(folder.path()) == 2);
}

TEST_CASE("a file in the making takes the place of its target alone") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "table.csv";
  SECTION("files beside it stay, whatever they are called") {
    write_file_atomic(path.string() + ".part", "mine");
    write_file_atomic(path, "new");
    CHECK(read_file(path.string() + ".part") == "mine");
    CHECK(entries(folder.path()) == 2);
  }
  SECTION("a name may be as long as the file system lets") {
    const auto longest = folder.path() / std::string(255, 'n');
    write_file_atomic(longest, "new");
    CHECK(read_file(longest) == "new");
  }
  SECTION("two at a time") {
    PartFile one(path), two(path);
    one.append("one");
    two.append("two");
    CHECK(one.part() != two.part());
    two.commit();
    CHECK(read_file(path) == "two");
    one.commit();
    CHECK(read_file(path) == "one");
  }
  SECTION("what a killed process left is removed, what another one is at work on is not") {
    const auto left = folder.path() / ".iap-0.part", held = folder.path() / ".iap-1.part", beyond = folder.path() / ".iap-4.part";
    for (const auto& part : {left, held, beyond}) AppendFile(part).append("half");
    AppendFile holder(held);
    REQUIRE(holder.lock() == FileLock::held);
    write_file_atomic(path, "new");
    CHECK(read_file(path) == "new");
    CHECK_FALSE(fs::exists(left));
    CHECK_FALSE(fs::exists(beyond));
    CHECK(read_file(held) == "half");
    CHECK(entries(folder.path()) == 2);
  }
}

TEST_CASE("what is replaced keeps its permissions") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "table.csv";
  write_file_atomic(path, "old");
  for (const auto mode : {fs::perms(0600), fs::perms(0640), fs::perms(0444)}) {
    fs::permissions(path, mode);
    write_file_atomic(path, "new");
    CHECK(fs::status(path).permissions() == mode);
  }
  fs::permissions(path, fs::perms(04755));
  write_file_atomic(path, "new");
  CHECK(fs::status(path).permissions() == fs::perms(0755));  // new content was never allowed to run as the file's owner
}

TEST_CASE("what is replaced keeps its access control list, and one without gets none from its folder") {
  constexpr const char *access = "system.posix_acl_access", *inherited = "system.posix_acl_default";
  constexpr std::uint16_t owner = 1, named_user = 2, owning_group = 4, mask = 16, others = 32, read_write = 6;
  struct Entry {
    std::uint16_t tag, permissions;
    std::uint32_t id;
  };
  const auto set = [](const fs::path& path, const char* name, const std::vector<Entry>& entries) {
    std::string list("\2\0\0\0", 4);
    for (const Entry& entry : entries) list.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    return ::setxattr(path.c_str(), name, list.data(), list.size(), 0) == 0 ? list : "";
  };
  const auto list_of = [](const fs::path& path) {
    std::string list(4096, '\0');
    const auto size = ::getxattr(path.c_str(), access, list.data(), list.size());
    return list.substr(0, size > 0 ? static_cast<std::size_t>(size) : 0);
  };
  constexpr std::uint32_t nobody = 65534, unnamed = 0xffffffff;
  // The group is shut out, though the mode shows the mask, which lets others do more, in its place.
  const std::vector<Entry> entries{{owner, read_write, unnamed},
                                   {named_user, read_write, nobody},
                                   {owning_group, 0, unnamed},
                                   {mask, read_write, unnamed},
                                   {others, 0, unnamed}};
  const TemporaryFolder folder;
  const auto listed = folder.path() / "listed.csv", plain = folder.path() / "plain.csv";
  for (const auto& path : {listed, plain}) write_file_atomic(path, "old");
  const std::string list = set(listed, access, entries);
  if (list.empty()) SKIP("the file system has no access control lists");
  fs::permissions(plain, fs::perms(0660));
  REQUIRE(!set(folder.path(), inherited, entries).empty());
  for (const auto& path : {listed, plain}) write_file_atomic(path, "new");
  CHECK(list_of(listed) == list);
  CHECK(list_of(plain).empty());
  CHECK(fs::status(plain).permissions() == fs::perms(0660));
}

TEST_CASE("a symbolic link stays one, and what it leads to is written") {
  const TemporaryFolder folder;
  const auto inside = folder.path() / "inside", target = inside / "target.csv", link = folder.path() / "link.csv";
  fs::create_directory(inside);
  fs::create_symlink("inside/other.csv", link);
  fs::create_symlink("target.csv", inside / "other.csv");
  for (const std::string content : {"first", "second"}) {
    write_file_atomic(link, content);
    CHECK(fs::is_symlink(link));
    CHECK(fs::is_symlink(inside / "other.csv"));
    CHECK_FALSE(fs::is_symlink(target));
    CHECK(read_file(target) == content);
  }
  CHECK(entries(folder.path()) == 2);
  CHECK(entries(inside) == 2);
}

TEST_CASE("pipes and devices are written into, not replaced") {
  const TemporaryFolder folder;
  SECTION("a pipe, whose reader may come later") {
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::string got;
    std::thread reader([&] { got = read_file(pipe); });
    write_file_atomic(pipe, "rows");
    reader.join();
    CHECK(got == "rows");
    CHECK(fs::is_fifo(pipe));
  }
  SECTION("a pipe goes forward only") {
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::thread reader([&] { read_file(pipe); });
    {
      PartFile file(pipe);
      CHECK_THROWS_MATCHES(file.overwrite(0, "x"), Error, MessageMatches(ContainsSubstring("name a file")));
    }
    reader.join();
  }
  SECTION("a device, by a link") {
    const auto link = folder.path() / "full";
    fs::create_symlink("/dev/full", link);
    CHECK_THROWS_MATCHES(write_file_atomic(link, "rows"), Error, MessageMatches(ContainsSubstring("No space left")));
    CHECK(fs::is_symlink(link));
    CHECK(fs::is_character_file(link));
  }
  SECTION("a file that is open here, as >(...) of a shell names it") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    write_file_atomic("/dev/fd/" + std::to_string(ends[1]), "rows");
    ::close(ends[1]);
    CHECK(read_file("/dev/fd/" + std::to_string(ends[0])) == "rows");
    ::close(ends[0]);
  }
  CHECK(entries(folder.path()) <= 1);
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
  {
    const Limit small(RLIMIT_FSIZE, 10);
    CHECK_THROWS_MATCHES(file.append("2,7.125\n"), Error, MessageMatches(ContainsSubstring("metrics.csv")));
  }
  ::signal(SIGXFSZ, handler);
  CHECK(read_file(path) == "1,2.5\n");
  file.append("2,7.125\n");
  CHECK(read_file(path) == "1,2.5\n2,7.125\n");
}

TEST_CASE("what others do to a file that grows shows, by its path and its length") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv", aside = folder.path() / "aside";
  AppendFile(path).append("iteration\n");
  AppendFile file(path);
  CHECK(file.standing() == FileStanding::kept);
  file.append("1\n");
  AppendFile constructed(std::move(file)), moved(folder.path() / "log.txt");
  constructed.append("2\n");
  CHECK(constructed.standing() == FileStanding::kept);
  moved = std::move(constructed);
  moved.append("3\n");
  CHECK(moved.standing() == FileStanding::kept);
  AppendFile(path).append("4\n");
  CHECK(moved.standing() == FileStanding::changed);
  fs::resize_file(path, 0);
  CHECK(moved.standing() == FileStanding::changed);
  fs::rename(path, aside);
  CHECK(moved.standing() == FileStanding::gone);
  fs::copy_file(aside, path);
  CHECK(moved.standing() == FileStanding::replaced);
  // A link to the file is its name, too.
  fs::remove(path);
  fs::create_symlink(aside, path);
  CHECK(moved.standing() == FileStanding::changed);
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

TEST_CASE("a file that is larger than the memory is refused before it is read") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.csv";
  AppendFile(path).append("x");
  std::error_code refused;
  fs::resize_file(path, std::uintmax_t{1} << 42, refused);
  if (!refused)
    CHECK_THROWS_MATCHES(read_file(path), Error,
                         MessageMatches(ContainsSubstring("reading '" + path.string() + "' needs 4 TiB of memory")));
}

TEST_CASE("a script is replaced by nothing else, a policy by no table; streams have any name") {
  const auto refused = [](const char* name) {
    return MessageMatches(ContainsSubstring("cannot write '" + std::string(name) +
                                            "': a table is neither a script nor a policy; its "
                                            "name must not end in .lua or .iap"));
  };
  for (const char* name : {"train.lua", "folder/TRAIN.LUA", "best.iap"})
    CHECK_THROWS_MATCHES(check_data_name(name, "a table"), Error, refused(name));
  for (const char* name : {"", "lua", ".lua", "train.lua.csv", "rows", "rows.txt", "/dev/stdout", "/dev/fd/7", "/dev/null"})
    CHECK_NOTHROW(check_data_name(name, "a table"));
  CHECK_NOTHROW(check_foreign_ending("best.iap", "a policy is no script", {".lua"}));
  CHECK_THROWS_MATCHES(
      check_foreign_ending("best.Lua", "a policy is no script", {".lua"}), Error,
      MessageMatches(ContainsSubstring("cannot write 'best.Lua': a policy is no script; its name must not end in .lua")));
  CHECK_THROWS_AS(check_ending("strip", "a strip is a picture", {".png"}), Error);
  CHECK_NOTHROW(check_ending("strip.PNG", "a strip is a picture", {".png"}));
}

TEST_CASE("what cannot be there is missing; what the system does not tell is an error") {
  const TemporaryFolder place;
  const fs::path& folder = place.path();
  write_file_atomic(folder / "file", "");
  fs::create_symlink("file", folder / "link");
  fs::create_symlink("nowhere", folder / "dangling");
  fs::create_symlink("circle", folder / "circle");
  for (const char* name : {".", "file", "link"}) CHECK(is_there(folder / name));
  for (const std::string& name : {std::string("nothing"), std::string("nothing/below"), std::string("file/below"),
                                  std::string("dangling"), std::string("circle"), std::string(300, 'n')}) {
    INFO(name);
    CHECK_FALSE(is_there(folder / name));
    CHECK(is_link(folder / name) == (name == "dangling" || name == "circle"));
    CHECK_FALSE(is_private(folder / name));
  }
  CHECK(is_link(folder / "link"));
  CHECK_FALSE(is_link(folder / "file"));
  if (::geteuid() == 0) return;  // from whom nothing is kept
  fs::create_directory(folder / "closed");
  write_file_atomic(folder / "closed" / "file", "");
  fs::permissions(folder / "closed", fs::perms::none);
  const auto hidden = folder / "closed" / "file";
  CHECK(is_private(hidden));
  const auto refused = MessageMatches(ContainsSubstring("cannot look at '" + hidden.string() + "': Permission denied"));
  CHECK_THROWS_MATCHES(is_there(hidden), Error, refused);
  CHECK_THROWS_MATCHES(is_link(hidden), Error, refused);
  fs::permissions(folder / "closed", fs::perms::owner_all);
}
