module;
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
module iap.core;

namespace iap {
namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string coded;
  coded.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = i; k < i + 3; ++k) group = group << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) coded += k <= bytes.size() - i ? letters[group >> (18 - 6 * k) & 63] : '=';
  }
  return coded;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    unsigned group = 0;
    for (std::size_t k = i; k < i + 4; ++k) {
      const auto value = k < text.size() - padding ? letters.find(text[k]) : 0;
      if (value == std::string_view::npos) return {};
      group = group << 6 | static_cast<unsigned>(value);
    }
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(group >> shift & 255);
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace iap
