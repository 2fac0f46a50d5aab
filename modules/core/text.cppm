module;
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
/// Numbers as text: as the C locale prints them, whatever locale a host has set.
export module iap.core:text;

export namespace iap {

/// Appends `part`; numbers with up to six significant digits (printf's %g).
void append_text(std::string& to, std::string_view part);
void append_text(std::string& to, char part);
void append_text(std::string& to, double part);
void append_text(std::string& to, std::int64_t part);
void append_text(std::string& to, std::uint64_t part);

/// Concatenates its arguments: strings, characters, numbers (see `append_text`), true and false as 1 and 0. The usual way to build
/// an Error's message.
template <typename... Parts>
std::string text(const Parts&... parts) {
  std::string joined;
  const auto append = [&joined]<typename Part>(const Part& part) {
    if constexpr (std::is_convertible_v<const Part&, std::string_view>)
      append_text(joined, std::string_view(part));
    else if constexpr (std::same_as<Part, char>)
      append_text(joined, part);
    else if constexpr (std::floating_point<Part>)
      append_text(joined, static_cast<double>(part));
    else if constexpr (std::signed_integral<Part>)
      append_text(joined, static_cast<std::int64_t>(part));
    else {
      static_assert(std::unsigned_integral<Part>, "text takes strings, characters and numbers");
      append_text(joined, static_cast<std::uint64_t>(part));
    }
  };
  (append(parts), ...);
  return joined;
}

/// printf's %.{digits}f: so many digits behind the point.
std::string fixed_text(double value, int digits);
/// printf's %.{digits}g: so many significant digits; 17 of them keep every bit.
std::string general_text(double value, int digits);
/// printf's %0{digits}d: at least so many characters, the sign among them.
std::string zero_padded(std::int64_t value, int digits);
/// `part` with spaces behind or before it, for a column of `width` characters; whole where it is longer.
std::string left_text(std::string_view part, int width);
std::string right_text(std::string_view part, int width);
/// printf's %a: the bits themselves, such as 0x1.8p+1.
std::string hex_text(double value);
/// `part` as a terminal may show it, whoever wrote it: what would steer the terminal or turn the direction of writing (control
/// characters but line feeds and tabs, marks of direction), and what is no UTF-8, becomes '?'.
std::string printable(std::string_view part);
/// `printable(part)` in one line, with spaces for line feeds and tabs: no line of a text out of a file can pass for one of ours.
std::string one_line(std::string_view part);
/// `word` as a shell's command line takes it, in quotes where it needs them; in one line of plain text whatever is in it.
std::string shell_word(std::string_view word);
/// How many of the first `most` bytes of `part`, which is UTF-8, hold whole characters.
std::size_t whole_characters(std::string_view part, std::size_t most);
/// "512 bytes", "1.5 GiB": a number of bytes with two or three digits.
std::string memory_text(double bytes);

}  // namespace iap
