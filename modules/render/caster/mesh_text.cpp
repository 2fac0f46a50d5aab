module;
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>
module iap.render;

namespace iap {
namespace {

/// Whether a number beyond the range of floats is too small for them rather than too large: its first digit that is not 0 tells, by
/// its distance from the point and the exponent.
bool is_tiny(std::string_view number) {
  const std::string_view mantissa = number.substr(0, number.find_first_of("eE"));
  const std::size_t first = mantissa.find_first_of("123456789"), point = std::min(mantissa.find('.'), mantissa.size());
  if (first == mantissa.npos) return true;
  std::int64_t exponent = 0;
  if (mantissa.size() < number.size()) {
    std::string_view digits = number.substr(mantissa.size() + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const bool fits = std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec == std::errc{};
    if (!fits) return digits.starts_with('-');
  }
  // No text is as long.
  constexpr std::int64_t farthest = std::int64_t{1} << 60;
  return static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) + std::clamp(exponent, -farthest, farthest) < 0;
}

}  // namespace

std::string_view next_word(std::string_view& rest, std::string_view blanks) {
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
  rest.remove_prefix(word.size());
  return word;
}

namespace {

template <typename Number>
Coordinates read(std::string_view line, std::span<Number> values) {
  Coordinates found;
  while (found.count < values.size()) {
    const std::string_view word = next_word(line);
    if (word.empty()) break;
    const std::string_view number = word.starts_with('+') && !word.starts_with("+-") ? word.substr(1) : word;
    const char* const end = number.data() + number.size();
    Number value = 0;
    const auto [stop, problem] = std::from_chars(number.data(), end, value);
    const bool tiny = problem == std::errc::result_out_of_range && is_tiny(number);
    if (stop != end || (problem != std::errc{} && !tiny) || !std::isfinite(value)) {
      found.wrong = word;
      break;
    }
    values[found.count++] = tiny ? 0 : value;
  }
  return found;
}

}  // namespace

Coordinates read_coordinates(std::string_view line, std::span<double> values) { return read(line, values); }
Coordinates read_coordinates(std::string_view line, std::span<float> values) { return read(line, values); }

}  // namespace iap
