#pragma once
#include <ostream>
#include <streambuf>

namespace iap::cli {

/// What the program prints holds names and messages out of files that anybody may have written: as long as this lives, `stream`
/// writes them as `printable` does.
class CleanOutput final : public std::streambuf {
 public:
  explicit CleanOutput(std::ostream& stream);
  ~CleanOutput() override;
  CleanOutput(const CleanOutput&) = delete;
  CleanOutput& operator=(const CleanOutput&) = delete;

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* characters, std::streamsize count) override;
  int sync() override;

 private:
  std::ostream& stream_;
  std::streambuf* target_;
};

}  // namespace iap::cli
