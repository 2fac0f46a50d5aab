#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "temporary_folder.hpp"
import iap.core;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// Another limit of address space, as long as it lives.
class [[maybe_unused]] AddressSpace {
 public:
  explicit AddressSpace(rlim_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~AddressSpace() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("half of what the process may use is what one object out of a file may take") {
  CHECK(usable_memory() > 1e8);
  CHECK(memory_share() == usable_memory() / 2);
  CHECK_NOTHROW(check_memory("a thing", 1e6));
  CHECK_THROWS_MATCHES(check_memory("a thing", 1e18), Error,
                       MessageMatches(ContainsSubstring("a thing needs 888 PiB of memory, more than half of the ")));
  CHECK_THROWS_AS(check_memory("a thing", 0.0 / 0.0), Error);
}

TEST_CASE("a growing list doubles, and is refused before it takes more than its share") {
  std::vector<float> list{1};
  list.shrink_to_fit();
  reserve_growing(list, 9, "a list");
  CHECK(list.capacity() == 10);
  list.resize(10);
  reserve_growing(list, 1, "a list");
  CHECK(list.capacity() == 20);
  CHECK_THROWS_MATCHES(reserve_growing(list, 11, "a list", memory_share() / 20), Error,
                       MessageMatches(ContainsSubstring("a list needs ")));
  CHECK(list.capacity() == 20);
  CHECK_NOTHROW(reserve_growing(list, 10, "a list", memory_share()));
}

#if !defined(__has_feature) || !__has_feature(address_sanitizer)  // whose runtime needs more addresses at any time
TEST_CASE("a limit of addresses is one of memory") {
  const double before = usable_memory();
  double limited = 0;
  {
    // Less than the process has already: nothing may be allocated here.
    const AddressSpace small(rlim_t{64} << 20);
    limited = usable_memory();
  }
  CHECK(limited == 64 << 20);
  CHECK(usable_memory() == before);
}
#endif

TEST_CASE("files are looked at before they are read") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "sparse";
  std::ofstream(path).put('x');
  CHECK_NOTHROW(check_file(path));
  CHECK_NOTHROW(check_file(folder.path() / "nothing"));
  CHECK_THROWS_MATCHES(check_file(path, 0), Error, MessageMatches(ContainsSubstring("it has 1 bytes, at most 0 bytes are taken")));
  std::error_code refused;
  std::filesystem::resize_file(path, std::uintmax_t{1} << 42, refused);
  if (!refused) CHECK_THROWS_MATCHES(check_file(path), Error, MessageMatches(ContainsSubstring("needs 4 TiB of memory")));
  CHECK_THROWS_MATCHES(check_file("/dev/zero"), Error,
                       MessageMatches(ContainsSubstring("cannot read '/dev/zero': it is no regular file")));
}

TEST_CASE("a text that the kernel makes while it is read is no file, what is empty is one") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "empty").flush();
  CHECK_NOTHROW(check_file(folder.path() / "empty"));
  CHECK_THROWS_MATCHES(check_file("/proc/self/status"), Error,
                       MessageMatches(ContainsSubstring(
                           "cannot read '/proc/self/status': the kernel makes it while it is read, which may never end")));
  // What the kernel only names there is what it is.
  const int open = ::open((folder.path() / "empty").c_str(), O_RDONLY | O_CLOEXEC);
  CHECK_NOTHROW(check_file("/proc/self/fd/" + std::to_string(open)));
  ::close(open);
}

TEST_CASE("a text is cut between characters") {
  const std::string words = "a\u00e4\u8d70\U0001F600";
  std::vector<std::size_t> lengths;
  for (std::size_t most = 0; most <= words.size() + 1; ++most) lengths.push_back(whole_characters(words, most));
  CHECK(lengths == std::vector<std::size_t>{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10});
}

TEST_CASE("more memory is not used than a process was told to") {
  const double all = usable_memory();
  limit_usable_memory(1e9);
  CHECK(memory_share() == 5e8);
  CHECK_THROWS_WITH(check_memory("it", 6e8), ContainsSubstring("it needs 572 MiB of memory, more than half of the 954 MiB"));
  limit_usable_memory(std::numeric_limits<double>::infinity());
  CHECK(usable_memory() == all);
}

TEST_CASE("what a terminal would obey is shown as a question mark") {
  CHECK(printable("plain\ttext\n") == "plain\ttext\n");
  CHECK(printable("grün 走 \U0001F600") == "grün 走 \U0001F600");
  CHECK(printable("\x1b[31mred\x07\r\b\x7f") == "?[31mred????");
  CHECK(printable(std::string_view("a\0b", 3)) == "a?b");
  CHECK(printable("\xc2\x9b"
                  "31m") == "?31m");  // CSI of eight bits, as UTF-8
  CHECK(printable("\x9b"
                  "31m \xff \xc3") == "?31m ? ?");                              // no UTF-8
  CHECK(printable("\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80") == "?? ??? ????");  // overlong, surrogate, too large
  // Overlong in three and in four bytes; the first of each would be an escape.
  CHECK(printable("\xe0\x80\x9b[31m \xe0\x9f\xbf \xf0\x80\x80\x9b \xf0\x8f\xbf\xbf") == "???[31m ??? ???? ????");
  CHECK(printable("\u202a\u202d\u202e\u2066\u2067\u2068\u2069\u206a") == "???????\u206a");
  CHECK(printable("a\u202eb\u2066c\u200fd\u2028e") == "a?b?c?d?e");  // directions and lines
  CHECK(memory_text(0) == "0 bytes");
  CHECK(memory_text(1023) == "1023 bytes");
  CHECK(memory_text(1536) == "1.5 KiB");
  CHECK(memory_text(256.0 * (1 << 20)) == "256 MiB");
}
