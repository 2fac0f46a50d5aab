module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
module iap.core;

namespace iap {
namespace {

/// One character of UTF-8: what it is and how many bytes it takes; no bytes where it is none.
struct Character {
  std::uint32_t point = 0;
  std::size_t bytes = 0;
};

Character first_character(std::string_view part) {
  const auto lead = static_cast<unsigned char>(part[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xC2 && lead < 0xE0 ? 2 : (lead & 0xF0) == 0xE0 ? 3 : lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
  if (bytes == 0 || part.size() < bytes) return {};
  std::uint32_t point = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(part[i]);
    if ((next & 0xC0) != 0x80) return {};
    point = point << 6 | (next & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  return point < least[bytes] || surrogate || point > 0x10FFFF ? Character{} : Character{point, bytes};
}

/// Unicode's C0 and C1 but for line feed and tab, separators of lines, and what embeds, overrides or isolates a direction.
bool steers(std::uint32_t point) {
  const bool control = (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7F && point < 0xA0);
  const bool direction = point == 0x061C || (point >= 0x200E && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
                         (point >= 0x2066 && point <= 0x2069);
  return control || direction;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_character(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string printable(std::string_view part) {
  std::string shown;
  shown.reserve(part.size());
  while (!part.empty()) {
    const auto [point, bytes] = first_character(part);
    if (bytes == 0 || steers(point))
      shown += '?';
    else
      shown += part.substr(0, bytes);
    part.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return shown;
}

std::string one_line(std::string_view part) {
  std::string line = printable(part);
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return std::string(word);
  std::string inside;
  const bool shown = one_line(word) == word;
  if (!shown) {
    // What a terminal cannot show is told in octal digits, which all but the plainest shells read.
    for (const char c : word) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '\'' || c == '\\')
        inside += text("\\", c);
      else if (byte >= ' ' && byte < 127)
        inside += c;
      else
        inside += text("\\", byte / 64, byte / 8 % 8, byte % 8);
    }
    return "$'" + inside + "'";
  }
  for (const char c : word) inside += c == '\'' ? "'\\''" : std::string(1, c);
  return "'" + inside + "'";
}

std::size_t whole_characters(std::string_view part, std::size_t most) {
  std::size_t length = std::min(part.size(), most);
  const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(part[at]) & 0xC0) == 0x80; };
  while (length > 0 && length < part.size() && continues(length)) --length;
  return length;
}

std::string memory_text(double bytes) {
  constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double step = 1024, many = 100;
  std::size_t unit = 0;
  while (bytes >= step && unit + 1 < units.size()) {
    bytes /= step;
    ++unit;
  }
  const double digits = unit > 0 && bytes < many ? 10 : 1;
  return text(std::round(bytes * digits) / digits, " ", units[unit]);
}

}  // namespace iap
