module;
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
module iap.core;

namespace iap {

void append_text(std::string& to, std::string_view part) { to += part; }

void append_text(std::string& to, char part) { to += part; }

void append_text(std::string& to, double part) { fmt::vformat_to(std::back_inserter(to), "{:.6g}", fmt::make_format_args(part)); }

void append_text(std::string& to, std::int64_t part) { to += fmt::format_int(part).c_str(); }

void append_text(std::string& to, std::uint64_t part) { to += fmt::format_int(part).c_str(); }

std::string fixed_text(double value, int digits) { return fmt::vformat("{:.{}f}", fmt::make_format_args(value, digits)); }

std::string general_text(double value, int digits) { return fmt::vformat("{:.{}g}", fmt::make_format_args(value, digits)); }

std::string zero_padded(std::int64_t value, int digits) { return fmt::vformat("{:0{}}", fmt::make_format_args(value, digits)); }

std::string left_text(std::string_view part, int width) { return fmt::vformat("{:<{}}", fmt::make_format_args(part, width)); }

std::string right_text(std::string_view part, int width) { return fmt::vformat("{:>{}}", fmt::make_format_args(part, width)); }

std::string hex_text(double value) {
  if (!std::isfinite(value)) return text(value);
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), std::abs(value), std::chars_format::hex).ptr;
  return (std::signbit(value) ? "-0x" : "0x") + std::string(digits.data(), end);
}

}  // namespace iap
