module;
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
module iap.script;
import iap.core;

namespace iap {

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
