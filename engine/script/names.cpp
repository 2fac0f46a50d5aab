module;
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
module iap.script;
import iap.core;

namespace iap {

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string inside;
  const bool shown = is_utf8(word) && printable(word) == word && word.find_first_of("\n\t") == std::string::npos;
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

void append_plain(std::string& name, std::string_view value) {
  for (const char c : value) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '=';
    if (plain || (name.back() != '_' && name.back() != '=')) name += plain ? c : '_';
  }
  while (name.back() == '_') name.pop_back();
}

std::string shortened_name(const std::string& name) {
  // File systems take names of 255 bytes; what is cut off is told apart by its hash (FNV-1a).
  constexpr std::size_t longest = 160;
  if (name.size() <= longest) return name;
  std::uint32_t hash = 2166136261U;
  for (const unsigned char c : name) hash = (hash ^ c) * 16777619U;
  return text(name.substr(0, longest), "-", hash);
}

}  // namespace iap
