#pragma once
#include <clocale>
#include <locale>
#include <string>

/// While it lives, this process writes and reads numbers as a host in Germany might: 1.234,5. C++ streams always do; what follows
/// the C library's locale does where the system has such a one.
class CommaLocale {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };

 public:
  CommaLocale()
      : streams_(std::locale::global(std::locale(std::locale::classic(), new Comma))), c_(std::setlocale(LC_NUMERIC, nullptr)) {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"})
      if (std::setlocale(LC_NUMERIC, name)) break;
  }
  ~CommaLocale() {
    std::locale::global(streams_);
    std::setlocale(LC_NUMERIC, c_.c_str());
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

 private:
  std::locale streams_;
  std::string c_;
};
