#pragma once
#include <string>
#include <string_view>

/// What stands in a page as the address of itself.
inline std::string decode_base64(std::string_view code) {
  std::string bytes;
  unsigned group = 0, bits = 0;
  for (const char c : code) {
    if (c == '=') break;
    const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    group = group << 6 | static_cast<unsigned>(std::string_view(digits).find(c));
    if ((bits += 6) >= 8) bytes += static_cast<char>(group >> (bits -= 8) & 255);
  }
  return bytes;
}
