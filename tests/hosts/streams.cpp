// A host in C++ whose streams write 1.234,5: whatever the library reads and writes is what it is without.
#include <locale>
#include <sstream>
#include <string>

#include "host.h"

namespace {

struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

void write_comma() { std::locale::global(std::locale(std::locale::classic(), new Comma)); }

void compare() {
  std::ostringstream stream;
  stream << 1234.5;
  expect(stream.str() == "1.234,5", "the host's streams write %s", stream.str().c_str());
}

}  // namespace

int main() {
  findings plain, found;
  expect(use_in_child({}, 1, &plain) == 0, "a use with the streams of everybody");
  for (const int threads : {1, 3}) {
    expect(use_in_child({write_comma, nullptr, compare}, threads, &found) == 0, "a use with comma streams, %d threads", threads);
    const char* other = difference(&plain, &found);
    expect(!other, "%d threads: other bits, first in '%s'", threads, other);
  }
}
