module;
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
module iap.sim;
import iap.core;
#include "packed_file.hpp"

namespace iap {
namespace {

/// Whether JSON may hold it as it is.
bool is_text(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xC2 && lead < 0xE0 ? 1
                             : (lead & 0xF0) == 0xE0       ? 2
                             : lead >= 0xF0 && lead < 0xF5 ? 3
                                                           : 9;
    if (lead == 0 || more == 9 || i + more >= bytes.size()) return false;
    std::uint32_t point = more == 0 ? lead : lead & (0x3FU >> more);
    for (std::size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(bytes[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      point = point << 6 | (next & 0x3FU);
    }
    if ((more == 2 && (point < 0x800 || (point >= 0xD800 && point < 0xE000))) ||
        (more == 3 && (point < 0x10000 || point > 0x10FFFF)))
      return false;
    i += more + 1;
  }
  return true;
}

}  // namespace

Config packed_file(std::string_view content) {
  if (is_text(content)) return std::string(content);
  return Config::Map{{"base64", to_base64(content)}};
}

std::optional<std::string> unpacked_file(const Config& packed) {
  if (const auto* content = packed.string()) return *content;
  const Config* coded = packed.find("base64");
  return coded && coded->string() ? from_base64(*coded->string()) : std::nullopt;
}

}  // namespace iap
