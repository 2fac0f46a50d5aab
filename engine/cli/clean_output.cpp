#include "cli/clean_output.hpp"

#include <cstddef>
#include <string>
#include <string_view>
import iap.core;

namespace iap::cli {

CleanOutput::CleanOutput(std::ostream& stream) : stream_(stream), target_(stream.rdbuf(this)) {}

CleanOutput::~CleanOutput() { stream_.rdbuf(target_); }

CleanOutput::int_type CleanOutput::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  const char one = traits_type::to_char_type(character);
  return xsputn(&one, 1) == 1 ? character : traits_type::eof();
}

std::streamsize CleanOutput::xsputn(const char* characters, std::streamsize count) {
  const std::string shown = printable({characters, static_cast<std::size_t>(count)});
  const auto size = static_cast<std::streamsize>(shown.size());
  return target_->sputn(shown.data(), size) == size ? count : 0;
}

int CleanOutput::sync() { return target_->pubsync(); }

}  // namespace iap::cli
