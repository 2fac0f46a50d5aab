// How long words are. Include <algorithm>, <cstddef> and <string_view> first.
#pragma once

namespace iap {

/// The characters of a text in UTF-8.
inline std::size_t letters(std::string_view words) {
  return static_cast<std::size_t>(
      std::ranges::count_if(words, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

}  // namespace iap
